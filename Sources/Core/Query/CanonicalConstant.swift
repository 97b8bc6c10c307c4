import Changesets

/// Constants in canonical text.
enum CanonicalConstant {
    /// The context of a constant, which decides its digits and the spelling of null.
    enum Place {
        /// A property of its type: as many digits as the type has.
        case column
        /// A property of type Mixed: six digits, and `null`.
        case mixed
        /// An operand of a comparison that is not plain.
        case expression
        /// Inside braces, or the result of arithmetic: six digits.
        case list
    }

    static func list(_ values: [QueryValue], _ place: Place) -> String {
        let texts = values.map { String(decoding: bytes($0, place), as: UTF8.self) }
        return "{" + texts.joined(separator: ", ") + "}"
    }

    static func bytes(_ value: QueryValue, _ place: Place) -> [UInt8] {
        switch value {
        case .string(let bytes): return string(bytes)
        case .binary(let bytes):
            return Array("binary(".utf8) + string(bytes) + [UInt8(ascii: ")")]
        case .link(let reference): return link(reference)
        default: return Array(text(value, place).utf8)
        }
    }

    private static func text(_ value: QueryValue, _ place: Place) -> String {
        switch value {
        case .null: place == .mixed ? "null" : "NULL"
        case .bool(let value): value ? "true" : "false"
        case .int(let value): String(value)
        case .float(let value):
            FloatingText.print(Double(value), precision: place.hasAllDigits ? 9 : 6)
        case .double(let value):
            FloatingText.print(value, precision: place.hasAllDigits ? 17 : 6)
        case .decimal(let value): value.text
        case .date(let value): value.text
        case .objectID(let value): "oid(\(value))"
        case .uuid(let value): "uuid(\(value))"
        case .kinds(let kinds): "\"\(kinds.canonicalName)\""
        case .nested(let isList, _): isList ? "\"array\"" : "\"object\""
        case .string, .binary, .link:
            preconditionFailure("these are written as bytes")
        }
    }

    private static func link(_ reference: ObjectReference) -> [UInt8] {
        let prefix = Array("class_".utf8)
        return Array("obj(".utf8) + string(prefix + reference.className.bytes)
            + [UInt8(ascii: ",")] + bytes(QueryValue(reference.key), .column)
            + [UInt8(ascii: ")")]
    }

    /// Quoted if no character needs an escape, else in base64.
    static func string(_ bytes: [UInt8]) -> [UInt8] {
        let quote = UInt8(ascii: "\"")
        if isPlain(bytes) { return [quote] + bytes + [quote] }
        return Array("B64\"".utf8) + Base64.encode(bytes) + [quote]
    }

    private static func isPlain(_ bytes: [UInt8]) -> Bool {
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            let length: Int
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "\\"), 0..<0x20, 0x7f:
                return false
            case 0x20..<0x80: length = 1
            case 0xc0...0xdf: length = 2
            case 0xe0...0xef: length = 3
            case 0xf0...0xf7: length = 4
            default: return false
            }
            guard bytes.count - index >= length,
                bytes[index..<index + length].dropFirst().allSatisfy({ $0 >= 0x80 })
            else { return false }
            index += length
        }
        return true
    }
}

extension CanonicalConstant.Place {
    var hasAllDigits: Bool { self == .column || self == .expression }
}
