import Changesets

/// Writes expressions of one dialect, and collects their parameters.
struct SQLText {
    let dialect: SQLDialect
    private let document: String
    private let firstParameter: Int
    private(set) var parameters: [SQLParameter] = []

    init(_ dialect: SQLDialect, document: String, firstParameter: Int) {
        self.dialect = dialect
        self.document = document
        self.firstParameter = firstParameter
    }

    // MARK: Parameters

    mutating func bind(_ text: String) -> String {
        placeholder(.text(text)) + (dialect == .sqlite ? "" : "::text")
    }

    mutating func bind(_ number: Int64) -> String {
        placeholder(.integer(number)) + (dialect == .sqlite ? "" : "::int8")
    }

    /// A JSON text as jsonb.
    mutating func bind(json: String) -> String { placeholder(.text(json)) + "::jsonb" }

    private mutating func placeholder(_ parameter: SQLParameter) -> String {
        parameters.append(parameter)
        let number = firstParameter + parameters.count - 1
        return (dialect == .sqlite ? "?" : "$") + String(number)
    }

    /// Forgets the parameters of a text that is not used: PostgreSQL refuses those without a use.
    mutating func forgetParameters(after count: Int) {
        parameters.removeLast(parameters.count - count)
    }

    // MARK: Properties

    /// A member of the document; nil if its name cannot be part of a path of SQLite.
    mutating func member(_ name: Text) -> SQLOperand? {
        guard let text = name.string, !text.utf8.contains(0) else { return nil }
        switch dialect {
        case .sqlite:
            guard let path = path(text) else { return nil }
            return SQLOperand(
                value: "(\(document) ->> \(path))",
                json: "(\(document) -> \(path))",
                type: "json_type(\(document), \(path))",
                isElement: false
            )
        case .postgreSQL:
            let key = Self.isPlain(text) ? "'\(text)'" : bind(text)
            let json = "(\(document) -> \(key))"
            return SQLOperand(
                value: "(\(document) ->> \(key))",
                json: json,
                type: "jsonb_typeof(\(json))",
                isElement: false
            )
        }
    }

    /// An element, behind `elements(of:)`.
    var element: SQLOperand {
        switch dialect {
        case .sqlite:
            SQLOperand(value: "e.value", json: "e.value", type: "e.type", isElement: true)
        case .postgreSQL:
            SQLOperand(
                value: "(e.value #>> '{}')",
                json: "e.value",
                type: "jsonb_typeof(e.value)",
                isElement: true
            )
        }
    }

    /// The elements of a collection, as a table `e`; none if it is missing.
    mutating func elements(of name: Text) -> String? {
        guard let text = name.string, !text.utf8.contains(0) else { return nil }
        switch dialect {
        case .sqlite:
            return path(text).map { "json_each(\(document), \($0)) AS e" }
        case .postgreSQL:
            return member(name).map { "jsonb_array_elements(\(Self.array($0))) AS e(value)" }
        }
    }

    mutating func count(of name: Text) -> String? {
        guard let text = name.string, !text.utf8.contains(0) else { return nil }
        switch dialect {
        case .sqlite:
            return path(text).map { "coalesce(json_array_length(\(document), \($0)), 0)" }
        case .postgreSQL:
            return member(name).map { "jsonb_array_length(\(Self.array($0)))" }
        }
    }

    /// Functions of jsonb raise errors for values other than arrays: objects of another class may
    /// have such a member.
    private static func array(_ member: SQLOperand) -> String {
        "CASE WHEN \(member.type) = 'array' THEN \(member.json) ELSE '[]'::jsonb END"
    }

    /// A name that needs no escapes is written out, as in an index; any other one is a parameter.
    ///
    /// SQLite compares the name with its spelling in JSON, and quotes in paths have no escapes.
    private mutating func path(_ name: String) -> String? {
        if Self.isPlain(name) { return "'$.\(name)'" }
        let isWritable = name.utf8.allSatisfy {
            $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\")
        }
        return isWritable && !name.isEmpty ? bind("$.\"\(name)\"") : nil
    }

    private static func isPlain(_ name: String) -> Bool {
        guard let first = name.utf8.first, !isDigit(first) else { return false }
        return name.utf8.allSatisfy {
            isDigit($0) || (0x61...0x7a).contains($0 | 0x20) || $0 == UInt8(ascii: "_")
        }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
}

/// The expressions for one value of a document: a member, or an element of a collection.
struct SQLOperand {
    /// The value as text, or in SQLite as number; NULL if it is null or missing.
    let value: String
    /// The value as JSON. Of an element in SQLite only objects have one.
    let json: String
    /// The name of its JSON type.
    let type: String
    let isElement: Bool

    /// Whether the value has a form with its type, such as NaN.
    var isTagged: String { "\(type) = 'object'" }
}
