/// An address of this machine to listen on: `127.0.0.1:9464`, `[::1]:9464`.
package struct ListenAddress: Hashable, Sendable {
    /// Without brackets.
    package let host: String
    /// 0 lets the system choose.
    package let port: Int

    package init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    /// Reads `HOST:PORT`, an IPv6 address in brackets; nil for other texts.
    package init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":"),
            let port = UInt16(text[text.index(after: colon)...]),
            let host = Self.host(text[..<colon])
        else { return nil }
        self.init(host: host, port: Int(port))
    }

    private static func host(_ text: Substring) -> String? {
        let isBracketed = text.hasPrefix("[") && text.hasSuffix("]")
        let host = isBracketed ? text.dropFirst().dropLast() : text
        let isValid = host.utf8.allSatisfy {
            $0.isASCIILetter || $0.isASCIIDigit || $0.isOne(of: ".-_")
                || isBracketed && $0.isOne(of: ":%")
        }
        return host.isEmpty || !isValid ? nil : String(host)
    }
}

extension ListenAddress: CustomStringConvertible {
    package var description: String {
        host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}

extension ListenAddress {
    package static func read(_ reader: NodeReader) -> ListenAddress? {
        guard let text = reader.string() else { return nil }
        guard let address = ListenAddress(text) else {
            reader.report(
                .badValue,
                "\(quoted(text)) is not an address with a port",
                remedy: "give one such as 127.0.0.1:9464"
            )
            return nil
        }
        return address
    }
}
