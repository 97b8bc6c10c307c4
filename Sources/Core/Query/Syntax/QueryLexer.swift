/// Splits the text of a query into tokens (flexible sync, 12.1; query as recorded, 7 to 18).
///
/// The longest token wins, and of equally long ones the word before the name. Each byte is read
/// only a few times.
struct QueryLexer {
    let text: [UInt8]
    private var position = 0

    init(_ text: [UInt8]) {
        self.text = text
    }

    mutating func next() throws(LocatedProblem) -> QueryToken {
        while let byte = byte(at: position),
            byte == 0x20 || byte == 0x09 || byte == 0x0a || byte == 0x0d
        {
            position += 1
        }
        guard let byte = byte(at: position) else {
            return QueryToken(kind: .end, range: text.count..<text.count)
        }
        let start = position
        let (kind, end) = try token(startingWith: byte)
        position = end
        return QueryToken(kind: kind, range: start..<end)
    }

    func byte(at index: Int) -> UInt8? {
        index < text.count ? text[index] : nil
    }

    private func token(
        startingWith byte: UInt8
    ) throws(LocatedProblem) -> (QueryToken.Kind, end: Int) {
        if byte.isASCIIDigit { return numberOrDate(at: position) }
        if nameCharacter(at: position, isFirst: true) > 0 { return word() }
        switch byte {
        case UInt8(ascii: "+"), UInt8(ascii: "-"):
            return signedNumber() ?? (byte == UInt8(ascii: "+") ? .plus : .minus, position + 1)
        case UInt8(ascii: "."):
            return float(at: position) ?? (.dot, position + 1)
        case UInt8(ascii: "\""), UInt8(ascii: "'"):
            return (.string, try stringEnd(after: byte))
        case UInt8(ascii: "@"):
            return try wordAfterAt()
        case UInt8(ascii: "["):
            return starts(with: "[c]", at: position)
                ? (.ignoringCase, position + 3) : (.leftBracket, position + 1)
        default:
            return try sign(byte)
        }
    }

    // MARK: Signs

    private func sign(_ first: UInt8) throws(LocatedProblem) -> (QueryToken.Kind, end: Int) {
        for (sign, kind) in Self.doubleSigns where starts(with: sign, at: position) {
            return (kind, position + 2)
        }
        guard let kind = Self.singleSigns[first] else { throw invalidCharacter() }
        return (kind, position + 1)
    }

    private static let doubleSigns: [(StaticString, QueryToken.Kind)] = [
        ("==", .equal), ("!=", .notEqual), ("<>", .notEqual), ("<=", .lessOrEqual),
        ("=<", .lessOrEqual), (">=", .greaterOrEqual), ("=>", .greaterOrEqual), ("&&", .and),
        ("||", .or),
    ]

    private static let singleSigns: [UInt8: QueryToken.Kind] = [
        UInt8(ascii: "*"): .star, UInt8(ascii: "/"): .slash, UInt8(ascii: "="): .equal,
        UInt8(ascii: "<"): .less, UInt8(ascii: ">"): .greater, UInt8(ascii: "!"): .not,
        UInt8(ascii: "("): .leftParenthesis, UInt8(ascii: ")"): .rightParenthesis,
        UInt8(ascii: "]"): .rightBracket, UInt8(ascii: "{"): .leftBrace,
        UInt8(ascii: "}"): .rightBrace, UInt8(ascii: ","): .comma,
    ]

    func starts(with sign: StaticString, at index: Int) -> Bool {
        let length = sign.utf8CodeUnitCount
        guard text.count - index >= length else { return false }
        return sign.withUTF8Buffer { text[index..<index + length].elementsEqual($0) }
    }

    // MARK: Words

    private func word() -> (QueryToken.Kind, end: Int) {
        var end = position
        while true {
            let length = nameCharacter(at: end, isFirst: false)
            guard length > 0 else { break }
            end += length
        }
        if let (kind, longerEnd) = constantWithLetter(), longerEnd > end {
            return (kind, longerEnd)
        }
        return (kind(ofWord: position..<end), end)
    }

    private func kind(ofWord range: Range<Int>) -> QueryToken.Kind {
        // The longest word has 14 letters.
        guard range.count <= 16 else { return .identifier }
        if let kind = QueryToken.Kind.kind(ofWord: text[range]) { return kind }
        let rest = text[range].dropFirst()
        guard !rest.isEmpty else { return .identifier }
        switch text[range.lowerBound] {
        case UInt8(ascii: "$"):
            if rest.allSatisfy(\.isASCIIDigit) { return .argument }
            let number = rest.dropFirst()
            let isKeyPath = rest.first == UInt8(ascii: "K") && !number.isEmpty
            return isKeyPath && number.allSatisfy(\.isASCIIDigit) ? .keyPathArgument : .identifier
        case UInt8(ascii: "O"):
            return rest.allSatisfy(\.isASCIIDigit) ? .link : .identifier
        default:
            return .identifier
        }
    }

