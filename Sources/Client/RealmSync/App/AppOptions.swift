/// A backend app, and the settings for its connections.
public struct AppOptions: Sendable {
    /// The app's id at the backend, such as `shop-abcde`.
    public var id: String
    /// URL of the backend, such as `https://sync.example.com`.
    public var baseURL: String
    public var timeouts = SyncTimeouts()
    public var backoff = SyncBackoff()
    public var tls = TLSOptions()
    /// Sent with each request and each WebSocket upgrade, in this order.
    public var headers: [(name: String, value: String)] = []
    /// The HTTP header that carries access tokens.
    public var authorizationHeader = "Authorization"
    /// Addresses of the servers; nil to ask the base URL for them.
    public var location: ServerLocation?

    public init(id: String, baseURL: String) {
        self.id = id
        self.baseURL = baseURL
    }

    /// Whether a connection is certain to use TLS.
    var isEncrypted: Bool {
        let addresses = location.map { [$0.http, $0.webSocket] } ?? [baseURL]
        return addresses.contains { address in
            ["https:", "wss:"].contains { address.lowercased().hasPrefix($0) }
        }
    }
}

/// Server addresses that need no discovery.
public struct ServerLocation: Hashable, Sendable {
    /// URL for HTTP requests, such as `https://eu.example.com`.
    public var http: String
    /// URL for WebSockets, such as `wss://ws.eu.example.com`.
    public var webSocket: String

    public init(http: String, webSocket: String) {
        self.http = http
        self.webSocket = webSocket
    }
}

/// Limits on waits (wire protocol, 11).
public struct SyncTimeouts: Hashable, Sendable {
    /// Limit on one HTTP request.
    public var request = Duration.seconds(60)
    /// Limit on connecting: name resolution, TCP, TLS and WebSocket upgrade together.
    public var connect = Duration.seconds(120)
    /// Interval between PINGs.
    public var keepAlive = Duration.seconds(60)
    /// Limit on the time from a due PING to its PONG.
    public var pong = Duration.seconds(120)
    /// Time that a connection stays open after its last session ended.
    public var linger = Duration.seconds(30)
    /// After a shorter disconnection, uploads begin at once, without waiting for downloads.
    public var fastReconnect = Duration.seconds(60)

    public init() {}
}

/// Growth of the delays between attempts (wire protocol, 10.1).
public struct SyncBackoff: Hashable, Sendable {
    /// The first delay.
    public var initial = Duration.seconds(1)
    /// The longest delay.
    public var maximum = Duration.seconds(300)
    /// Factor from one delay to the next.
    public var multiplier = 2.0
    /// The largest share of a delay that is subtracted at random, from 0 to 1.
    public var jitter = 0.25

    public init() {}
}

/// Trust in servers. Connections use TLS 1.2 or newer.
public struct TLSOptions: Hashable, Sendable {
    /// Path of trusted certificates in PEM; nil for those of the system.
    public var authorityFile: String?
    /// Whether certificates are verified. False accepts any certificate: for tests only.
    public var verifiesServer = true

    public init() {}
}
