import Changesets
import Coordination
package import Logging
package import ServerConfig
package import ServerStore
package import Surroundings

/// Accounts, log-ins and tokens of every app (app services, 4 to 10).
package struct Accounts: Sendable {
    package let apps = AppDirectory()
    package let store: any Store
    let tokens: TokenAuthority
    let hasher: PasswordHasher
    let loginGuard: LoginGuard
    let secrets: SecretReader
    let hooks: HookRunner
    let logger: Logger
    /// Ends the connections of removed users.
    package let backplane: any Backplane
    let clock: WallClock
    let random: RandomSource
    /// Of declarations, by administrators and by other processes.
    let changes = Turns<OrderOfArrival>()

    /// Loads the apps' keys, and creates missing ones. Also serves apps that an operator has added
    /// to the store. If the file declares one of the same name, the file has precedence.
    package init(
        apps: [ServedAppConfiguration],
        store: any Store,
        backplane: any Backplane = InProcessBackplane(),
        hasher: PasswordHasher = PasswordHasher(),
        secrets: SecretReader = SecretReader(environment: [:]),
        clock: WallClock,
        random: RandomSource,
        comparisonsPerMinute: Int = ServerLimits.standard.comparisonsPerMinute,
        logger: Logger = Logger(label: "Server")
    ) async throws {
        self.store = store
        self.backplane = backplane
        self.tokens = TokenAuthority(clock: clock)
        self.hasher = hasher
        self.secrets = secrets
        self.loginGuard = LoginGuard(
            clock: clock,
            backplane: backplane,
            comparisonsPerMinute: comparisonsPerMinute
        )
        self.hooks = HookRunner(logger: logger)
        self.logger = logger
        self.clock = clock
        self.random = random
        for app in apps { try await serve(app, declaration: nil) }
        let declared = try await store.read { try $0.apps() }
        for record in declared where self.apps[record.id] == nil {
            guard let declaration = record.declaration else { continue }
            let app = try ServedAppConfiguration(id: record.id, declaration: declaration)
            try await serve(app, declaration: declaration)
        }
    }

    /// Serves an app from now on.
    package func serve(_ app: ServedAppConfiguration, declaration: String?) async throws {
        await serve(try await prepare(app, declaration: declaration))
    }

    /// Stores the declaration of an app in place of an earlier one, and serves the app from now on.
    package func declare(
        _ app: ServedAppConfiguration,
        as declaration: String
    ) async throws {
        try await changes.take {
            await serve(try await prepare(app, declaration: declaration, isNew: true))
        }
    }

    /// Prepares everything that an app needs, without effect on clients. An app that is new to the
    /// store gets its keys.
    ///
    /// - Parameters:
    ///   - declaration: of an app of the store; nil for one of the configuration file.
    ///   - isNew: whether the declaration is an administrator's new one. One that was read before is not stored: it
    ///     may be older than what another process has stored since.
    package func prepare(
        _ app: ServedAppConfiguration,
        declaration: String?,
        isNew: Bool = false
    ) async throws -> PreparedApp {
        var externalTokens: ExternalTokens?
        if let jwt = app.jwt {
            externalTokens = try await ExternalTokens(jwt, of: app.id, secrets)
        }
        let schema = try app.schemaFile.map { path throws(AppSchemaFile.Unusable) in
            try AppSchemaFile.read(path)
        }
        let (record, areKeysNew) = try await record(
            of: app.id,
            declaration: declaration,
            replacesEarlier: isNew
        )
        var app = app
        if declaration != nil, record.rules != AccessRules() { app.use(record.rules) }
        return PreparedApp(
            served: ServedApp(
                configuration: app,
                externalTokens: externalTokens,
                schema: schema,
                domainID: record.domainID,
                fingerprint: AppFingerprint.text(app, schema: schema, keys: record.keys),
                syncState: record.syncState,
                isFromFile: declaration == nil
            ),
            keys: record.keys,
            areKeysNew: areKeysNew
        )
    }

    private func record(
        of app: AppID,
        declaration: String?,
        replacesEarlier: Bool
    ) async throws -> (record: AppRecord, isNew: Bool) {
        let fresh = AppRecord(
            id: app,
            domainID: random.objectID(at: clock).description,
            keys: [
                SigningKey(id: Hexadecimal.text(of: random.bytes(4)), secret: random.bytes(32))
            ],
            declaration: declaration
        )
        let now = clock.millisecondsSince1970()
        return try await store.write(.app(app)) { transaction in
            guard let known = try transaction.app(app) else {
                // Another process has deleted it since it was read.
                if declaration != nil, !replacesEarlier { throw AccountRefusal.appNotFound }
                try transaction.insert(fresh, at: now)
                return (fresh, true)
            }
            if replacesEarlier, let declaration, known.declaration != declaration {
                try transaction.setDeclaration(declaration, of: app)
            }
            return (known, false)
        }
    }

    /// Serves a prepared app; one that is already served keeps its keys and the state of its sync.
    package func serve(_ app: PreparedApp) async {
        var served = app.served
        if let current = apps[served.id] {
            served.syncState = current.syncState
        } else {
            await tokens.add(app.keys, of: served.id, areNew: app.areKeysNew)
        }
        apps.put(served)
    }

    /// No token of the app is valid any more; the caller has taken it out of the directory.
    package func forgetKeys(of app: AppID) async {
        await tokens.remove(app)
    }

    /// The configuration of an app, which must be served.
    package func configuration(of app: AppID) throws(AccountRefusal) -> ServedAppConfiguration {
        try served(app).configuration
    }

    /// The app with this id, or the refusal of calls to it.
    package func served(_ app: AppID) throws(AccountRefusal) -> ServedApp {
        guard let served = apps[app] else { throw .appNotFound }
        return served
    }
}
