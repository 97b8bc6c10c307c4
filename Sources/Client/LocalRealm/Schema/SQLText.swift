internal import Changesets
internal import Documents
internal import SQLite

/// Pieces of generated SQL.
enum SQLText {
    /// A name as an identifier.
    static func name(_ name: String) -> String {
        Connection.quoted(name)
    }

    /// A text as a string literal.
    static func string(_ text: String) -> String {
        var result = "'"
        for character in text.unicodeScalars {
            if character == "'" { result.unicodeScalars.append(character) }
            result.unicodeScalars.append(character)
        }
        return result + "'"
    }

    static func literal(_ value: ColumnValue) -> String {
        switch value {
        case .null: return "NULL"
        case .integer(let value): return "\(value)"
        case .real(let value):
            guard value.isInfinite else { return "\(value)" }
            return value < 0 ? "-9e999" : "9e999"
        case .text(let bytes):
            guard !bytes.contains(0), let text = Text(bytes: bytes).string else {
                return "(CAST(x'\(Hexadecimal.text(of: bytes))' AS TEXT))"
            }
            return string(text)
        case .blob(let bytes): return "x'\(Hexadecimal.text(of: bytes))'"
        }
    }

    /// The value of a key's literal; nil for anything else.
    static func value(of literal: String) -> ColumnValue? {
        if literal == "NULL" { return .null }
        if let number = Int64(literal) { return .integer(number) }
        let (castStart, castEnd) = ("(CAST(x'", "' AS TEXT))")
        if literal.hasPrefix(castStart), literal.hasSuffix(castEnd) {
            let digits = literal.dropFirst(castStart.count).dropLast(castEnd.count)
            return Hexadecimal.bytes(of: String(digits)).map { .text($0) }
        }
        guard literal.count >= 2, literal.hasPrefix("'"), literal.hasSuffix("'") else { return nil }
        let text = literal.dropFirst().dropLast()
        let plain = text.replacing("''", with: "")
        guard !plain.contains("'") else { return nil }
        return .text(Array(text.replacing("''", with: "'").utf8))
    }

    /// The name without regard to ASCII case, as SQLite compares identifiers.
    static func folded(_ name: String) -> String {
        String(
            decoding: name.utf8.map { (65...90).contains($0) ? $0 + 32 : $0 },
            as: UTF8.self
        )
    }
}
