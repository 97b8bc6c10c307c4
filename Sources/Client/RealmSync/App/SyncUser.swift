package import AppServices
import Logging
package import Scheduling
package import SyncClient
import SyncProtocol
import Synchronization

/// A user of an app: the log-in, and the connections that the user's realms share.
public final class SyncUser: Sendable {
    package let app: SyncApp
    /// The user's name in logs and in this machine's records.
    public let name: String
    package let session: UserSession
    package let endpoint: AppEndpoint
    /// Shared by all realms of partitions without a connection of their own.
    package let connection: UserConnection
    /// The same for realms of flexible sync.
    package let flexibleConnection: UserConnection

    package init(
        _ name: String,
        of app: SyncApp,
        registersAccount: Bool,
        credential: @escaping @Sendable () async throws(UserSession.Failure) -> Credential,
        report: @escaping @Sendable (LogInEvent) -> Void = { _ in },
        measured: @escaping @Sendable (NetworkQuality.Reading) -> Void = { _ in }
    ) {
        self.app = app
        self.name = name
        self.session = UserSession(
            client: app.client,
            store: MetadataAccountStore(
                database: app.database,
                user: name,
                appID: app.options.id,
                now: SyncApp.secondsSince1970
            ),
            registersAccount: registersAccount,
            credential: credential,
            now: SyncApp.secondsSince1970,
            report: report
        )
        self.endpoint = AppEndpoint(
            client: app.client,
            user: session,
            webSocket: app.webSocket,
            headers: app.headers
        )
        self.connection = Self.connection(name, app, endpoint, .partitionBased, measured: measured)
        self.flexibleConnection = Self.connection(
            name,
            app,
            endpoint,
            .flexible,
            measured: measured
        )
    }

    /// The shared connections for a realm: for its configured kind of sync, and for the other.
    package func sharedConnections(for options: RealmOptions) -> RealmConnections {
        let both = RealmConnections(configured: connection, other: flexibleConnection)
        return options.isFlexible ? both.swapped : both
    }

    /// Other connections of the same user, for one realm alone; they close when its session ends.
    package func ownConnections(
        of options: RealmOptions,
        measured: @escaping @Sendable (NetworkQuality.Reading) -> Void = { _ in }
    ) -> RealmConnections {
        func connection(_ mode: SyncMode) -> UserConnection {
            Self.connection(name, app, endpoint, mode, realm: options.name, measured: measured)
        }
        let both = RealmConnections(
            configured: connection(.partitionBased),
            other: connection(.flexible)
        )
        return options.isFlexible ? both.swapped : both
    }

    private static func connection(
        _ user: String,
        _ app: SyncApp,
        _ endpoint: AppEndpoint,
        _ mode: SyncMode,
        realm: String? = nil,
        measured: @escaping @Sendable (NetworkQuality.Reading) -> Void
    ) -> UserConnection {
        var logger = app.makeLogger("Sync.Client.Network")
        logger[metadataKey: "user"] = "\(user)"
        if let realm { logger[metadataKey: "realm"] = "\(realm)" }
        let (timeouts, backoff) = (app.options.timeouts, app.options.backoff)
        return UserConnection(
            endpoint: endpoint,
            mode: mode,
            timing: ConnectionTiming(
                pingPeriod: timeouts.keepAlive,
                pongTimeout: timeouts.pong,
                // No other realm could need the connection of one realm alone.
                linger: realm == nil ? timeouts.linger : .zero,
                fastReconnectLimit: timeouts.fastReconnect
            ),
            reconnect: .init(
                initial: backoff.initial,
                maximum: backoff.maximum,
                multiplier: backoff.multiplier,
                jitter: backoff.jitter
            ),
            time: .continuous,
            random: SystemRandomNumberGenerator(),
            logger: logger,
            measured: measured
        )
    }

