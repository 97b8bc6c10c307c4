package import Changesets

/// A JSON value without a schema, with its numbers as spelled.
package indirect enum JSONNode: Hashable, Sendable {
    case null
    case bool(Bool)
    case number(String)
    case string(Text)
    case array([JSONNode])
    /// Of equal names the last one counts.
    case object([Text: JSONNode])
}

extension JSONNode {
    /// Parses a text that is a single JSON value.
    package init(parsing json: [UInt8]) throws(FormError) {
        self = try JSONReader.read(json) { (reader) throws(FormError) in try reader.readNode() }
    }

    package subscript(name: Text) -> JSONNode? {
        guard case .object(let members) = self else { return nil }
        return members[name]
    }

    /// The string, if this is one and valid UTF-8, as all parsed strings are.
    package var string: String? {
        guard case .string(let text) = self else { return nil }
        return text.string
    }

    package var bool: Bool? {
        guard case .bool(let value) = self else { return nil }
        return value
    }

    package var integer: Int64? {
        guard case .number(let text) = self else { return nil }
        return Int64(text)
    }

    package var elements: [JSONNode]? {
        guard case .array(let elements) = self else { return nil }
        return elements
    }

    package var members: [Text: JSONNode]? {
        guard case .object(let members) = self else { return nil }
        return members
    }
}

extension JSONReader {
    mutating func readNode() throws(FormError) -> JSONNode {
        switch try peek() {
        case .null:
            try readNull()
            return .null
        case .bool:
            return .bool(try readBool())
        case .number:
            return .number(try readNumber().text)
        case .string:
            return .string(Text(bytes: try readString()))
        case .array:
            var elements: [JSONNode] = []
            try readArray { (reader, _) throws(FormError) in
                elements.append(try reader.readNode())
            }
            return .array(elements)
        case .object:
            var members: [Text: JSONNode] = [:]
            try readObject { (reader, name) throws(FormError) in
                members[name] = try reader.readNode()
            }
            return .object(members)
        }
    }
}
