import Changesets

/// Constants (flexible sync, 12.1; query as recorded, 9 to 17).
extension QueryParser {
    mutating func isBinaryConstant() throws(LocatedProblem) -> Bool {
        guard token.kind == .binary else { return false }
        return try peek().kind == .leftParenthesis
    }

    mutating func parseConstant() throws(LocatedProblem) -> ConstantSyntax {
        let offset = token.range.lowerBound
        let literal: ConstantSyntax.Literal
        switch token.kind {
        case .object: return try parseObject()
        case .binary: return try parseBinary()
        case .any, .all, .none:
            try advance()
            guard token.kind == .argument || token.kind == .keyPathArgument else {
                throw unexpected(expecting: "an argument")
            }
            literal = .argument(argumentNumber(of: token))
        case .argument, .keyPathArgument: literal = .argument(argumentNumber(of: token))
        case .link, .typedLink: literal = .internalLink
        case .float: literal = float(of: token)
        case .infinity, .notANumber:
            let isNegative = bytes(of: token).first == UInt8(ascii: "-")
            let value: Double =
                token.kind == .notANumber ? .nan : isNegative ? -.infinity : .infinity
            literal = .number(.double(value), text: Array(bytes(of: token)))
        default: literal = .value(try plainValue())
        }
        try advance()
        return ConstantSyntax(literal: literal, offset: offset)
    }

    private func plainValue() throws(LocatedProblem) -> QueryValue {
        switch token.kind {
        case .true: return .bool(true)
        case .false: return .bool(false)
        case .null: return .null
        case .timestamp: return .date(try date(of: token))
        case .base64: return .string(try base64(of: token))
        default:
            if let value = keyValue(of: token) { return value }
            throw unexpected(expecting: "a value")
        }
    }

    /// The value of a constant that can be a primary key.
    private func keyValue(of token: QueryToken) -> QueryValue? {
        let bytes = bytes(of: token)
        switch token.kind {
        case .natural, .number: return .int(integer(bytes))
        case .string: return .string(Array(bytes.dropFirst().dropLast()))
        case .objectID:
            return ObjectID(text: Array(bytes.dropFirst(4).dropLast())).map { .objectID($0) }
        case .uuid:
            return UniqueID(text: Array(bytes.dropFirst(5).dropLast())).map { .uuid($0) }
        default: return nil
        }
    }

    /// A leading 0 makes a query's number octal, and has no meaning in a rule.
    private func integer(_ text: ArraySlice<UInt8>) -> Int64 {
        if isRule, let value = Int64(String(decoding: text, as: UTF8.self)) { return value }
        return IntegerText.parse(text)
    }

    private func float(of token: QueryToken) -> ConstantSyntax.Literal {
        let bytes = bytes(of: token)
        guard bytes.last == UInt8(ascii: "f") else {
            return .number(.double(FloatingText.double(bytes)), text: Array(bytes))
        }
        return .value(.float(FloatingText.float(bytes.dropLast())))
    }

    /// `obj("C", key)`, the class with or without the prefix `class_`.
    private mutating func parseObject() throws(LocatedProblem) -> ConstantSyntax {
        let offset = token.range.lowerBound
        try advance()
        try expect(.leftParenthesis, "\"(\"")
        let name = try expect(.string, "the class as a string")
        try expect(.comma, "\",\"")
        guard let key = keyValue(of: token) else { throw unexpected(expecting: "a primary key") }
        try advance()
        try expect(.rightParenthesis, "\")\"")
        let className = Array(bytes(of: name).dropFirst().dropLast())
        return ConstantSyntax(literal: .object(className: className, key: key), offset: offset)
    }

    /// `binary("…")`, `binary(B64"…")`.
    private mutating func parseBinary() throws(LocatedProblem) -> ConstantSyntax {
        let offset = token.range.lowerBound
        try advance()
        try expect(.leftParenthesis, "\"(\"")
        let content: [UInt8]
        switch token.kind {
        case .string: content = Array(bytes(of: token).dropFirst().dropLast())
        case .base64: content = try base64(of: token)
        default: throw unexpected(expecting: "a string")
        }
        try advance()
        try expect(.rightParenthesis, "\")\"")
        return ConstantSyntax(literal: .value(.binary(content)), offset: offset)
    }

    /// `B64"…"`; padding may be missing.
    private func base64(of token: QueryToken) throws(LocatedProblem) -> [UInt8] {
        var digits = Array(bytes(of: token).dropFirst(4).dropLast())
        let length = digits.count
        while digits.count + 2 > length, digits.last == UInt8(ascii: "=") { digits.removeLast() }
        digits += [UInt8](repeating: UInt8(ascii: "="), count: (4 - digits.count % 4) % 4)
        guard let decoded = Base64.decodeLeniently(digits) else {
            throw LocatedProblem(
                .syntax,
                at: token.range.lowerBound,
                "the text after B64 is not base64",
                remedy: "write the base64 of the string's bytes"
            )
        }
        return decoded
    }

    func argumentNumber(of token: QueryToken) -> Int {
        let digits = bytes(of: token).drop { !$0.isASCIIDigit }
        return Int(clamping: IntegerText.parseDecimal(digits))
    }

    // MARK: Dates

    private func date(of token: QueryToken) throws(LocatedProblem) -> QueryDate {
        let bytes = bytes(of: token)
        do {
            return bytes.first == UInt8(ascii: "T")
                ? try QueryDate(seconds: bytes) : try QueryDate(calendar: bytes)
        } catch {
            switch error {
            case .mixedSigns:
                throw LocatedProblem(
                    .syntax,
                    at: token.range.lowerBound,
                    "seconds and nanoseconds of a date differ in sign",
                    remedy: "write both positive or both negative"
                )
            case .beforeCalendar:
                throw LocatedProblem(
                    .type,
                    at: token.range.lowerBound,
                    "the calendar form cannot express a date before 1900",
                    remedy: "write T<seconds>:<nanoseconds>, counted from 1970"
                )
            }
        }
    }
}

extension Base64 {
    /// Padded text whose last digit may have unused bits set.
    fileprivate static func decodeLeniently(_ text: [UInt8]) -> [UInt8]? {
        if let bytes = decode(text) { return bytes }
        let digits = text.prefix { $0 != UInt8(ascii: "=") }
        guard digits.count % 4 > 1, text.count - digits.count < 3, let last = digits.last else {
            return nil
        }
        let alphabet = Array(
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8
        )
        guard let value = alphabet.firstIndex(of: last) else { return nil }
        let unused = digits.count % 4 == 2 ? 15 : 3
        return decode(
            digits.dropLast() + [alphabet[value & ~unused]]
                + [UInt8](repeating: UInt8(ascii: "="), count: text.count - digits.count)
        )
    }
}
