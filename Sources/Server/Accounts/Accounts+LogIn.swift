import Changesets

extension Accounts {
    /// Always a new user (app services, 4.6).
    func logInAnonymously(_ device: DeviceReport, to app: AppID) async throws -> LoginAnswer {
        let served = try served(app)
        guard served.configuration.anonymous else {
            throw ServiceRefusal.providerNotFound(ProviderType.anonymous.rawValue)
        }
        let identity = Identity(
            id: random.objectID(at: clock).description,
            provider: .anonymous,
            email: ""
        )
        return try await logIn(with: identity, device, served)
    }

    func logIn(
        _ credential: EmailPasswordCredential,
        from address: String,
        _ device: DeviceReport,
        to app: AppID
    ) async throws -> LoginAnswer {
        let served = try served(app)
        try requireEmailPassword(app)
        try await loginGuard.admit(credential.name, from: address)
        let name = UserName(credential.name)
        let account: PasswordAccount? = try await store.read { snapshot in
            guard let name else { return nil }
            return try snapshot.passwordAccount(name, of: app)
        }
        let isRight = try await hasher.verify(credential.password, against: account?.hash)
        // One answer for every way to be wrong (app services, 14).
        guard isRight, let account, let name else { throw ServiceRefusal.invalidPassword }
        await loginGuard.recordSuccess(credential.name, from: address)

        let identity = Identity(
            id: account.identityID,
            provider: .emailPassword,
            email: name.rawValue
        )
        return try await logIn(with: identity, device, served)
    }

    /// Opens a session for the identity's user, who is made if this is the first log-in.
    private func logIn(
        with identity: Identity,
        _ device: DeviceReport,
        _ served: ServedApp
    ) async throws -> LoginAnswer {
        let app = served.configuration.id
        let sessionID = random.objectID(at: clock).description
        let freshDeviceID = random.objectID(at: clock).description
        let freshUser = User(
            id: UserID(random.objectID(at: clock).description),
            identities: [identity],
            isDisabled: false
        )
        let now = clock.millisecondsSince1970()
        let session = try await store.write { transaction in
            let known = try transaction.user(identifiedBy: identity.provider, identity.id, of: app)
            if known == nil { try transaction.insert(freshUser, of: app, at: now) }
            let user = known ?? freshUser
            if user.isDisabled { throw ServiceRefusal(.userDisabled, "user disabled") }

            var deviceID = freshDeviceID
            if let reported = device.id,
                try transaction.isDevice(reported, knownOf: user.id, of: app)
            {
                deviceID = reported
            }
            let session = LoginSession(
                digest: SessionDigest(ofSession: sessionID),
                userID: user.id,
                deviceID: deviceID,
                device: device.json
            )
            try transaction.insert(session, of: app, at: now)
            return session
        }
        let refresh = TokenClaims(
            sessionID: sessionID,
            userID: session.userID.rawValue,
            deviceID: session.deviceID,
            domainID: served.domainID,
            appID: app.rawValue,
            issuedAt: now / 1000,
            expiresAt: now / 1000 + served.configuration.tokens.refresh,
            kind: .refresh,
            refreshID: sessionID,
            identity: .init(
                id: identity.id,
                providerType: identity.provider.rawValue,
                providerID: served.providerID(identity.provider)
            )
        )
        return LoginAnswer(
            accessToken: try await accessToken(for: refresh, served),
            refreshToken: try await tokens.token(for: refresh, of: app),
            userID: session.userID.rawValue,
            deviceID: session.deviceID
        )
    }
}
