import Changesets
import Documents
import JSON
import Permissions
import Schemas

/// The stored form: `-` or `+`, and the names in bytewise order, each behind its length and a colon.
extension VisibleFields {
    var stored: [UInt8] {
        let (sign, names): (String, Set<Text>) =
            switch self {
            case .allExcept(let hidden): ("-", hidden)
            case .only(let visible): ("+", visible)
            }
        return names.sorted().reduce(Array(sign.utf8)) { bytes, name in
            bytes + Array("\(name.bytes.count):".utf8) + name.bytes
        }
    }

    /// Nil unless it is such a form.
    init?(stored: [UInt8]) {
        var names: Set<Text> = []
        var rest = stored.dropFirst()
        while !rest.isEmpty {
            guard let colon = rest.firstIndex(of: UInt8(ascii: ":")),
                let count = Int(String(decoding: rest[..<colon], as: UTF8.self)),
                count >= 0, count < rest.endIndex - colon
            else { return nil }
            names.insert(Text(bytes: Array(rest[(colon + 1)...].prefix(count))))
            rest = rest[(colon + 1)...].dropFirst(count)
        }
        switch stored.first {
        case UInt8(ascii: "-"): self = .allExcept(names)
        case UInt8(ascii: "+"): self = .only(names)
        default: return nil
        }
    }
}

extension Document {
    /// The same with the defaults of the fields that are not visible.
    func masked(_ fields: VisibleFields, of owner: ClassSchema) -> Document {
        guard fields != .all else { return self }
        var masked = self
        for (position, property) in owner.properties.enumerated()
        where position < masked.values.count && !fields.contains(property.name) {
            masked.values[position] = property.defaultValue
        }
        return masked
    }
}
