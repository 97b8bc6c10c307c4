/// Splits the text of a rule into the tokens of queries.
///
/// Rules differ from queries in four points, which texts in stores and configurations rely on. Strings
/// have no escapes; words may contain dots; AND, OR, NOT and constants have any case; numbers are
/// decimal. The only operators are `==`, `!=` and IN.
enum RuleLexer {
    static func tokens(of text: String) throws(LocatedProblem) -> [QueryToken] {
        var tokens: [QueryToken] = []
        var rest = text[...]
        var offset = 0
        while let first = rest.first {
            let (kind, length) = try token(startingWith: first, in: rest, at: offset)
            let end = offset + rest.prefix(length).utf8.count
            if let kind { tokens.append(QueryToken(kind: kind, range: offset..<end)) }
            rest.removeFirst(length)
            offset = end
        }
        tokens.append(QueryToken(kind: .end, range: offset..<offset))
        return tokens
    }

    /// The kind is nil for white space; the length counts characters.
    private static func token(
        startingWith first: Character,
        in rest: Substring,
        at offset: Int
    ) throws(LocatedProblem) -> (QueryToken.Kind?, length: Int) {
        if first.isWhitespace { return (nil, 1) }
        if first == "'" || first == "\"" {
            let content = rest.dropFirst().prefix { $0 != first }
            guard content.endIndex < rest.endIndex else {
                throw LocatedProblem(
                    .syntax,
                    at: offset,
                    "the string is not closed",
                    remedy: "close it with \(first)"
                )
            }
            return (.string, content.count + 2)
        }
        for (sign, kind) in signs where rest.hasPrefix(sign) { return (kind, sign.count) }
        let word = rest.prefix { $0.isLetter || $0.isNumber || "._-$".contains($0) }
        guard !word.isEmpty else {
            throw LocatedProblem(
                .syntax,
                at: offset,
                "unexpected \"\(first)\"",
                remedy: "compare with ==, != or IN, and put text between quotes"
            )
        }
        return (kind(of: word), word.count)
    }

    private static let signs: [(String, QueryToken.Kind)] = [
        ("==", .equal), ("!=", .notEqual), ("(", .leftParenthesis), (")", .rightParenthesis),
    ]

    private static func kind(of word: Substring) -> QueryToken.Kind {
        if Int64(word) != nil { return .number }
        return switch word.lowercased() {
        case "and": .and
        case "or": .or
        case "not": .not
        case "in": .in
        case "true": .true
        case "false": .false
        case "null": .null
        default: .identifier
        }
    }
}
