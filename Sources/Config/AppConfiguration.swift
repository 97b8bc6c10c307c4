package import Settings

/// A backend app, and how to talk to it (section `apps`).
package struct AppConfiguration: Hashable, Sendable {
    package var name: String
    package var appID: String
    package var baseURL: ServiceURL
    /// Where the servers are, if that shall not be asked.
    package var location: FixedLocation?
    package var timeouts: TimeoutConfiguration
    package var backoff: BackoffConfiguration
    package var tls: TLSConfiguration
    /// Whether one connection of a user carries all of that user's realms.
    package var sharesConnections: Bool = true
    /// How long the server keeps what a silent client has not seen.
    package var offlineLimit: Duration = .seconds(30 * 86_400)
    package var proxy: ProxyConfiguration = .environment
    /// Sent with each request and each WebSocket upgrade.
    package var headers: [String: HeaderConfiguration] = [:]
    /// The header that tokens travel in, with HTTP requests.
    package var authorizationHeader: String = "Authorization"
    /// What the User-Agent header ends in, behind what the agent says of itself.
    package var userAgentSuffix: String?

    /// Whether its server can be reached without any network.
    package var isOnThisMachine: Bool {
        baseURL.isLoopback && (location?.webSocket.isLoopback ?? true)
    }
}

/// How connections leave the machine.
package enum ProxyConfiguration: Hashable, Sendable {
    /// As the variables `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` say.
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

/// How long things may take (wire protocol, 11).
package struct TimeoutConfiguration: Hashable, Sendable {
    /// Of one HTTP request.
    package var request: Duration = .seconds(60)
    /// Of a connection: name, TCP, TLS and upgrade together.
    package var connect: Duration = .seconds(120)
    /// Between two PINGs.
    package var keepAlive: Duration = .seconds(60)
    /// From a due PING to its PONG.
    package var pong: Duration = .seconds(120)
    /// How long a connection outlives its last session.
    package var linger: Duration = .seconds(30)
    /// A connection that comes back sooner uploads at once.
    package var fastReconnect: Duration = .seconds(60)
}

/// How the waits between attempts grow (wire protocol, 10.1).
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
