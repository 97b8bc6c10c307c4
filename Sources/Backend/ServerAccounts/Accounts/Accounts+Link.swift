import Logging
package import ServerStore

extension Accounts {
    /// Gives the token's user another way to log in (app services, 5). The issued tokens belong to
    /// the calling session, and end with it.
    package func link(
        _ credential: LoginCredential,
        from address: String,
        to token: String?,
        of app: AppID
    ) async throws -> IssuedTokens {
        guard token != nil else { throw AccountRefusal.invalidSession(.linkingNeedsToken) }
        let (claims, served, user) = try await authenticate(
            token,
            is: .access,
            app: app,
            requiresSession: true
        )
        if case .anonymous = credential {
            throw AccountRefusal.anonymousLink
        }
        let proven = try await prove(credential, from: address, .none, served)
        let digest = SessionDigest(ofSession: claims.sessionID)
        let session = try await store.write(.accounts(app)) { transaction in
            // It may have been revoked while the credential was checked.
            let session = try Self.live(try transaction.loginSession(digest, of: app), of: user.id)
            let identity = proven.identity
            let known =
                if let owner = proven.owner {
                    // A key belongs to its owner, even if it was never used.
                    try transaction.user(owner, of: app)
                } else {
                    try transaction.user(identifiedBy: identity.provider, identity.id, of: app)
                }
            if let known {
                // Not 401: applications treat that as an expired token.
                guard known.id == user.id else {
                    throw AccountRefusal.identityInUse
                }
            } else {
                try transaction.insert(identity, for: user.id, of: app)
            }
            if !proven.data.isEmpty {
                try transaction.setData(
                    user.data.merging(proven.data) { $1 },
                    ofUser: user.id,
                    of: app
                )
            }
            return session
        }
        // Clients may keep their refresh token; others get an equivalent one.
        return try await issuedTokens(
            in: session,
            named: claims.sessionID,
            proven.identity,
            served
        )
    }

    /// Removes the token's user with all its records; synced data stays (app services, 7.4).
    package func deleteUser(_ token: String?, app: AppID? = nil) async throws {
        let (_, served, user) = try await authenticate(
            token,
            is: .access,
            app: app,
            requiresSession: true
        )
        try await store.write(.accounts(served.id)) { try $0.removeUser(user.id, of: served.id) }
        logger.notice(
            "a user has deleted its account",
            metadata: ["app": "\(served.id)", "user": "\(user.id)"]
        )
        backplane.control(.user(user.id, of: served.id), .leave(reason: "user deleted"))
    }
}
