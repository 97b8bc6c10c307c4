import Settings

/// An address of this machine to listen on: `127.0.0.1:9464`, `[::1]:9464`.
package struct ListenAddress: Hashable, Sendable {
    /// Without brackets.
    package let host: String
    package let port: Int
}

extension ListenAddress: CustomStringConvertible {
    package var description: String {
        host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}

extension ListenAddress {
    static func read(_ reader: NodeReader) -> ListenAddress? {
        guard let text = reader.string() else { return nil }
        guard let colon = text.lastIndex(of: ":"),
            let port = Int(text[text.index(after: colon)...]), (0...65_535).contains(port),
            let host = host(text[..<colon])
        else {
            reader.report(
                .badValue,
                "\(quoted(text)) is not an address with a port",
                remedy: "give one such as 127.0.0.1:9464"
            )
            return nil
        }
        return ListenAddress(host: host, port: port)
    }

    private static func host(_ text: Substring) -> String? {
        let isBracketed = text.hasPrefix("[") && text.hasSuffix("]")
        let host = isBracketed ? text.dropFirst().dropLast() : text
        let isGood = host.utf8.allSatisfy {
            $0.isASCIILetter || $0.isASCIIDigit || $0.isOne(of: ".-")
                || isBracketed && $0.isOne(of: ":%")
        }
        return host.isEmpty || !isGood ? nil : String(host)
    }
}
