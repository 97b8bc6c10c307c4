package import Settings

/// A backend app, and how to talk to it (section `apps`).
package struct AppConfiguration: Hashable, Sendable {
    package var name: String
    package var appID: String
    package var baseURL: ServiceURL
    /// Addresses of the servers; nil to ask the location route.
    package var location: FixedLocation?
    package var timeouts: TimeoutConfiguration
    package var backoff: BackoffConfiguration
    package var tls: TLSConfiguration
    /// Whether one connection of a user carries all of that user's realms.
    package var sharesConnections: Bool = true
    /// Time that the server keeps history for absent clients.
    package var offlineLimit: Duration = .seconds(30 * 86_400)
    package var proxy: ProxyConfiguration = .environment
    /// Sent with each request and each WebSocket upgrade.
    package var headers: [String: HeaderConfiguration] = [:]
    /// The header that tokens travel in, with HTTP requests.
    package var authorizationHeader: String = "Authorization"
    /// Appended to the agent's own User-Agent header.
    package var userAgentSuffix: String?

    /// Whether its server can be reached without any network.
    package var isOnThisMachine: Bool {
        baseURL.isLoopback && (location?.webSocket.isLoopback ?? true)
    }
}

extension AppConfiguration {
    /// Whether a connection is certain to use TLS; of a location that must be asked for, the base URL tells.
    package var isEncrypted: Bool {
        let addresses = location.map { [$0.http, $0.webSocket] } ?? [baseURL]
        return addresses.contains { $0.scheme.isEncrypted }
    }
}

/// The route of outgoing connections.
package enum ProxyConfiguration: Hashable, Sendable {
    /// From the variables `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`.
    case environment
    case direct
    case server(ServiceURL, credentials: Credentials?)

    package struct Credentials: Hashable, Sendable {
        package var username: String
        package var password: SecretReference
    }
}

/// The value of a header: text, or a secret kept elsewhere.
package enum HeaderConfiguration: Hashable, Sendable {
    case text(String)
    case secret(SecretReference)
}

/// Server addresses that need no discovery.
package struct FixedLocation: Hashable, Sendable {
    package var http: ServiceURL
    package var webSocket: ServiceURL
}

/// Limits on waits (wire protocol, 11).
package struct TimeoutConfiguration: Hashable, Sendable {
    /// Limit on one HTTP request.
    package var request: Duration = .seconds(60)
    /// Limit on connecting: name resolution, TCP, TLS and WebSocket upgrade together.
    package var connect: Duration = .seconds(120)
    /// Interval between PINGs.
    package var keepAlive: Duration = .seconds(60)
    /// Limit on the time from a due PING to its PONG.
    package var pong: Duration = .seconds(120)
    /// Time that a connection stays open after its last session ended.
    package var linger: Duration = .seconds(30)
    /// After a shorter disconnection, uploads begin at once, without waiting for downloads.
    package var fastReconnect: Duration = .seconds(60)
}

/// Growth of the delays between attempts (wire protocol, 10.1).
package struct BackoffConfiguration: Hashable, Sendable {
    package var initial: Duration = .seconds(1)
    package var maximum: Duration = .seconds(300)
    package var multiplier: Double = 2
    /// The largest part of a wait that chance takes off it.
    package var jitter: Double = 0.25
}

/// Whom to trust.
package struct TLSConfiguration: Hashable, Sendable {
    /// Certificates in PEM; nil for those of the system.
    package var certificateAuthorityFile: String?
    package var verifiesServer: Bool = true
    package var clientCertificate: ClientCertificate?

    package struct ClientCertificate: Hashable, Sendable {
        /// Certificates in PEM, that of the client first.
        package var certificateFile: String
        package var key: SecretReference
    }
}
