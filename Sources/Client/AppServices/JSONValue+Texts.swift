import FoundationEssentials
import JSON

extension JSONValue {
    /// With numbers in the canonical form of Extended JSON (app services, 2.2).
    var canonical: JSONValue {
        switch self {
        case .null, .bool, .string: self
        case .integer(let value):
            .object([
                Int32(exactly: value) == nil ? "$numberLong" : "$numberInt": .string("\(value)")
            ])
        case .number(let value): .object(["$numberDouble": .string("\(value)")])
        case .array(let values): .array(values.map(\.canonical))
        case .object(let members): .object(members.mapValues(\.canonical))
        }
    }

    /// The value as text, members in the order of their names.
    var text: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "null"
    }
}
