import Changesets

/// Who may come in, as whom, and for how long: accounts, log-ins and tokens of every app
/// (app services, 4 to 10).
package struct Accounts: Sendable {
    let apps: [AppID: ServedApp]
    let store: any ServerStore
    let tokens: TokenAuthority
    let hasher: PasswordHasher
    let loginGuard: LoginGuard
    let clock: WallClock
    let random: RandomSource

    /// An app that is configured, with what the store knows of it.
    struct ServedApp {
        let configuration: AppConfiguration
        let domainID: String

        /// A provider's id is an ornament of profiles; it follows from the app's.
        func providerID(_ provider: ProviderType) -> String {
            let digest = SessionDigest(ofSession: "\(domainID) \(provider.rawValue)")
            return Hexadecimal.text(of: digest.bytes.prefix(12))
        }
    }

    /// Loads the apps' keys, and makes those that are missing.
    package init(
        apps: [AppConfiguration],
        store: any ServerStore,
        hasher: PasswordHasher = PasswordHasher(),
        clock: WallClock,
        random: RandomSource
    ) async throws {
        let tokens = TokenAuthority(clock: clock)
        var served: [AppID: ServedApp] = [:]
        for app in apps {
            let (record, isNew) = try await Self.record(of: app.id, in: store, clock, random)
            await tokens.add(record.keys, of: app.id, areNew: isNew)
            served[app.id] = ServedApp(configuration: app, domainID: record.domainID)
        }
        self.apps = served
        self.store = store
        self.tokens = tokens
        self.hasher = hasher
        self.loginGuard = LoginGuard(clock: clock)
        self.clock = clock
        self.random = random
    }

    private static func record(
        of app: AppID,
        in store: any ServerStore,
        _ clock: WallClock,
        _ random: RandomSource
    ) async throws -> (AppRecord, isNew: Bool) {
        let fresh = AppRecord(
            id: app,
            domainID: random.objectID(at: clock).description,
            keys: [
                SigningKey(id: Hexadecimal.text(of: random.bytes(4)), secret: random.bytes(32))
            ]
        )
        return try await store.write { transaction in
            if let known = try transaction.app(app) { return (known, false) }
            try transaction.insert(fresh, at: clock.millisecondsSince1970())
            return (fresh, true)
        }
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
