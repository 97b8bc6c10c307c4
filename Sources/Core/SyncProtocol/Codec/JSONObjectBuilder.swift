import FoundationEssentials
import JSON

/// Builds one JSON object with its members in order of writing, as in the protocol's examples;
/// `JSONEncoder` would choose its own.
struct JSONObjectBuilder {
    private var text = "{"

    var bytes: [UInt8] { Array(text.utf8) + [UInt8(ascii: "}")] }

    mutating func write(_ name: String, _ value: String) {
        begin(name)
        text += JSONString.quoted(value)
    }

    mutating func write(_ name: String, _ value: Bool) {
        begin(name)
        text += value ? "true" : "false"
    }

    mutating func write(_ name: String, _ value: some BinaryInteger) {
        begin(name)
        text += String(value)
    }

    mutating func write(_ name: String, _ objects: [JSONObjectBuilder]) {
        begin(name)
        text += "[" + objects.map { $0.text + "}" }.joined(separator: ",") + "]"
    }

    private mutating func begin(_ name: String) {
        if text.utf8.count > 1 { text += "," }
        text += JSONString.quoted(name) + ":"
    }

    static func decode<Value: Decodable>(
        _ type: Value.Type,
        from body: [UInt8],
        at offset: Int
    ) throws(WireError) -> Value {
        do {
            return try JSONDecoder().decode(type, from: Data(body))
        } catch {
            throw WireError(at: offset, .json(reason(error)))
        }
    }

    private static func reason(_ error: any Error) -> String {
        switch error {
        case DecodingError.keyNotFound(let key, _): "no member \"\(key.stringValue)\""
        case DecodingError.typeMismatch(_, let context),
            DecodingError.valueNotFound(_, let context):
            "wrong type of \"\(context.codingPath.map(\.stringValue).joined(separator: "."))\""
        default: "not readable"
        }
    }
}