    private func logger(_ category: String) -> Logger {
        var logger = app.makeLogger(category)
        logger[metadataKey: "user"] = "\(name)"
        return logger
    }

    /// A realm of this user.
    package func realm(
        _ options: RealmOptions,
        on connections: RealmConnections? = nil,
        delegate: (any ResetDelegate)? = nil,
        report: @escaping @Sendable (RealmEvent) -> Void
    ) -> SyncedRealm {
        let backoff = app.options.backoff
        let connections = connections ?? sharedConnections(for: options)
        return SyncedRealm(
            RealmContext(
                options: options,
                appID: app.options.id,
                user: session,
                connection: connections.configured,
                otherConnection: connections.other,
                opener: RealmOpener(
                    machineID: app.machine.machineID,
                    time: .continuous,
                    now: SyncApp.millisecondsSince1970,
                    logs: RealmLogs(logger)
                ),
                register: MetadataRealmRegister(database: app.database, realm: options.name),
                delegate: delegate,
                recoveredDirectory: app.recoveredDirectory,
                version: app.version,
                time: .continuous,
                now: SyncApp.millisecondsSince1970,
                report: report,
                logger: logger("Agent.Realm"),
                resetLogger: logger("Sync.Client.Reset")
            ),
            pauses: AttemptPauses(
                initial: backoff.initial,
                maximum: backoff.maximum,
                multiplier: backoff.multiplier
            )
        )
    }
}

/// The connections of a realm.
package struct RealmConnections: Sendable {
    /// For the configured kind of sync.
    package let configured: UserConnection
    /// For the kind to which the server may change the app (flexible sync, 16.1).
    package let other: UserConnection

    var swapped: RealmConnections { RealmConnections(configured: other, other: configured) }
}

// MARK: For other programs

extension SyncUser {
    /// A user that logs in when its first realm needs a token.
    ///
    /// - Parameters:
    ///   - name: identifies the user in this machine's records, so that the next process finds its
    ///     tokens.
    ///   - logIn: proves the user's identity if there is no token yet, or the server no longer accepts
    ///     it.
    public convenience init(_ name: String, of app: SyncApp, logIn: LogInMethod) {
        self.init(
            name,
            of: app,
            registersAccount: logIn.registersAccount,
            credential: { () throws(UserSession.Failure) in logIn.credential }
        )
    }

    /// A realm of this user. It syncs while both ``SyncedRealm/run()`` and ``run()`` are running.
    ///
    /// - Parameter delegate: consulted about client resets; nil for the default handling.
    public func realm(
        _ options: RealmOptions,
        delegate: (any ResetDelegate)? = nil
    ) -> SyncedRealm {
        realm(options, delegate: delegate, report: { _ in })
    }

    /// Keeps the user's connections open while realms need them. Returns when the task is cancelled; call
    /// it once.
    public func run() async {
        async let flexible: Void = flexibleConnection.run()
        await connection.run()
        await flexible
    }
}

/// A user's proof of identity (app services, 4.1).
public struct LogInMethod: Sendable, CustomStringConvertible {
    let credential: Credential
    var registersAccount = false

    /// A new user without credentials. It is lost with this machine's records.
    public static let anonymous = LogInMethod(credential: .anonymous)

    /// An account with email address and password.
    ///
    /// - Parameter registers: creates the account if the server does not know it.
    public static func emailPassword(
        _ email: String,
        _ password: String,
        registers: Bool = false
    ) -> LogInMethod {
        LogInMethod(
            credential: .emailPassword(email: email, password: password),
            registersAccount: registers
        )
    }

    /// An API key of a user.
    public static func apiKey(_ key: String) -> LogInMethod {
        LogInMethod(credential: .apiKey(key))
    }

    /// A JSON Web Token of a third party.
    public static func jwt(_ token: String) -> LogInMethod {
        LogInMethod(credential: .customToken(token))
    }

    /// The provider, never the secret.
    public var description: String { credential.description }
}