    /// Bytes of the name character at the index, 0 if there is none.
    private func nameCharacter(at index: Int, isFirst: Bool) -> Int {
        guard let byte = byte(at: index) else { return 0 }
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "_"), UInt8(ascii: "$"):
            return 1
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
            return isFirst ? 0 : 1
        case UInt8(ascii: "\\"):
            guard !isFirst, let next = self.byte(at: index + 1) else { return 0 }
            return " nrt".utf8.contains(next) ? 2 : 0
        case 0xc2...0xdf: return continuations(2, at: index)
        case 0xe0...0xef: return continuations(3, at: index)
        case 0xf0...0xf7: return continuations(4, at: index)
        default: return 0
        }
    }

    private func continuations(_ length: Int, at index: Int) -> Int {
        guard text.count - index >= length else { return 0 }
        return text[index + 1..<index + length].allSatisfy { $0 & 0xc0 == 0x80 } ? length : 0
    }

    private func wordAfterAt() throws(LocatedProblem) -> (QueryToken.Kind, end: Int) {
        var end = position + 1
        while let byte = byte(at: end), byte.isASCIILetter { end += 1 }
        // A word may end inside the letters: `@countx` is `@count` and `x`.
        for length in stride(from: min(end - position, 7), to: 1, by: -1) {
            let word = String(decoding: text[position..<position + length], as: UTF8.self)
            if let kind = QueryToken.Kind.wordsAfterAt[word] { return (kind, position + length) }
        }
        throw invalidCharacter()
    }

    // MARK: Strings

    /// The end of the string whose quote is at `position`.
    private func stringEnd(after quote: UInt8) throws(LocatedProblem) -> Int {
        var index = position + 1
        while let byte = byte(at: index) {
            if byte == quote { return index + 1 }
            guard byte != 0 else {
                throw LocatedProblem(
                    .syntax,
                    at: index,
                    "a string cannot hold a NUL",
                    remedy: "write the string as B64\"...\", the base64 of its bytes"
                )
            }
            if byte == UInt8(ascii: "\\") {
                guard let length = escapeLength(at: index) else { throw badEscape(at: index) }
                index += length
            } else {
                index += 1
            }
        }
        throw LocatedProblem(
            .syntax,
            at: position,
            "the string is not closed",
            remedy: "close it with \(quote == UInt8(ascii: "'") ? "'" : "\"")"
        )
    }

    private func escapeLength(at index: Int) -> Int? {
        guard let next = byte(at: index + 1) else { return nil }
        if "\"'/bfnrt0\\".utf8.contains(next) { return 2 }
        guard next == UInt8(ascii: "u"), text.count - index >= 6 else { return nil }
        return text[index + 2..<index + 6].allSatisfy(\.isHexadecimalDigit) ? 6 : nil
    }

    private func badEscape(at index: Int) -> LocatedProblem {
        LocatedProblem(
            .syntax,
            at: index,
            "the string has a backslash without a known escape",
            remedy: "write the string as B64\"...\", the base64 of its bytes"
        )
    }

    func invalidCharacter() -> LocatedProblem {
        let byte = text[position]
        let name =
            (0x21...0x7e).contains(byte)
            ? "\"\(Character(UnicodeScalar(byte)))\"" : "byte 0x\(String(byte, radix: 16))"
        return LocatedProblem(
            .syntax,
            at: position,
            "unexpected \(name)",
            remedy: "remove it, or put text between quotes"
        )
    }

    private func signedNumber() -> (QueryToken.Kind, end: Int)? {
        let after = position + 1
        if let (kind, end) = number(at: after, isSigned: true) { return (kind, end) }
        for (word, kind) in Self.signedWords {
            let length = word.utf8CodeUnitCount
            guard text.count - after >= length else { continue }
            let letters = text[after..<after + length].lazy.map { $0 | 0x20 }
            if word.withUTF8Buffer({ letters.elementsEqual($0) }) { return (kind, after + length) }
        }
        return nil
    }

    private static let signedWords: [(StaticString, QueryToken.Kind)] = [
        ("infinity", .infinity), ("inf", .infinity), ("nan", .notANumber),
    ]

    var start: Int { position }
}

extension UInt8 {
    var isASCIIDigit: Bool { (0x30...0x39).contains(self) }

    var isASCIILetter: Bool { (0x61...0x7a).contains(self | 0x20) }

    var isHexadecimalDigit: Bool { isASCIIDigit || (0x61...0x66).contains(self | 0x20) }
}
