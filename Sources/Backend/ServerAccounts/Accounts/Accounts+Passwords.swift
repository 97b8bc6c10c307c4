import Changesets
import ServerConfig
package import ServerStore
import Surroundings

/// Confirmation and password reset of accounts (app services, 6).
extension Accounts {
    /// Creates another token for a pending account; with `byCall`, the function decides again.
    package func sendConfirmation(
        of email: String,
        byCall: Bool,
        from address: String,
        in app: AppID
    ) async throws {
        let settings = try requireEmailPassword(app)
        func requireFunction() throws(AccountRefusal) {
            guard byCall == (settings.confirmationFunction != nil) else {
                throw byCall ? .noConfirmationFunction : .confirmedByFunction
            }
        }
        // Otherwise this refusal would tell of the account.
        if settings.hidesAccounts { try requireFunction() }
        try await hidingAccounts(settings) {
            let (name, account) = try await account(email, askedFrom: address, in: app)
            guard !account.isConfirmed else {
                throw AccountRefusal.alreadyConfirmed
            }
            try requireFunction()
            try await loginGuard.admitMail(to: name, of: app)
            try await beginConfirmation(of: name, isNew: false, settings, in: app)
        }
    }

    /// Creates a token for a new password, and sends it if there is a program for that.
    package func sendReset(of email: String, from address: String, in app: AppID) async throws {
        let settings = try requireEmailPassword(app)
        guard settings.resetFunction == nil else {
            throw AccountRefusal.resetByFunction
        }
        try await hidingAccounts(settings) {
            let (name, _) = try await account(email, askedFrom: address, in: app)
            try await loginGuard.admitMail(to: name, of: app)
            try await beginReset(of: name, settings, in: app)
        }
    }

    /// Runs a request whose refusal tells whether an account exists. In an app that hides that, the request
    /// seems to succeed instead.
    func hidingAccounts(
        _ settings: EmailPasswordConfiguration,
        _ request: () async throws -> Void
    ) async throws {
        do {
            try await request()
        } catch let refusal as AccountRefusal
            where settings.hidesAccounts && refusal.tellsOfAccounts
        {}
    }

    /// Confirms the account that a token was made for.
    package func confirm(_ id: String, _ token: String, from address: String, in app: AppID)
        async throws
    {
        try requireEmailPassword(app)
        guard id.utf8.count <= UserName.maximumSizeInBytes else {
            throw AccountRefusal.badAccountToken
        }
        try await requireToken(id, token, .confirm, from: address, in: app)
        let lifetime = try served(app).configuration.tokens.reset
        let now = clock.millisecondsSince1970()
        try await store.write(.accounts(app)) { transaction in
            let known = try Self.use(
                id,
                token,
                .confirm,
                of: app,
                at: now,
                lifetime: lifetime,
                transaction
            )
            try transaction.setConfirmed(known.name, of: app)
        }
    }

    /// Sets a new password; every device of the account must log in again.
    package func reset(
        _ id: String,
        _ token: String,
        to password: String,
        from address: String,
        in app: AppID
    ) async throws {
        let settings = try requireEmailPassword(app)
        guard id.utf8.count <= UserName.maximumSizeInBytes else {
            throw AccountRefusal.badAccountToken
        }
        try requireGood(password, settings)
        // Before the hash, which is expensive.
        try await requireToken(id, token, .reset, from: address, in: app)
        let hash = try await hasher.hash(password, from: address)
        let lifetime = try served(app).configuration.tokens.reset
        let now = clock.millisecondsSince1970()
        let user = try await store.write(.accounts(app)) { transaction in
            let known = try Self.use(
                id,
                token,
                .reset,
                of: app,
                at: now,
                lifetime: lifetime,
                transaction
            )
            return try Self.setPassword(hash, of: known.name, of: app, transaction)
        }
        endConnections(of: user, in: app)
    }

    /// Revokes the sessions of the account's user, if it has one; the caller ends its connections
    /// once that is stored.
    static func setPassword(
        _ hash: PasswordHash,
        of name: UserName,
        of app: AppID,
        _ transaction: any StoreTransaction
    ) throws -> UserID? {
        guard let account = try transaction.passwordAccount(name, of: app) else {
            throw AccountRefusal.badAccountToken
        }
        try transaction.setPassword(hash, of: name, of: app)
        let user = try transaction.user(
            identifiedBy: .emailPassword,
            account.identityID,
            of: app
        )
        if let user { try transaction.revokeLoginSessions(ofUser: user.id, of: app) }
        return user?.id
    }

