/// Several queries of one class as one text: `(a > 1) OR (b == 2)` (flexible sync, 5.1).
package enum JoinedQuery {
    private static let separator = Array(" OR ".utf8)

    /// Each text once, in bytewise order, in parentheses, joined by ` OR `.
    package static func join(_ queries: some Sequence<[UInt8]>) -> [UInt8] {
        let sorted = Set(queries).sorted { $0.lexicographicallyPrecedes($1) }
        return Array(
            sorted.map { [UInt8(ascii: "(")] + $0 + [UInt8(ascii: ")")] }
                .joined(separator: separator)
        )
    }

    /// The queries of a joined text, without their parentheses; the whole text if it has another
    /// form.
    ///
    /// Splits at each ` OR ` between parenthesised groups outside of strings. A query that has the
    /// form of a joined one is split as well, which does not change its meaning. Never fails: the
    /// parser refuses an invalid text.
    package static func parts(of text: [UInt8]) -> [ArraySlice<UInt8>] {
        var parts: [ArraySlice<UInt8>] = []
        var index = 0
        while true {
            guard index < text.count, text[index] == UInt8(ascii: "("),
                let end = groupEnd(in: text, from: index)
            else { return [text[...]] }
            parts.append(text[index + 1..<end])
            index = end + 1
            if index == text.count { return parts }
            guard text[index...].starts(with: separator) else { return [text[...]] }
            index += separator.count
        }
    }

    /// The position of the parenthesis that closes the one at the index.
    private static func groupEnd(in text: [UInt8], from start: Int) -> Int? {
        var depth = 0
        var quote: UInt8?
        var index = start
        while index < text.count {
            let byte = text[index]
            if let mark = quote {
                if byte == UInt8(ascii: "\\") { index += 1 }
                if byte == mark { quote = nil }
            } else if byte == UInt8(ascii: "'") || byte == UInt8(ascii: "\"") {
                quote = byte
            } else if byte == UInt8(ascii: "(") {
                depth += 1
            } else if byte == UInt8(ascii: ")") {
                depth -= 1
                if depth == 0 { return index }
            }
            index += 1
        }
        return nil
    }
}
