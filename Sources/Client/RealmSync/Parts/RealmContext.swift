package import AppServices
package import Logging
package import SyncClient
package import SyncProtocol

/// Settings and services that the parts of one realm share.
package struct RealmContext: Sendable {
    package let options: RealmOptions
    package let appID: String
    package let user: UserSession
    /// Carries the realm as it is configured.
    package let connection: UserConnection
    /// Carries it after the server has changed the app to the other kind of sync.
    package let otherConnection: UserConnection
    let opener: RealmOpener
    let register: any RealmRegister
    /// Nil if no handler observes resets.
    let delegate: (any ResetDelegate)?
    /// Directory for the copies and discarded changes that resets keep.
    let recoveredDirectory: String
    /// The program's version, which resets store: a newer one may succeed where an older one
    /// failed.
    let version: String
    package let time: SyncTime
    /// Milliseconds since 1970.
    package let now: @Sendable () -> Int64
    let events: RealmEvents
    let logger: Logger
    /// Of client resets.
    let resetLogger: Logger

    package init(
        options: RealmOptions,
        appID: String,
        user: UserSession,
        connection: UserConnection,
        otherConnection: UserConnection? = nil,
        opener: RealmOpener,
        register: any RealmRegister,
        delegate: (any ResetDelegate)? = nil,
        recoveredDirectory: String,
        version: String,
        time: SyncTime,
        now: @escaping @Sendable () -> Int64,
        report: @escaping @Sendable (RealmEvent) -> Void = { _ in },
        logger: Logger,
        resetLogger: Logger
    ) {
        self.options = options
        self.appID = appID
        self.user = user
        self.connection = connection
        self.otherConnection = otherConnection ?? connection
        self.opener = opener
        self.register = register
        self.delegate = delegate
        self.recoveredDirectory = options.reset.recoveryDirectory ?? recoveredDirectory
        self.version = version
        self.time = time
        self.now = now
        self.events = RealmEvents(report)
        var logger = logger
        logger[metadataKey: "realm"] = "\(options.name)"
        self.logger = logger
        var resetLogger = resetLogger
        resetLogger[metadataKey: "realm"] = "\(options.name)"
        self.resetLogger = resetLogger
    }

    /// The connection for a realm in its present kind of sync.
    package func connection(of client: RealmClient) -> UserConnection {
        connection(for: client.mode)
    }

    package func connection(for mode: SyncMode) -> UserConnection {
        let configured: SyncMode = options.isFlexible ? .flexible : .partitionBased
        return mode == configured ? connection : otherConnection
    }
}