    /// A thief of the old password must not keep an open connection.
    func endConnections(of user: UserID?, in app: AppID) {
        guard let user else { return }
        backplane.control(.user(user, of: app), .leave(reason: "password reset"))
    }

    /// For the operator: tokens that are not delivered.
    package func pendingTokens(of app: AppID) async throws -> [AccountToken] {
        _ = try served(app)
        return try await store.read { try $0.accountTokens(of: app) }
    }

    /// The operator knows the owner, and confirms without a token.
    package func confirm(_ email: String, in app: AppID) async throws {
        let (name, _) = try await account(email, in: app)
        try await store.write(.accounts(app)) { transaction in
            try transaction.setConfirmed(name, of: app)
            try transaction.removeAccountToken(.confirm, of: name, of: app)
        }
    }

    func makeToken(
        _ purpose: AccountToken.Purpose,
        for name: UserName,
        in app: AppID
    ) async throws -> AccountToken {
        let token = AccountToken(
            name: name,
            purpose: purpose,
            id: random.objectID(at: clock).description,
            token: Hexadecimal.text(of: random.bytes(32)),
            createdAt: clock.millisecondsSince1970()
        )
        // It replaces an earlier one.
        try await store.write(.accounts(app)) { try $0.put(token, of: app) }
        return token
    }

    /// The token has 256 bits, so wrong ones never block a right one.
    private func requireToken(
        _ id: String,
        _ token: String,
        _ purpose: AccountToken.Purpose,
        from address: String,
        in app: AppID
    ) async throws {
        let now = clock.millisecondsSince1970()
        let known = try await store.read { try $0.accountToken(id, of: app) }
        let lifetime = try served(app).configuration.tokens.reset
        guard let known, known.purpose == purpose,
            known.isGood(token, at: now, lifetime: lifetime)
        else {
            try await loginGuard.recordWrongToken(from: address)
            throw AccountRefusal.badAccountToken
        }
    }

    private static func use(
        _ id: String,
        _ token: String,
        _ purpose: AccountToken.Purpose,
        of app: AppID,
        at now: Int64,
        lifetime: Int64,
        _ transaction: any StoreTransaction
    ) throws -> AccountToken {
        guard let known = try transaction.accountToken(id, of: app), known.purpose == purpose,
            known.isGood(token, at: now, lifetime: lifetime)
        else { throw AccountRefusal.badAccountToken }
        try transaction.removeAccountToken(purpose, of: known.name, of: app)
        return known
    }

    /// Requests for unknown names count as guesses.
    private func account(
        _ email: String,
        askedFrom address: String,
        in app: AppID
    ) async throws -> (UserName, PasswordAccount) {
        guard email.utf8.count <= UserName.maximumSizeInBytes else {
            throw AccountRefusal.userNotFound
        }
        let admission = try await loginGuard.admit(attempt(email, from: address, in: app))
        let found = try await account(email, in: app)
        await loginGuard.forgive(admission)
        return found
    }

    /// The stored form of the name, or every spelling would be counted separately.
    func attempt(_ email: String, from address: String, in app: AppID) -> LoginGuard.Attempt {
        LoginGuard.Attempt(address: address, name: "\(app) \(UserName(email)?.rawValue ?? email)")
    }

    func account(
        _ email: String,
        in app: AppID
    ) async throws -> (UserName, PasswordAccount) {
        guard let name = UserName(email) else { throw AccountRefusal.userNotFound }
        let account = try await store.read { try $0.passwordAccount(name, of: app) }
        guard let account else { throw AccountRefusal.userNotFound }
        return (name, account)
    }

    func requireGood(
        _ password: String,
        _ settings: EmailPasswordConfiguration
    ) throws(AccountRefusal) {
        let maximum = EmailPasswordConfiguration.maximumLength
        guard (settings.minimumLength...maximum).contains(password.unicodeScalars.count),
            PasswordCrypt.canHash(password)
        else {
            throw .badPassword(settings.minimumLength...maximum)
        }
    }
}
