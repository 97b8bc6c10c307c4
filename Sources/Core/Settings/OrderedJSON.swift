import JSON

/// JSON whose members keep their order, printed for people.
package indirect enum OrderedJSON {
    case string(String)
    case number(String)
    case bool(Bool)
    case array([OrderedJSON])
    case object([(String, OrderedJSON)])

    static func strings(_ texts: [String]) -> OrderedJSON { .array(texts.map(OrderedJSON.string)) }

    package func text(indentation: String = "") -> String {
        let inner = indentation + "  "
        switch self {
        case .string(let text): return Self.quoted(text)
        case .number(let text): return text
        case .bool(let value): return value ? "true" : "false"
        case .array(let elements) where elements.allSatisfy(\.isScalar):
            return "[" + elements.map { $0.text() }.joined(separator: ", ") + "]"
        case .array(let elements):
            let lines = elements.map { inner + $0.text(indentation: inner) }
            return "[\n" + lines.joined(separator: ",\n") + "\n\(indentation)]"
        case .object(let members) where members.isEmpty: return "{}"
        case .object(let members):
            let lines = members.map { name, value in
                "\(inner)\(Self.quoted(name)): \(value.text(indentation: inner))"
            }
            return "{\n" + lines.joined(separator: ",\n") + "\n\(indentation)}"
        }
    }

    private var isScalar: Bool {
        switch self {
        case .string, .number, .bool: true
        case .array, .object: false
        }
    }

    private static func quoted(_ text: String) -> String {
        JSONString.quoted(text, .numeric)
    }
}
