import Changesets
import ServerConfig
package import ServerStore
import Surroundings

extension Accounts {
    /// Logs a user in; a first log-in creates the user (app services, 4).
    package func logIn(
        _ credential: LoginCredential,
        from address: String,
        _ device: DeviceReport,
        to app: AppID
    ) async throws -> IssuedTokens {
        let served = try served(app)
        let proven = try await prove(credential, from: address, device, served)
        let user = try await user(of: proven, served.id)
        return try await issue(for: user, proven.identity, device, served)
    }

    /// Checks a credential without creating a user (app services, 4.6).
    func prove(
        _ credential: LoginCredential,
        from address: String,
        _ device: DeviceReport,
        _ served: ServedApp
    ) async throws -> ProvenIdentity {
        switch credential {
        case .anonymous:
            guard served.configuration.anonymous else {
                throw AccountRefusal.providerOff(.anonymous)
            }
            try await loginGuard.admitNewUser(from: address)
            let id = random.objectID(at: clock).description
            return ProvenIdentity(identity: Identity(id: id, provider: .anonymous, email: ""))
        case .emailPassword(let credential):
            return try await prove(credential, from: address, device, served)
        case .apiKey(let secret):
            return try await prove(secret, served)
        case .customToken(let token):
            guard let tokens = served.externalTokens else {
                throw AccountRefusal.providerOff(.customToken)
            }
            do {
                return try await tokens.prove(token, at: clock.secondsSince1970)
            } catch let refusal as ExternalTokens.Refusal {
                try await loginGuard.recordWrongToken(from: address)
                throw AccountRefusal.badCustomToken(reason: refusal.reason)
            }
        case .customFunction(let payload):
            return try await prove(payload, from: address, served)
        }
    }

    private func prove(
        _ credential: EmailPasswordCredential,
        from address: String,
        _ device: DeviceReport,
        _ served: ServedApp
    ) async throws -> ProvenIdentity {
        try requireEmailPassword(served.id)
        guard credential.name.utf8.count <= UserName.maximumSizeInBytes else {
            throw AccountRefusal.wrongPassword
        }
        let name = UserName(credential.name)
        let app = served.id
        let reads = ExpectedReads(account: ExpectedReads.Account(app: app, name: name))
        let (account, isKnownDevice) = try await store.read(expecting: reads) {
            snapshot -> (PasswordAccount?, Bool) in
            guard let name, let account = try snapshot.passwordAccount(name, of: app) else {
                return (nil, false)
            }
            let id = account.identityID
            guard let device = device.id,
                let user = try snapshot.user(identifiedBy: .emailPassword, id, of: app)
            else { return (account, false) }
            return (account, try snapshot.isDevice(device, knownOf: user.id, of: app))
        }
        var attempt = attempt(credential.name, from: address, in: app)
        if isKnownDevice { attempt.knownDevice = device.id }
        let admission = try await loginGuard.admit(attempt)
        let isRight: Bool
        do {
            isRight = try await hasher.verify(
                credential.password,
                against: account?.hash,
                from: address
            )
        } catch {
            // The password was not checked.
            await loginGuard.forgive(admission)
            throw error
        }
        // The same refusal for every wrong log-in (app services, 14).
        guard isRight, let account, let name else { throw AccountRefusal.wrongPassword }
        await loginGuard.recordSuccess(admission)
        guard account.isConfirmed else {
            throw AccountRefusal.notConfirmed
        }
        return ProvenIdentity(
            identity: Identity(
                id: account.identityID,
                provider: .emailPassword,
                email: name.rawValue
            )
        )
    }

    /// Without a limit: 256 bits cannot be guessed.
    private func prove(
        _ secret: APIKeySecret,
        _ served: ServedApp
    ) async throws -> ProvenIdentity {
        guard served.configuration.apiKey else {
            throw AccountRefusal.providerOff(.apiKey)
        }
        let digest = secret.digest
        let key = try await store.read { try $0.apiKey(digest, of: served.id) }
        guard let key else {
            throw AccountRefusal.unknownKey
        }
        guard !key.isDisabled else { throw AccountRefusal.keyDisabled }
        return ProvenIdentity(
            identity: Identity(id: key.id, provider: .apiKey, email: ""),
            owner: key.owner,
            kind: key.owner == nil ? .server : .normal
        )
    }

    /// The user of an identity, created at its first log-in.
    private func user(of proven: ProvenIdentity, _ app: AppID) async throws -> UserID {
        let fresh = User(
            id: UserID(random.objectID(at: clock).description),
            identities: [proven.identity],
            isDisabled: false,
            kind: proven.kind,
            data: proven.data
        )
        let now = clock.millisecondsSince1970()
        return try await store.write(.accounts(app)) { transaction in
            let identity = proven.identity
            let known =
                if let owner = proven.owner {
                    try transaction.user(owner, of: app)
                } else {
                    try transaction.user(identifiedBy: identity.provider, identity.id, of: app)
                }
            guard let known else {
                try transaction.insert(fresh, of: app, at: now)
                return fresh.id
            }
            if known.isDisabled { throw AccountRefusal.userDisabled }
            let data = known.data.merging(proven.data) { $1 }
            if data != known.data { try transaction.setData(data, ofUser: known.id, of: app) }
            return known.id
        }
    }

    /// Opens a session of the user.
    func issue(
        for user: UserID,
        _ identity: Identity,
        _ device: DeviceReport,
        _ served: ServedApp
    ) async throws -> IssuedTokens {
        let app = served.id
        let sessionID = random.objectID(at: clock).description
        let freshDeviceID = random.objectID(at: clock).description
        let now = clock.millisecondsSince1970()
        let end = now / 1000 + served.configuration.tokens.refresh
        let session = try await store.write(.accounts(app)) { transaction in
            var deviceID = freshDeviceID
            if let reported = device.id, try transaction.isDevice(reported, knownOf: user, of: app)
            {
                deviceID = reported
            }
            let session = LoginSession(
                digest: SessionDigest(ofSession: sessionID),
                userID: user,
                deviceID: deviceID,
                device: device.json,
                expiresAt: end * 1000
            )
            try transaction.insert(session, of: app, at: now)
            if let limit = served.configuration.quotas.sessions {
                try transaction.removeOldestLoginSessions(ofUser: user, of: app, keeping: limit)
            }
            return session
        }
        return try await issuedTokens(in: session, named: sessionID, identity, served)
    }

    /// Tokens that belong to a session.
    func issuedTokens(
        in session: LoginSession,
        named sessionID: String,
        _ identity: Identity,
        _ served: ServedApp
    ) async throws -> IssuedTokens {
        let now = clock.secondsSince1970
        let refresh = TokenClaims(
            sessionID: sessionID,
            userID: session.userID.rawValue,
            deviceID: session.deviceID,
            domainID: served.domainID,
            appID: served.id.rawValue,
            issuedAt: now,
            expiresAt: min(session.expiresAt / 1000, now + served.configuration.tokens.refresh),
            kind: .refresh,
            refreshID: sessionID,
            identity: .init(
                id: identity.id,
                providerType: identity.provider.rawValue,
                providerID: served.providerID(identity.provider)
            ),
            userData: nil
        )
        return IssuedTokens(
            accessToken: try await accessToken(for: refresh, served),
            refreshToken: try await tokens.token(for: refresh, of: served.id),
            userID: session.userID,
            deviceID: session.deviceID
        )
    }
}
