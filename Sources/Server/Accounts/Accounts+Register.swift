import Changesets

extension Accounts {
    /// Creates a confirmed account; its user comes with the first log-in (app services, 6).
    @discardableResult
    func register(
        _ credential: EmailPasswordCredential,
        in app: AppID
    ) async throws -> PasswordAccount {
        let settings = try requireEmailPassword(app)
        guard let name = UserName(credential.name) else {
            throw ServiceRefusal(.badRequest, "invalid username: not an e-mail address")
        }
        let maximum = EmailPasswordConfiguration.maximumLength
        guard (settings.minimumLength...maximum).contains(credential.password.unicodeScalars.count),
            PasswordHasher.canHash(credential.password)
        else {
            throw ServiceRefusal(
                .badRequest,
                "password must be between \(settings.minimumLength) and \(maximum) characters"
            )
        }
        let inUse = ServiceRefusal(.accountNameInUse, "name already in use")
        // The hash is dear: a name that is taken is refused before it.
        guard try await store.read({ try $0.passwordAccount(name, of: app) }) == nil else {
            throw inUse
        }
        let account = PasswordAccount(
            identityID: random.objectID(at: clock).description,
            hash: try await hasher.hash(credential.password)
        )
        let now = clock.millisecondsSince1970()
        try await store.write { transaction in
            guard try transaction.passwordAccount(name, of: app) == nil else { throw inUse }
            try transaction.insert(account, named: name, of: app, at: now)
        }
        return account
    }

    /// Accounts are confirmed as they are made, so there is nothing to send (app services, 6.1).
    func refuseConfirmation(of email: String, in app: AppID) async throws -> ServiceRefusal {
        try requireEmailPassword(app)
        let name = UserName(email)
        let isKnown = try await store.read { snapshot in
            guard let name else { return false }
            return try snapshot.passwordAccount(name, of: app) != nil
        }
        return isKnown
            ? ServiceRefusal(.userAlreadyConfirmed, "already confirmed")
            : ServiceRefusal(.userNotFound, "user not found")
    }

    @discardableResult
    func requireEmailPassword(
        _ app: AppID
    ) throws(ServiceRefusal) -> EmailPasswordConfiguration {
        guard let settings = try served(app).configuration.emailPassword else {
            throw .providerNotFound(ProviderType.emailPassword.rawValue)
        }
        return settings
    }
}
