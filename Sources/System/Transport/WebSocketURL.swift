/// The parts of a `ws` or `wss` URL that a connection needs.
package struct WebSocketURL: Hashable, Sendable {
    package let isSecure: Bool
    package let host: String
    package let port: Int
    /// Path, without query.
    package let path: String

    /// Nil unless the URL has the scheme `ws` or `wss`, a host, and neither user info, query nor
    /// fragment.
    package init?(_ text: String) {
        guard let separator = text.firstRange(of: "://") else { return nil }
        switch text[..<separator.lowerBound] {
        case "ws": self.isSecure = false
        case "wss": self.isSecure = true
        default: return nil
        }
        let rest = text[separator.upperBound...]
        guard !rest.contains(where: { "@?# \r\n".contains($0) }) else { return nil }
        let authority = rest.prefix { $0 != "/" }
        guard let (host, port) = Self.split(authority) else { return nil }
        self.host = host
        self.port = port ?? (isSecure ? 443 : 80)
        let path = rest.dropFirst(authority.count)
        self.path = path.isEmpty ? "/" : String(path)
    }

    /// The Host header: without the port if it is the scheme's default.
    var hostHeader: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return port == (isSecure ? 443 : 80) ? name : "\(name):\(port)"
    }

    /// Host and port; an IPv6 address is in brackets.
    private static func split(_ authority: Substring) -> (host: String, port: Int?)? {
        var host = authority
        var port: Int?
        if let bracket = authority.lastIndex(of: "]") {
            guard authority.first == "[" else { return nil }
            host = authority[..<bracket].dropFirst()
            let rest = authority[authority.index(after: bracket)...]
            guard rest.isEmpty || rest.first == ":" else { return nil }
            if !rest.isEmpty {
                guard let number = UInt16(rest.dropFirst()) else { return nil }
                port = Int(number)
            }
        } else if let colon = authority.firstIndex(of: ":") {
            host = authority[..<colon]
            guard let number = UInt16(authority[authority.index(after: colon)...]) else {
                return nil
            }
            port = Int(number)
        }
        guard !host.isEmpty, port != 0 else { return nil }
        return (String(host), port)
    }
}
