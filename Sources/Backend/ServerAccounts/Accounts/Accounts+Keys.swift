import Changesets
import ServerConfig
package import ServerStore
import Surroundings

/// API keys: those that users create for their machines, and those of the operator (app services,
/// 4.6 and 7.5).
extension Accounts {
    /// Creates a key for the user of a token; the secret is shown this once.
    package func createKey(
        named name: String,
        by token: String?,
        app: AppID? = nil
    ) async throws -> (APIKey, APIKeySecret) {
        let (_, served, user) = try await authenticate(token, is: .refresh, app: app)
        try requireKeys(served)
        guard user.identities.contains(where: { $0.provider != .anonymous }) else {
            throw AccountRefusal.anonymousUserOfKey
        }
        return try await createKey(named: name, for: user.id, of: served.id)
    }

    /// Without an owner the key has a user of its own.
    package func createKey(
        named name: String,
        for owner: UserID?,
        of app: AppID
    ) async throws -> (APIKey, APIKeySecret) {
        guard APIKey.isName(name) else {
            throw AccountRefusal.badKeyName
        }
        let key = APIKey(id: random.objectID(at: clock).description, owner: owner, name: name)
        let secret = APIKeySecret.random(random)
        let digest = secret.digest
        let now = clock.millisecondsSince1970()
        try await store.write(.accounts(app)) { transaction in
            if let owner, try transaction.user(owner, of: app) == nil {
                throw AccountRefusal.userNotFound
            }
            guard
                try !transaction.apiKeys(ofUser: owner, of: app).contains(where: { $0.name == name }
                )
            else { throw AccountRefusal.keyExists }
            try transaction.insert(key, digest: digest, of: app, at: now)
        }
        return (key, secret)
    }

    /// The keys of the user of a token, by id.
    package func keys(of token: String?, app: AppID? = nil) async throws -> [APIKey] {
        let (_, served, user) = try await authenticate(token, is: .refresh, app: app)
        try requireKeys(served)
        return try await store.read { try $0.apiKeys(ofUser: user.id, of: served.id) }
    }

    /// One key of the user of a token. Throws `AccountRefusal.keyNotFound` for any other.
    package func key(_ id: String, of token: String?, app: AppID? = nil) async throws -> APIKey {
        guard let key = try await keys(of: token, app: app).first(where: { $0.id == id }) else {
            throw AccountRefusal.keyNotFound
        }
        return key
    }

    /// Affects later log-ins, not existing sessions.
    package func setKey(
        _ id: String,
        disabled isDisabled: Bool,
        of token: String?,
        app: AppID? = nil
    ) async throws {
        let (_, served, _) = try await authenticate(token, is: .refresh, app: app)
        _ = try await key(id, of: token, app: app)
        try await store.write(.accounts(served.id)) { transaction in
            _ = try transaction.setDisabled(isDisabled, apiKey: id, of: served.id)
        }
    }

    /// The key allows no further log-in; existing sessions continue.
    package func removeKey(_ id: String, of token: String?, app: AppID? = nil) async throws {
        let (_, served, _) = try await authenticate(token, is: .refresh, app: app)
        _ = try await key(id, of: token, app: app)
        _ = try await store.write(.accounts(served.id)) { try $0.removeAPIKey(id, of: served.id) }
    }

    private func requireKeys(_ app: ServedApp) throws(AccountRefusal) {
        guard app.configuration.apiKey else {
            throw .providerOff(.apiKey)
        }
    }
}
