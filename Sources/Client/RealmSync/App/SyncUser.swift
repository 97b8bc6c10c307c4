package import AppServices
import Logging
package import Scheduling
package import SyncClient
import SyncProtocol
import Synchronization

/// A user of an app: the log-in, and the connection that the user's realms share.
public final class SyncUser: Sendable {
    package let app: SyncApp
    /// Names the user in logs and in what this machine remembers.
    public let name: String
    package let session: UserSession
    package let endpoint: AppEndpoint
    /// Shared by all realms that are not given one of their own.
    package let connection: UserConnection

    package init(
        _ name: String,
        of app: SyncApp,
        registersAccount: Bool,
        credential: @escaping @Sendable () async throws(UserSession.Failure) -> Credential,
        report: @escaping @Sendable (UserNews) -> Void = { _ in },
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
        self.connection = Self.connection(name, app, endpoint, measured: measured)
    }

    /// Another connection of the same user, for one realm alone: it ends with its session.
    package func ownConnection(
        ofRealm realm: String,
        measured: @escaping @Sendable (NetworkQuality.Reading) -> Void = { _ in }
    ) -> UserConnection {
        Self.connection(name, app, endpoint, realm: realm, measured: measured)
    }

    private static func connection(
        _ user: String,
        _ app: SyncApp,
        _ endpoint: AppEndpoint,
        realm: String? = nil,
        measured: @escaping @Sendable (NetworkQuality.Reading) -> Void
    ) -> UserConnection {
        var logger = app.makeLogger("Sync.Client.Network")
        logger[metadataKey: "user"] = "\(user)"
        if let realm { logger[metadataKey: "realm"] = "\(realm)" }
        let (timeouts, backoff) = (app.options.timeouts, app.options.backoff)
        return UserConnection(
            endpoint: endpoint,
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

    /// A realm of this user.
    package func realm(
        _ options: RealmOptions,
        on connection: UserConnection? = nil,
        delegate: (any ResetDelegate)? = nil,
        report: @escaping @Sendable (RealmEvent) -> Void
    ) -> SyncedRealm {
        let backoff = app.options.backoff
        return SyncedRealm(
            RealmContext(
                options: options,
                appID: app.options.id,
                user: session,
                connection: connection ?? self.connection,
                opener: RealmOpener(
                    machineID: app.machine.machineID,
                    time: .continuous,
                    now: SyncApp.millisecondsSince1970,
                    logger: app.makeLogger("Sync.Client.Session")
                ),
                register: MetadataRealmRegister(database: app.database, realm: options.name),
                delegate: delegate,
                recoveredDirectory: app.recoveredDirectory,
                version: app.version,
                time: .continuous,
                now: SyncApp.millisecondsSince1970,
                report: report,
                logger: app.makeLogger("Agent.Realm")
            ),
            pauses: AttemptPauses(
                initial: backoff.initial,
                maximum: backoff.maximum,
                multiplier: backoff.multiplier
            )
        )
    }
}

// MARK: For other programs

extension SyncUser {
    /// - Parameter logIn: proves the user's identity when there is no token yet, or when the server no
    ///   longer accepts it.
    public convenience init(_ name: String, of app: SyncApp, logIn: LogInMethod) {
        self.init(
            name,
            of: app,
            registersAccount: logIn.registersAccount,
            credential: { () throws(UserSession.Failure) in logIn.credential }
        )
    }

    /// A realm of this user, which syncs while ``SyncedRealm/run()`` and ``run()`` do.
    public func realm(
        _ options: RealmOptions,
        delegate: (any ResetDelegate)? = nil
    ) -> SyncedRealm {
        realm(options, delegate: delegate, report: { _ in })
    }

    /// Keeps the user's connection up while a realm needs it, until the task is cancelled.
    public func run() async {
        await connection.run()
    }
}

/// How a user proves its identity (app services, 4.1).
public struct LogInMethod: Sendable, CustomStringConvertible {
    let credential: Credential
    var registersAccount = false

    /// A user that lives as long as this machine remembers it.
    public static let anonymous = LogInMethod(credential: .anonymous)

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

    public static func apiKey(_ key: String) -> LogInMethod {
        LogInMethod(credential: .apiKey(key))
    }

    /// A JSON Web Token that a third party has issued.
    public static func jwt(_ token: String) -> LogInMethod {
        LogInMethod(credential: .customToken(token))
    }

    /// The provider, never the secret.
    public var description: String { credential.description }
}
