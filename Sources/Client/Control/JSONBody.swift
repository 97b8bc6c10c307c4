import FoundationEssentials

/// JSON of the control API: snake case, sorted, absent rather than null.
enum JSONBody {
    static func encode(_ value: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.keyEncodingStrategy = .convertToSnakeCase
        return Array(try encoder.encode(value))
    }

    static func decode<Value: Decodable>(_ type: Value.Type, from body: [UInt8]) throws -> Value {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try decoder.decode(type, from: Data(body))
    }
}

extension Encodable {
    /// The value as one line of JSON in the form of the control API.
    package func controlJSON() throws -> String {
        String(decoding: try JSONBody.encode(self), as: UTF8.self)
    }
}
