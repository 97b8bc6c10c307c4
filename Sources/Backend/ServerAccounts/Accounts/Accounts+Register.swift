import Changesets
import ServerConfig
package import ServerStore
import Surroundings

extension Accounts {
    /// Creates an account; the first log-in creates its user (app services, 6).
    ///
    /// - Parameter address: the client's address; nil for the operator, whose accounts are
    ///   confirmed at once.
    @discardableResult
    package func register(
        _ credential: EmailPasswordCredential,
        from address: String? = nil,
        in app: AppID
    ) async throws -> PasswordAccount {
        let settings = try requireEmailPassword(app)
        guard let name = UserName(credential.name) else {
            throw AccountRefusal.badUserName
        }
        try requireGood(credential.password, settings)
        if let address { try await loginGuard.admitNewUser(from: address) }
        // The hash is expensive: refuse an existing name first.
        if let known = try await store.read({ try $0.passwordAccount(name, of: app) }) {
            guard settings.hidesAccounts, address != nil, !settings.confirmsAtOnce else {
                throw AccountRefusal.nameInUse
            }
            // As much work as for a new name.
            _ = try await hasher.hash(credential.password, from: address ?? "")
            return known
        }
        let account = PasswordAccount(
            identityID: random.objectID(at: clock).description,
            hash: try await hasher.hash(credential.password, from: address ?? ""),
            isConfirmed: address == nil || settings.confirmsAtOnce
        )
        let now = clock.millisecondsSince1970()
        try await store.write(.accounts(app)) { transaction in
            guard try transaction.passwordAccount(name, of: app) == nil else {
                throw AccountRefusal.nameInUse
            }
            try transaction.insert(account, named: name, of: app, at: now)
        }
        if !account.isConfirmed {
            try await beginConfirmation(of: name, isNew: true, settings, in: app)
        }
        return account
    }

    @discardableResult
    func requireEmailPassword(
        _ app: AppID
    ) throws(AccountRefusal) -> EmailPasswordConfiguration {
        guard let settings = try served(app).configuration.emailPassword else {
            throw .providerOff(.emailPassword)
        }
        return settings
    }
}
