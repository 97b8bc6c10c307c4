import JSON
import Logging
import ServerConfig
package import ServerStore
import Surroundings
import Versions

extension Accounts {
    /// A new access token; the refresh token is unchanged (app services, 7.2).
    package func refresh(_ token: String?, app: AppID? = nil) async throws -> String {
        let (claims, served, _) = try await authenticate(token, is: .refresh, app: app)
        return try await accessToken(for: claims, served)
    }

    /// The user of a token, with the app that it is a user of (app services, 7.1).
    package func profile(_ token: String?, app: AppID? = nil) async throws -> (User, of: ServedApp)
    {
        let (_, served, user) = try await authenticate(token, is: .access, app: app)
        return (user, of: served)
    }

    /// Revokes the token's session and ends its connections. Succeeds if it is already revoked (app
    /// services, 7.3).
    package func logOut(_ token: String?, app: AppID? = nil) async throws {
        let (claims, served) = try await verify(token, is: .refresh, app: app)
        let app = served.configuration.id
        let digest = SessionDigest(ofSession: claims.sessionID)
        try await store.write(.accounts(app)) { try $0.revokeLoginSession(digest, of: app) }
        backplane.control(.session(digest, of: app), .leave(reason: "logged out"))
    }

    /// Identifies the user of a sync connection (app services, 10.4).
    package func authorizeSync(_ token: String?, app: AppID) async throws -> ConnectedUser {
        // Transient: never a status that clients treat as final (wire protocol, 2.5).
        guard try served(app).syncState == .enabled else {
            throw AccountRefusal.syncPaused
        }
        let (claims, served, user) = try await authenticate(
            token,
            is: .access,
            app: app,
            requiresSession: true,
            whenDisabled: .disabledUserSyncs
        )
        return ConnectedUser(
            id: user.id,
            app: app,
            // One lifetime more than the token's own: a client cannot renew it on an open
            // connection.
            mustLeaveAt: claims.expiresAt.adding(clamping: served.configuration.tokens.access)
                .multiplied(clamping: 1000),
            session: SessionDigest(ofSession: claims.sessionID)
        )
    }

    /// Identifies the user of a request to compare a realm, and counts the request.
    package func authorizeComparison(_ token: String?, app: AppID) async throws -> ConnectedUser {
        let user = try await authorizeSync(token, app: app)
        try await loginGuard.admitComparison(by: user.id, of: app)
        return user
    }

    /// An access token for the session of a refresh token.
    func accessToken(for refresh: TokenClaims, _ served: ServedApp) async throws -> String {
        let now = clock.secondsSince1970
        let claims = TokenClaims(
            sessionID: refresh.sessionID,
            userID: refresh.userID,
            deviceID: refresh.deviceID,
            domainID: refresh.domainID,
            appID: refresh.appID,
            issuedAt: now,
            expiresAt: now + served.configuration.tokens.access,
            kind: .access,
            refreshID: nil,
            identity: nil,
            userData: try await customData(of: UserID(refresh.userID), served)
        )
        return try await tokens.token(for: claims, of: served.configuration.id)
    }

    /// Nil if there is none, or if it is too large for a URL.
    private func customData(of user: UserID, _ served: ServedApp) async throws -> JSONValue? {
        guard let source = served.configuration.customUserData else { return nil }
        let data = try await store.read { snapshot in
            try CustomUserData(configuration: source).read(of: user, in: served.id, from: snapshot)
        }
        guard let data, let size = try? data.json().count else { return nil }
        guard size <= CustomUserData.maximumSizeInBytes else {
            logger.warning(
                "custom user data is too large for a token",
                metadata: [
                    "code": "server.custom_user_data", "app": "\(served.id)", "user": "\(user)",
                    "bytes": "\(size)", "limit": "\(CustomUserData.maximumSizeInBytes)",
                ]
            )
            return nil
        }
        return data
    }

    private func verify(
        _ token: String?,
        is kind: TokenClaims.Kind,
        app: AppID?
    ) async throws(AccountRefusal) -> (TokenClaims, ServedApp) {
        guard let token else { throw .noToken }
        let claims: TokenClaims
        do throws(TokenAuthority.Refusal) {
            claims = try await tokens.verify(token, is: kind)
        } catch {
            throw error.accountRefusal(of: kind, isAppNamed: app != nil)
        }
        guard let named = AppID(claims.appID) else { throw .appNotFound }
        guard app == nil || app == named else {
            throw .tokenOfOtherApp
        }
        return (claims, try served(named))
    }

    /// `requiresSession`: an access token must not outlive its session here, since the call does
    /// more than read the profile (app services, 10.3). A refresh token never does.
    package func authenticate(
        _ token: String?,
        is kind: TokenClaims.Kind,
        app: AppID?,
        requiresSession: Bool = false,
        whenDisabled: AccountRefusal = .invalidSession(.userDisabled)
    ) async throws -> (TokenClaims, ServedApp, User) {
        let (claims, served) = try await verify(token, is: kind, app: app)
        let app = served.configuration.id
        let userID = UserID(claims.userID)
        let digest = SessionDigest(ofSession: claims.sessionID)
        let checksSession = kind == .refresh || requiresSession
        let account = ExpectedReads.Account(
            app: app,
            user: userID,
            session: checksSession ? digest : nil
        )
        let (user, session) = try await store.read(expecting: ExpectedReads(account: account)) {
            snapshot in
            let session = checksSession ? try snapshot.loginSession(digest, of: app) : nil
            return (try snapshot.user(userID, of: app), session)
        }
        guard let user else { throw AccountRefusal.invalidSession(.noUser) }
        guard !user.isDisabled else { throw whenDisabled }
        if checksSession { _ = try Self.live(session, of: userID) }
        return (claims, served, user)
    }

    /// The session, if it is the user's and not revoked.
    static func live(
        _ session: LoginSession?,
        of user: UserID
    ) throws(AccountRefusal) -> LoginSession {
        guard let session, !session.isRevoked, session.userID == user else {
            throw .invalidSession(.revoked)
        }
        return session
    }
}

extension TokenAuthority.Refusal {
    /// `isAppNamed`: the path names a served app, so the token is for another one.
    fileprivate func accountRefusal(
        of kind: TokenClaims.Kind,
        isAppNamed: Bool
    ) -> AccountRefusal {
        switch self {
        case .malformed, .wrongAlgorithm, .badSignature: .invalidSession(.badToken)
        // A removed app keeps its users: 401 would log them out (app services, 1.1).
        case .unknownApp: isAppNamed ? .invalidSession(.unknownApp) : .appNotFound
        case .wrongKind: .invalidSession(.not(kind))
        case .expired: .invalidSession(.expired(kind))
        // A 401 would log out every device because of a missing file.
        case .keyMayBeLost: .signingKeyMissing
        }
    }
}
