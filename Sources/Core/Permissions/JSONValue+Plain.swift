import Changesets
import FoundationEssentials
package import JSON

extension JSONValue {
    /// The value without the type tags of Extended JSON: numbers as numbers, ids as their text.
    ///
    /// Dates, decimals and binary data keep their form; rules have no values for them.
    package var plain: JSONValue {
        switch self {
        case .null, .bool, .integer, .number, .string: self
        case .array(let elements): .array(elements.map(\.plain))
        case .object(let members): members.untagged ?? .object(members.mapValues(\.plain))
        }
    }
}

extension [String: JSONValue] {
    /// Nil unless this is one value with its tag.
    fileprivate var untagged: JSONValue? {
        guard count == 1, let (tag, value) = first else { return nil }
        switch (tag, value) {
        case ("$oid", .string(let text)): return ObjectID(text).map { .string("\($0)") }
        case ("$numberInt", .string(let text)), ("$numberLong", .string(let text)):
            return Int64(text).map { .integer($0) }
        case ("$numberDouble", .string(let text)):
            guard let number = Double(text), number.isFinite else { return nil }
            return .number(number)
        case ("$uuid", .string(let text)): return UniqueID(text).map { .string("\($0)") }
        case ("$binary", .object(let binary)): return binary.uuid
        default: return nil
        }
    }

    /// Of binary data of subtype 4.
    private var uuid: JSONValue? {
        guard case .string("04")? = self["subType"], case .string(let text)? = self["base64"],
            let data = Data(base64Encoded: text), let uuid = UniqueID(bytes: data)
        else { return nil }
        return .string("\(uuid)")
    }
}
