/// Checks a query without parsing it: finds brackets and quotes that are not closed.
enum QueryShape {
    /// Nil if the query may be valid.
    static func problem(of query: String) -> String? {
        var open: [UInt8] = []
        var quote: UInt8?
        var isEscaped = false
        for byte in query.utf8 {
            if let mark = quote {
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == mark {
                    quote = nil
                }
                continue
            }
            switch byte {
            case UInt8(ascii: "'"), UInt8(ascii: "\""): quote = byte
            case UInt8(ascii: "("): open.append(UInt8(ascii: ")"))
            case UInt8(ascii: "{"): open.append(UInt8(ascii: "}"))
            case UInt8(ascii: "["): open.append(UInt8(ascii: "]"))
            case UInt8(ascii: ")"), UInt8(ascii: "}"), UInt8(ascii: "]"):
                guard open.popLast() == byte else {
                    return "\"\(Character(UnicodeScalar(byte)))\" closes nothing"
                }
            default: break
            }
        }
        if quote != nil { return "a quote is not closed" }
        return open.last.map { "\"\(Character(UnicodeScalar($0)))\" is missing" }
    }
}
