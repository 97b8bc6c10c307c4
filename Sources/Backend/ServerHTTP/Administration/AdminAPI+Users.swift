import ServerAccounts
import ServerConfig
import ServerStore

extension AdminAPI {
    private static let usersPerPage = 1000

    /// One page of users, by id.
    func users(of app: AppID, after user: String?) async throws -> [AppUserReport] {
        _ = try accounts.served(app)
        let users = try await accounts.store.read { snapshot in
            try snapshot.users(
                of: app,
                after: user.map { UserID($0) },
                limit: Self.usersPerPage
            )
        }
        return users.map(AppUserReport.init)
    }

    /// A disabled user cannot log in or refresh; its connections end at once (app services, 12.2).
    func setDisabled(_ isDisabled: Bool, _ user: UserID, of app: AppID) async throws {
        try await change(user, of: app) { transaction in
            try transaction.setDisabled(isDisabled, user: user, of: app)
        }
        if isDisabled {
            accounts.backplane.control(.user(user, of: app), .leave(reason: "user disabled"))
        }
    }

    func revokeSessions(of user: UserID, of app: AppID) async throws {
        try await change(user, of: app) { transaction in
            try transaction.revokeLoginSessions(ofUser: user, of: app)
        }
        accounts.backplane.control(.user(user, of: app), .leave(reason: "sessions revoked"))
    }

    func removeUser(_ user: UserID, of app: AppID) async throws {
        try await change(user, of: app) { transaction in
            try transaction.removeUser(user, of: app)
        }
        accounts.backplane.control(.user(user, of: app), .leave(reason: "user deleted"))
    }

    func keys(of app: AppID) async throws -> [KeyReport] {
        _ = try accounts.served(app)
        return try await accounts.store.read { snapshot in
            try snapshot.apiKeys(ofUser: nil, of: app).map { KeyReport($0) }
        }
    }

    func createKey(
        named name: String,
        for owner: UserID?,
        of app: AppID
    ) async throws -> KeyReport {
        guard try accounts.served(app).configuration.apiKey else {
            throw ServiceRefusal(
                .authProviderNotFound,
                "API keys are off; set apps.\(app).providers.api_key to true"
            )
        }
        let (key, secret) = try await accounts.createKey(named: name, for: owner, of: app)
        return KeyReport(key, secret)
    }

    /// A key of the operator or of a user. Existing sessions continue.
    func setKeyDisabled(_ isDisabled: Bool, _ id: String, of app: AppID) async throws {
        _ = try accounts.served(app)
        try await accounts.store.write(.accounts(app)) { transaction in
            guard try transaction.setDisabled(isDisabled, apiKey: id, of: app) else {
                throw ServiceRefusal(.apiKeyNotFound, "API key not found")
            }
        }
    }

    /// Removes a key of the operator or of a user: it allows no further log-in.
    func removeKey(_ id: String, of app: AppID) async throws {
        _ = try accounts.served(app)
        try await accounts.store.write(.accounts(app)) { transaction in
            guard try transaction.removeAPIKey(id, of: app) else {
                throw ServiceRefusal(.apiKeyNotFound, "API key not found")
            }
        }
    }

    private func change(
        _ user: UserID,
        of app: AppID,
        _ body: @escaping @Sendable (any StoreTransaction) throws -> Void
    ) async throws {
        _ = try accounts.served(app)
        try await accounts.store.write(.accounts(app)) { transaction in
            guard try transaction.user(user, of: app) != nil else {
                throw ServiceRefusal(.userNotFound, "user not found")
            }
            try body(transaction)
        }
    }
}
