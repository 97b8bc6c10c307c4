import Config
import RealmSync
import Settings

extension AppOptions {
    /// Options of a configured app; `ServerAccess` says how its servers are reached.
    init(_ configuration: AppConfiguration) {
        self.init(id: configuration.appID, baseURL: configuration.baseURL.description)
        timeouts = SyncTimeouts(configuration.timeouts)
        backoff = SyncBackoff(configuration.backoff)
        authorizationHeader = configuration.authorizationHeader
        location = configuration.location.map {
            ServerLocation(http: $0.http.description, webSocket: $0.webSocket.description)
        }
    }
}

extension SyncTimeouts {
    fileprivate init(_ configuration: TimeoutConfiguration) {
        self.init()
        request = configuration.request
        connect = configuration.connect
        keepAlive = configuration.keepAlive
        pong = configuration.pong
        linger = configuration.linger
        fastReconnect = configuration.fastReconnect
    }
}

extension SyncBackoff {
    fileprivate init(_ configuration: BackoffConfiguration) {
        self.init()
        initial = configuration.initial
        maximum = configuration.maximum
        multiplier = configuration.multiplier
        jitter = configuration.jitter
    }
}
