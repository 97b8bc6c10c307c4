/// The choice of a proxy for each connection.
package enum ProxyRules: Hashable, Sendable {
    case direct
    /// For all connections, also those to this machine.
    case always(ProxyServer)
    case environment(ProxyEnvironment)

    /// The proxy to take; nil for none.
    package func proxy(to target: ProxyTarget) throws(ProxyVariableProblem) -> ProxyServer? {
        switch self {
        case .direct: nil
        case .always(let proxy): proxy
        case .environment(let environment): try environment.proxy(to: target)
        }
    }
}

/// The final destination of a connection.
package struct ProxyTarget: Hashable, Sendable {
    /// In lower case, without brackets.
    package let host: String
    package let port: Int
    package let isSecure: Bool

    package init(host: String, port: Int, isSecure: Bool) {
        self.host = host.lowercased()
        self.port = port
        self.isSecure = isSecure
    }

    /// Nil unless the text is an `http` or `https` URL with a host.
    package init?(url: String) {
        guard let separator = url.firstRange(of: "://") else { return nil }
        let isSecure = url[..<separator.lowerBound].lowercased() == "https"
        let authority = url[separator.upperBound...].prefix { !"/?#".contains($0) }
        guard let (host, port) = authority.hostAndPort else { return nil }
        self.init(host: String(host), port: port ?? (isSecure ? 443 : 80), isSecure: isSecure)
    }
}

extension Substring {
    /// Host without brackets, and port; nil if the text is neither.
    var hostAndPort: (host: Substring, port: Int?)? {
        var host = self
        var port: Int?
        // A colon inside the brackets of an IPv6 address does not begin a port.
        if let colon = lastIndex(of: ":"), !self[colon...].contains("]") {
            guard let number = UInt16(self[index(after: colon)...]), number > 0 else { return nil }
            host = self[..<colon]
            port = Int(number)
        }
        if host.first == "[", host.last == "]" { host = host.dropFirst().dropLast() }
        return host.isEmpty ? nil : (host, port)
    }
}
