import Changesets

/// Who may come in, as whom, and for how long: accounts, log-ins and tokens of every app
/// (app services, 4 to 10).
package struct Accounts: Sendable {
    package let apps = AppDirectory()
    let store: any ServerStore
    let tokens: TokenAuthority
    let hasher: PasswordHasher
    let loginGuard: LoginGuard
    let secrets: SecretReader
    /// Whose connections end when a user is gone.
    package let registry = SessionRegistry()
    let clock: WallClock
    let random: RandomSource

    /// Loads the apps' keys, and makes those that are missing. Apps that an operator has added to the
    /// store are served too; where the file declares one of the same name, the file counts.
    package init(
        apps: [AppConfiguration],
        store: any ServerStore,
        hasher: PasswordHasher = PasswordHasher(),
        secrets: SecretReader = SecretReader(environment: [:]),
        clock: WallClock,
        random: RandomSource
    ) async throws {
        self.store = store
        self.tokens = TokenAuthority(clock: clock)
        self.hasher = hasher
        self.secrets = secrets
        self.loginGuard = LoginGuard(clock: clock)
        self.clock = clock
        self.random = random
        for app in apps { try await serve(app, declaration: nil) }
        let declared = try await store.read { try $0.apps() }
        for record in declared where self.apps[record.id] == nil {
            guard let declaration = record.declaration else { continue }
            let app = try AppConfiguration(id: record.id, declaration: declaration)
            try await serve(app, declaration: declaration)
        }
    }

    /// Serves an app from now on; an app that the store does not know gets its keys.
    func serve(_ app: AppConfiguration, declaration: String?) async throws {
        let fresh = AppRecord(
            id: app.id,
            domainID: random.objectID(at: clock).description,
            keys: [
                SigningKey(id: Hexadecimal.text(of: random.bytes(4)), secret: random.bytes(32))
            ],
            declaration: declaration
        )
        let now = clock.millisecondsSince1970()
        let (record, isNew) = try await store.write { transaction in
            guard let known = try transaction.app(app.id) else {
                try transaction.insert(fresh, at: now)
                return (fresh, true)
            }
            if let declaration, known.declaration != declaration {
                try transaction.setDeclaration(declaration, of: app.id)
            }
            return (known, false)
        }
        var app = app
        if declaration != nil, record.rules != AccessRules() { app.access = record.rules }
        var externalTokens: ExternalTokens?
        if let jwt = app.jwt {
            externalTokens = try await ExternalTokens(jwt, of: app.id, secrets)
        }
        let schema = try app.schemaFile.map { path throws(DeclaredSchema.Unusable) in
            try DeclaredSchema.read(path)
        }
        await tokens.add(record.keys, of: app.id, areNew: isNew)
        apps.put(
            ServedApp(
                configuration: app,
                externalTokens: externalTokens,
                schema: schema,
                domainID: record.domainID,
                syncState: record.syncState,
                isFromFile: declaration == nil
            )
        )
    }

    /// The configuration of an app, which must be served.
    package func configuration(of app: AppID) throws(ServiceRefusal) -> AppConfiguration {
        try served(app).configuration
    }

    func served(_ app: AppID) throws(ServiceRefusal) -> ServedApp {
        guard let served = apps[app] else { throw .appNotFound }
        return served
    }
}
