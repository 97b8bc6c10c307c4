import FoundationEssentials

/// A server that carries connections to other servers through a CONNECT tunnel (RFC 9110, 9.3.6).
/// Of encrypted traffic it sees only the size.
package struct ProxyServer: Hashable, Sendable {
    /// A name or an address; without brackets.
    package let host: String
    package let port: Int
    package let credentials: ProxyCredentials?

    package init(host: String, port: Int, credentials: ProxyCredentials? = nil) {
        self.host = host
        self.port = port
        self.credentials = credentials
    }
}

/// The log-in that a proxy requires (RFC 7617).
package struct ProxyCredentials: Hashable, Sendable {
    package let username: String
    package let password: String

    package init(username: String, password: String) {
        self.username = username
        self.password = password
    }

    /// The value of Proxy-Authorization.
    package var authorization: String {
        "Basic \(Data("\(username):\(password)".utf8).base64EncodedString())"
    }
}

extension ProxyServer: CustomStringConvertible {
    package var description: String {
        host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}

extension ProxyCredentials: CustomStringConvertible, CustomReflectable {
    package var description: String { "<redacted>" }
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// The failure of a proxy, in the same words for all kinds of connections.
package enum ProxyFailure: Error, Hashable, Sendable {
    /// Nothing listens there, or its name is unknown.
    case unreachable(reason: String)
    /// Status 407.
    case unauthorized
    /// Any other status than 2xx; nil if unknown.
    case refused(status: Int?)
    case silent

    package func sentence(about proxy: ProxyServer) -> String {
        switch self {
        case .unreachable(let reason):
            "the proxy \(proxy) cannot be reached: \(reason)"
        case .unauthorized where proxy.credentials == nil:
            "the proxy \(proxy) requires credentials (HTTP 407); configure username and password"
        case .unauthorized:
            "the proxy \(proxy) refuses its username and password (HTTP 407)"
        case .refused(let status):
            "the proxy \(proxy) does not connect to the server"
                + (status.map { " (HTTP \($0))" } ?? "")
        case .silent:
            "the proxy \(proxy) does not answer in time"
        }
    }
}
