/// Operations of an operator on an account.
extension UserSession {
    /// Logs in, also after a log-out here.
    package func logInAgain() async throws(Failure) -> Account {
        _ = try await known()
        // A log-in that a realm has begun is refused after a log-out here: its result is not this one's.
        await finishUnderway()
        if let account, account.profile != nil { return account }
        return try await alone { session in await session.fetchAccount(mayBeNew: true) }
    }

    /// Whether the session of an anonymous user has ended, so that a log-in makes another user. Asks
    /// the server once more.
    package func hasLostAnonymousUser() async throws(Failure) -> Bool {
        if try await known() == nil {
            guard try await stored({ try await store.isRefused() }),
                case .anonymous = try await credential()
            else { return false }
            return true
        }
        guard isRefused else { return false }
        do throws(Failure) {
            _ = try await refresh()
            return false
        } catch .anonymousSessionEnded {
            return true
        }
    }

    /// Deletes an anonymous user whose session has ended, as an operator decided.
    package func giveUpAnonymousUser() async throws(Failure) {
        try await forgetUser()
    }

    /// Logs the user out: here first, then at the server, whose response changes nothing (app
    /// services, 7.3).
    ///
    /// - Returns: whether the server received the log-out; nil if no user was logged in.
    package func logOut() async throws(Failure) -> Bool? {
        let account = try await known()
        drop(forgettingUser: account?.isAnonymous ?? false)
        try await stored { try await store.logOut() }
        tell(.loggedOut)
        guard let account else { return nil }
        return await isDone { () throws(ServiceError) in
            try await client.logOut(account.refreshToken)
        }
    }

    /// Logs the user out, and forgets that there ever was an account here.
    package func remove() async throws(Failure) {
        _ = try await logOut()
        try await forgetUser()
    }

    /// Deletes the user at the server, and its account here (app services, 7.4).
    package func deleteUser() async throws(Failure) {
        try await authenticated { token throws(ServiceError) in
            try await client.deleteUser(token)
        }
        try await forgetUser()
    }

    private func forgetUser() async throws(Failure) {
        drop(forgettingUser: true)
        try await stored { try await store.remove() }
        tell(.removed)
    }

    /// Calls with the access token; after a 401 once more with a fresh one (app services, 2.6).
    private func authenticated(
        _ call: (Token) async throws(ServiceError) -> Void
    ) async throws(Failure) {
        let account = try await validAccount()
        do throws(ServiceError) {
            try await call(account.accessToken)
        } catch {
            // If there is no fresh one, the first answer counts.
            guard error.status == 401,
                let access = try? await client.refreshAccess(account.refreshToken)
            else { throw Self.failure(error) }
            try await mapped { () throws(ServiceError) in try await call(access) }
        }
    }

    /// Links the configured credential to the user that is logged in. An anonymous user, for
    /// example, keeps its data and can then log in on other machines.
    package func linkConfigured() async throws(Failure) -> Account {
        let credential = try await credential()
        if registersAccount, case .emailPassword(let email, let password) = credential {
            try await register(email: email, password: password)
        }
        return try await link(credential)
    }

    /// Adds an identity to the user (app services, 5). An anonymous one adds nothing.
    package func link(_ credential: Credential) async throws(Failure) -> Account {
        if case .anonymous = credential {
            throw .logInRefused(
                code: "ClientUserAlreadyNamed",
                message: "an anonymous identity cannot be added to a user"
            )
        }
        var account = try await validAccount()
        account.accessToken = try await mapped { () throws(ServiceError) in
            try await client.link(credential, account.accessToken)
        }
        account.profile = try await mapped { () throws(ServiceError) in
            try await client.profile(account.accessToken)
        }
        return try await keep(account)
    }

    /// Creates the configured e-mail/password account.
    package func register() async throws(Failure) {
        let (email, password) = try await emailPassword()
        try await mapped { () throws(ServiceError) in
            try await client.register(email: email, password: password)
        }
    }

    /// Confirms the configured account with what its owner was sent.
    package func confirm(token: String, tokenID: String) async throws(Failure) {
        try await mapped { () throws(ServiceError) in
            try await client.confirm(token: token, tokenID: tokenID)
        }
    }

    /// Has what confirms the configured account sent again, or the app's own function run again.
    package func sendConfirmation(callsFunction: Bool) async throws(Failure) {
        let (email, _) = try await emailPassword()
        try await mapped { () throws(ServiceError) in
            try await client.sendConfirmation(email: email, callsFunction: callsFunction)
        }
    }

    /// Gives the configured account the configured password, with what its owner was sent, or as the
    /// app's own function decides; without either, has it sent.
    package func resetPassword(
        token: String?,
        tokenID: String?,
        callsFunction: Bool
    ) async throws(Failure) {
        let (email, password) = try await emailPassword()
        try await mapped { () throws(ServiceError) in
            if callsFunction {
                try await client.callPasswordReset(email: email, password: password)
            } else if let token, let tokenID {
                try await client.resetPassword(password, token: token, tokenID: tokenID)
            } else {
                try await client.sendPasswordReset(email: email)
            }
        }
    }

    private func emailPassword() async throws(Failure) -> (email: String, password: String) {
        guard case .emailPassword(let email, let password) = try await credential() else {
            throw .logInRefused(
                code: "auth.no_password",
                message: "only users of the provider email-password have a password"
            )
        }
        return (email, password)
    }

    private func isDone(_ call: () async throws(ServiceError) -> Void) async -> Bool {
        do throws(ServiceError) {
            try await call()
            return true
        } catch {
            return false
        }
    }
}
