import Changesets
import JSON
import ServerConfig
package import ServerStore

/// Confirmation of accounts and reset of passwords: by a program that decides, by mail, or by the
/// operator (app services, 6.1).
extension Accounts {
    /// Asks the function about a pending account, or mails its token to the owner.
    ///
    /// An account that `isNew` is removed if the function refuses it. A mail that could not be sent
    /// does not undo a registration: the owner can ask for another.
    func beginConfirmation(
        of name: UserName,
        isNew: Bool,
        _ settings: EmailPasswordConfiguration,
        in app: AppID
    ) async throws {
        let token = try await makeToken(.confirm, for: name, in: app)
        if let function = settings.confirmationFunction {
            switch await verdict(of: function, .confirm, token, in: app) {
            case .success:
                try await store.write(.accounts(app)) { transaction in
                    try transaction.setConfirmed(name, of: app)
                    try transaction.removeAccountToken(.confirm, of: name, of: app)
                }
            case .pending:
                break
            case .fail:
                if isNew {
                    try await store.write(.accounts(app)) { try $0.removeAccount(name, of: app) }
                }
                throw AccountRefusal.confirmationRefused(name)
            }
        } else if let mail = settings.mail {
            do throws(HookRunner.Failure) {
                try await deliver(token, by: mail, in: app)
            } catch {
                // The failure is in the log.
                if !isNew { throw AccountRefusal.mailFailed }
            }
        }
    }

    /// Sends the owner a token for a new password.
    func beginReset(
        of name: UserName,
        _ settings: EmailPasswordConfiguration,
        in app: AppID
    ) async throws {
        let token = try await makeToken(.reset, for: name, in: app)
        guard let mail = settings.mail else { return }
        do throws(HookRunner.Failure) {
            try await deliver(token, by: mail, in: app)
        } catch {
            throw AccountRefusal.mailFailed
        }
    }

    /// Asks the function about a new password.
    package func callReset(
        _ request: ResetCall,
        from address: String,
        in app: AppID
    ) async throws {
        let settings = try requireEmailPassword(app)
        guard let function = settings.resetFunction else {
            throw AccountRefusal.noResetFunction
        }
        try requireGood(request.password, settings)
        try await hidingAccounts(settings) {
            try await callReset(request, of: function, from: address, in: app)
        }
    }

    private func callReset(
        _ request: ResetCall,
        of function: HookConfiguration,
        from address: String,
        in app: AppID
    ) async throws {
        guard UserName(request.email) != nil else { throw AccountRefusal.userNotFound }
        let admission = try await loginGuard.admit(attempt(request.email, from: address, in: app))
        let (name, account) = try await account(request.email, in: app)
        let isCurrent = try await hasher.verify(
            request.password,
            against: account.hash,
            from: address
        )
        let token = try await makeToken(.reset, for: name, in: app)
        let verdict = await verdict(
            of: function,
            .reset,
            token,
            [
                "password": .string(request.password),
                "currentPasswordValid": .bool(isCurrent),
                "arguments": .array(request.arguments),
            ],
            in: app
        )
        switch verdict {
        case .success:
            let hash = try await hasher.hash(request.password, from: address)
            let user = try await store.write(.accounts(app)) { transaction in
                let user = try Self.setPassword(hash, of: name, of: app, transaction)
                try transaction.removeAccountToken(.reset, of: name, of: app)
                return user
            }
            endConnections(of: user, in: app)
        case .pending:
            break
        case .fail:
            throw AccountRefusal.resetRefused(name)
        }
        await loginGuard.forgive(admission)
    }

    private func deliver(
        _ token: AccountToken,
        by mail: MailConfiguration,
        in app: AppID
    ) async throws(HookRunner.Failure) {
        var request: [String: JSONValue] = [
            "purpose": .string(token.purpose.rawValue), "email": .string(token.name.rawValue),
            "token": .string(token.token), "tokenId": .string(token.id),
        ]
        request["url"] = mail.link(for: token).map { .string($0) }
        _ = try await hooks.ask(mail.hook, .mail, about: app, request)
    }

    private enum Verdict: String {
        case success, pending, fail
    }

    /// Every status but these two is a refusal.
    private func verdict(
        of function: HookConfiguration,
        _ kind: HookKind,
        _ token: AccountToken,
        _ more: [String: JSONValue] = [:],
        in app: AppID
    ) async -> Verdict {
        var request = more
        request["username"] = .string(token.name.rawValue)
        request["token"] = .string(token.token)
        request["tokenId"] = .string(token.id)
        guard let answer = try? await hooks.ask(function, kind, about: app, request),
            case .object(let members) = answer, case .string(let word)? = members["status"]
        else { return .fail }
        return Verdict(rawValue: word) ?? .fail
    }
}
