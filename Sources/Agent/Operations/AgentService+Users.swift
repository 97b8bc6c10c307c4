import AppServices
import Config
package import Control
import FoundationEssentials
import Platform
import RealmSync
import Scheduling

/// Operations of the control API on users.
extension AgentService {
    package func users() async throws(ControlError) -> UsersReport {
        let stored = try await storedUsers()
        return UsersReport(
            users: await running.configuration.users.map { user in
                UserReport(user, stored.first { $0.name == user.name })
            }
        )
    }

    package func perform(
        _ operation: UserOperation,
        on name: String,
        _ request: UserRequest
    ) async throws(ControlError) -> UserReport {
        let users = await running.configuration.users
        guard let user = users.first(where: { $0.name == name }),
            let session = await running.sessions[name]
        else { throw .unknownUser(name) }
        let realms = await running.realms
            .filter { $0.configuration.user.name == name }.map(\.realm)
        do throws(UserSession.Failure) {
            switch operation {
            case .login:
                if try await session.hasLostAnonymousUser() {
                    try await settingAside(realms, force: request.force ?? false) {
                        () throws(UserSession.Failure) in try await session.giveUpAnonymousUser()
                    }
                }
                _ = try await session.logInAgain()
                for realm in realms { await realm.reconnect() }
            case .logout:
                let isAnonymous = try await session.cachedAccount()?.isAnonymous ?? false
                if isAnonymous {
                    try await settingAside(realms, force: request.force ?? false) {
                        () throws(UserSession.Failure) in _ = try await session.logOut()
                    }
                } else {
                    try await refusePending(realms, force: request.force ?? false)
                    _ = try await session.logOut()
                }
                for realm in realms { await realm.restart() }
            case .remove:
                try await delete(realms, force: request.force ?? false)
                try await session.remove()
                for realm in realms { await realm.restart() }
            case .delete:
                try await delete(realms, force: request.force ?? false)
                try await session.deleteUser()
                for realm in realms { await realm.restart() }
            case .refresh: _ = try await session.refresh()
            case .link: _ = try await session.linkConfigured()
            case .register: try await session.register()
            case .confirm:
                try await session.confirm(
                    token: request.token ?? "",
                    tokenID: request.tokenId ?? ""
                )
            case .resendConfirmation:
                try await session.sendConfirmation(callsFunction: request.callsFunction ?? false)
            case .resetPassword:
                try await session.resetPassword(
                    token: request.token,
                    tokenID: request.tokenId,
                    callsFunction: request.callsFunction ?? false
                )
            }
        } catch {
            throw ControlError(error, user: name)
        }
        return UserReport(user, try await storedUsers().first { $0.name == name })
    }

    package func customData(of name: String) async throws(ControlError) -> String {
        guard let session = await running.sessions[name] else { throw .unknownUser(name) }
        do throws(UserSession.Failure) {
            return try await session.cachedAccount()?.accessToken.customData ?? "{}"
        } catch {
            throw ControlError(error, user: name)
        }
    }

    private func storedUsers() async throws(ControlError) -> [StoredUser] {
        do {
            return try await database.users()
        } catch {
            throw ControlError(code: "agent.io_error", message: "\(error)")
        }
    }

    private func delete(
        _ realms: [SyncedRealm],
        force: Bool
    ) async throws(UserSession.Failure) {
        try await takeAway(realms, force: force) {
            realm throws(SyncedRealm.DeletionFailure) in
            _ = try await realm.delete(force: true)
        }
    }

    /// Keeps the files of an anonymous user aside and gives the user up: it cannot log in again.
    /// The realms are suspended during the operation; those that were not suspended before are
    /// resumed.
    private func settingAside(
        _ realms: [SyncedRealm],
        force: Bool,
        _ giveUp: () async throws(UserSession.Failure) -> Void
    ) async throws(UserSession.Failure) {
        var running: [SyncedRealm] = []
        for realm in realms where await realm.currentSuspension == nil { running.append(realm) }
        try await takeAway(realms, force: force) {
            realm throws(SyncedRealm.DeletionFailure) in try await realm.setAside()
        }
        try await giveUp()
        for realm in running { await realm.resume() }
    }

    private func takeAway(
        _ realms: [SyncedRealm],
        force: Bool,
        _ act: (SyncedRealm) async throws(SyncedRealm.DeletionFailure) -> Void
    ) async throws(UserSession.Failure) {
        // All or none: first check all realms for pending uploads.
        try await refusePending(realms, force: force)
        for realm in realms {
            do throws(SyncedRealm.DeletionFailure) {
                try await act(realm)
            } catch {
                throw .storage(reason: "\(error)")
            }
        }
    }

    private func refusePending(
        _ realms: [SyncedRealm],
        force: Bool
    ) async throws(UserSession.Failure) {
        guard !force else { return }
        for realm in realms where await realm.hasPendingUploads() == true {
            throw .logInRefused(
                code: "auth.pending_uploads",
                message:
                    "realm \"\(realm.name)\" holds writes that the server does not "
                    + "have; wait for them, or add --force"
            )
        }
    }
}

extension UserReport {
    init(_ user: UserConfiguration, _ stored: StoredUser?) {
        self.init(
            name: user.name,
            app: user.app.name,
            provider: user.provider.word,
            state: stored?.state ?? "never-logged-in"
        )
        guard let stored, !stored.userID.isEmpty else { return }
        userId = stored.userID
        loggedInAt = WallTime(secondsSince1970: stored.loggedInAt).description
        identities = Profile(identitiesText: stored.identities, data: "{}")?
            .identities.map(\.providerType)
    }
}

extension UserConfiguration.Provider {
    fileprivate var word: String {
        switch self {
        case .anonymous: "anonymous"
        case .emailPassword: "email-password"
        case .apiKey: "api-key"
        case .jwt: "jwt"
        case .function: "function"
        }
    }
}

extension ControlError {
    init(_ failure: UserSession.Failure, user: String) {
        switch failure {
        case .logInRefused("auth.pending_uploads", let message):
            self.init(code: "auth.pending_uploads", message: message)
        case .unavailable:
            self.init(code: failure.code, message: failure.message, remedy: "try again later")
        case .logInRefused(UserSession.Failure.unknownApp, _):
            self.init(
                code: failure.code,
                message: failure.message,
                remedy: ErrorCatalogue.remedy(for: failure.code, realm: nil, user: user)
            )
        case .logInRefused:
            self.init(
                code: failure.code,
                message: failure.message,
                remedy: "check the credential of users.\(user)"
            )
        case .anonymousSessionEnded:
            self.init(
                code: failure.code,
                message:
                    "the server ended the session of anonymous user \"\(user)\", who cannot log "
                    + "in again",
                remedy: "`realm-agent users login \(user)` makes a new user and keeps the files of "
                    + "this one in recovered/"
            )
        case .loggedOut:
            self.init(
                code: failure.code,
                message: "user \"\(user)\" was logged out here",
                remedy: "`realm-agent users login \(user)` logs in again"
            )
        case .storage:
            self.init(code: failure.code, message: failure.message)
        }
    }
}
