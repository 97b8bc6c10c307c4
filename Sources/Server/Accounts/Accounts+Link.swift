import Logging

extension Accounts {
    /// Gives the token's user another way to log in (app services, 5). What it issues belongs to the
    /// session that asks, and ends with it.
    func link(
        _ credential: Credential,
        from address: String,
        to token: String?,
        of app: AppID
    ) async throws -> LoginAnswer {
        let linkFault = ServiceRefusal.invalidSession("linking needs the access token of a user")
        guard token != nil else { throw linkFault }
        let (claims, served, user) = try await authenticate(
            token,
            is: .access,
            app: app,
            requiresSession: true
        )
        if case .anonymous = credential {
            throw ServiceRefusal(.badRequest, "an anonymous identity cannot be linked")
        }
        let proven = try await prove(credential, from: address, .none, served)
        let digest = SessionDigest(ofSession: claims.sessionID)
        let session = try await store.write { transaction in
            // It may have been revoked while the credential was checked.
            let session = try Self.live(try transaction.loginSession(digest, of: app), of: user.id)
            let identity = proven.identity
            let known =
                if let owner = proven.owner {
                    // A key is its owner's, whether or not it was ever used.
                    try transaction.user(owner, of: app)
                } else {
                    try transaction.user(identifiedBy: identity.provider, identity.id, of: app)
                }
            if let known {
                // Not 401: applications take that for a token that has expired.
                guard known.id == user.id else {
                    throw ServiceRefusal(
                        .accountNameInUse,
                        "a user already exists with the specified provider"
                    )
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
        // The refresh token stays what it is for clients that keep it; others get one as good.
        return try await answer(in: session, named: claims.sessionID, proven.identity, served)
    }

    /// Removes the token's user with everything that is known of it; what it has synced stays
    /// (app services, 7.4).
    func deleteUser(_ token: String?, app: AppID? = nil) async throws {
        let (_, served, user) = try await authenticate(
            token,
            is: .access,
            app: app,
            requiresSession: true
        )
        try await store.write { try $0.removeUser(user.id, of: served.id) }
        logger.notice(
            "a user has deleted its account",
            metadata: ["app": "\(served.id)", "user": "\(user.id)"]
        )
        registry.ask(served.id, user.id, to: .leave(reason: "user deleted"))
    }
}
