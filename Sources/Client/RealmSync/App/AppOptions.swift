/// A backend app, and how to talk to it.
public struct AppOptions: Sendable {
    /// The id that the backend knows the app by, such as `shop-abcde`.
    public var id: String
    /// Where the backend is, such as `https://sync.example.com`.
    public var baseURL: String
    public var timeouts = SyncTimeouts()
    public var backoff = SyncBackoff()
    public var tls = TLSOptions()
    /// Sent with each request and each WebSocket upgrade, in this order.
    public var headers: [(name: String, value: String)] = []
    /// The header that tokens travel in, with HTTP requests.
    public var authorizationHeader = "Authorization"
    /// Addresses of the servers; nil to ask the base URL for them.
    public var location: ServerLocation?

    public init(id: String, baseURL: String) {
        self.id = id
        self.baseURL = baseURL
    }
}

/// Server addresses that need no discovery.
public struct ServerLocation: Hashable, Sendable {
    /// Such as `https://eu.example.com`.
    public var http: String
    /// Such as `wss://ws.eu.example.com`.
    public var webSocket: String

    public init(http: String, webSocket: String) {
        self.http = http
        self.webSocket = webSocket
    }
}

/// How long things may take (wire protocol, 11).
public struct SyncTimeouts: Hashable, Sendable {
    /// Of one HTTP request.
    public var request = Duration.seconds(60)
    /// Of a connection: name, TCP, TLS and upgrade together.
    public var connect = Duration.seconds(120)
    /// Between two PINGs.
    public var keepAlive = Duration.seconds(60)
    /// From a due PING to its PONG.
    public var pong = Duration.seconds(120)
    /// How long a connection outlives its last session.
    public var linger = Duration.seconds(30)
    /// A connection that comes back sooner uploads at once.
    public var fastReconnect = Duration.seconds(60)

    public init() {}
}

/// How the waits between attempts grow (wire protocol, 10.1).
public struct SyncBackoff: Hashable, Sendable {
    public var initial = Duration.seconds(1)
    public var maximum = Duration.seconds(300)
    public var multiplier = 2.0
    /// The largest part of a wait that chance takes off it, from 0 to 1.
    public var jitter = 0.25

    public init() {}
}

/// Which servers to trust, and how to prove who this client is. TLS is 1.2 or newer.
public struct TLSOptions: Hashable, Sendable {
    /// Certificates in PEM; nil for those of the system.
    public var authorityFile: String?
    /// False accepts any certificate: for tests only.
    public var verifiesServer = true

    public init() {}
}
