/// Numbers, dates and keys.
extension QueryLexer {
    /// A number, or a date of the calendar form, whose first digit is at the index.
    func numberOrDate(at index: Int) -> (QueryToken.Kind, end: Int) {
        let number = number(at: index, isSigned: false) ?? (.natural, index + 1)
        if let end = calendarDateEnd(at: index), end > number.end { return (.timestamp, end) }
        return number
    }

    /// A number without its sign.
    func number(at index: Int, isSigned: Bool) -> (QueryToken.Kind, end: Int)? {
        if let float = float(at: index) { return float }
        let end = digitsEnd(at: index)
        guard end > index else { return nil }
        if !isSigned, end == index + 1, text[index] == UInt8(ascii: "0"),
            let mark = byte(at: end), mark | 0x20 == UInt8(ascii: "x")
        {
            var hexadecimalEnd = end + 1
            while byte(at: hexadecimalEnd)?.isHexadecimalDigit == true { hexadecimalEnd += 1 }
            if hexadecimalEnd > end + 1 { return (.number, hexadecimalEnd) }
        }
        return (isSigned ? .number : .natural, end)
    }

    /// Digits with a point, an exponent or the suffix `f`.
    func float(at index: Int) -> (QueryToken.Kind, end: Int)? {
        let wholeEnd = digitsEnd(at: index)
        var end = wholeEnd
        if byte(at: end) == UInt8(ascii: ".") {
            let fractionEnd = digitsEnd(at: end + 1)
            if wholeEnd > index || fractionEnd > end + 1 { end = fractionEnd }
        }
        guard end > index else { return nil }
        if let mark = byte(at: end), mark | 0x20 == UInt8(ascii: "e") {
            let exponentEnd = signedDigitsEnd(at: end + 1)
            if let exponentEnd { end = exponentEnd }
        }
        if byte(at: end) == UInt8(ascii: "f") { end += 1 }
        return end > wholeEnd ? (.float, end) : nil
    }

    /// A constant that begins with a letter and can be longer than a name: `T1:0`, `L1:2`, `oid(…)`,
    /// `uuid(…)`, `B64"…"`.
    func constantWithLetter() -> (QueryToken.Kind, end: Int)? {
        switch text[start] {
        case UInt8(ascii: "T"):
            guard let seconds = signedDigitsEnd(at: start + 1),
                byte(at: seconds) == UInt8(ascii: ":"),
                let end = signedDigitsEnd(at: seconds + 1)
            else { return nil }
            return (.timestamp, end)
        case UInt8(ascii: "L"):
            let table = digitsEnd(at: start + 1)
            guard table > start + 1, byte(at: table) == UInt8(ascii: ":") else { return nil }
            let end = digitsEnd(at: table + 1)
            return end > table + 1 ? (.typedLink, end) : nil
        case UInt8(ascii: "o"):
            guard starts(with: "oid(", at: start) else { return nil }
            return hexadecimalEnd([24], at: start + 4).map { (.objectID, $0) }
        case UInt8(ascii: "u"):
            guard starts(with: "uuid(", at: start) else { return nil }
            return hexadecimalEnd([8, 4, 4, 4, 12], at: start + 5).map { (.uuid, $0) }
        case UInt8(ascii: "B"):
            guard starts(with: "B64\"", at: start) else { return nil }
            var end = start + 4
            while let byte = byte(at: end),
                byte.isASCIILetter || byte.isASCIIDigit || "+/=".utf8.contains(byte)
            {
                end += 1
            }
            return byte(at: end) == UInt8(ascii: "\"") ? (.base64, end + 1) : nil
        default:
            return nil
        }
    }

    /// The end of groups of digits separated by `-` and followed by `)`.
    private func hexadecimalEnd(_ groups: [Int], at index: Int) -> Int? {
        var end = index
        for (number, length) in groups.enumerated() {
            if number > 0 {
                guard byte(at: end) == UInt8(ascii: "-") else { return nil }
                end += 1
            }
            guard text.count - end >= length,
                text[end..<end + length].allSatisfy(\.isHexadecimalDigit)
            else { return nil }
            end += length
        }
        return byte(at: end) == UInt8(ascii: ")") ? end + 1 : nil
    }

    /// `Y-M-D@h:m:s`, with `T` in place of `@`, and optionally followed by `:nanoseconds`.
    private func calendarDateEnd(at index: Int) -> Int? {
        var end = digitsEnd(at: index)
        for separator: StaticString in ["-", "-", "@", ":", ":"] {
            let isMet =
                starts(with: separator, at: end)
                || separator.utf8Start.pointee == UInt8(ascii: "@") && starts(with: "T", at: end)
            guard isMet, digitsEnd(at: end + 1) > end + 1 else { return nil }
            end = digitsEnd(at: end + 1)
        }
        guard byte(at: end) == UInt8(ascii: ":") else { return end }
        let nanosecondsEnd = digitsEnd(at: end + 1)
        return nanosecondsEnd > end + 1 ? nanosecondsEnd : end
    }

    private func digitsEnd(at index: Int) -> Int {
        var end = index
        while byte(at: end)?.isASCIIDigit == true { end += 1 }
        return end
    }

    private func signedDigitsEnd(at index: Int) -> Int? {
        let first = byte(at: index)
        let isSigned = first == UInt8(ascii: "+") || first == UInt8(ascii: "-")
        let begin = isSigned ? index + 1 : index
        let end = digitsEnd(at: begin)
        return end > begin ? end : nil
    }
}
