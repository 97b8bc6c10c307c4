/// One user's log-in: logs in, refreshes the token, and ends the log-in when the server demands it
/// (app services, 13).
///
/// Several realms share it. At most one log-in or refresh runs at a time; concurrent callers get
/// its result.
package actor UserSession {
    /// The reason why there is no token.
    package enum Failure: Error, Sendable, Equatable {
        /// The server cannot be reached or is in trouble: try again later.
        /// `kind` says why it cannot be reached; nil if it answered.
        case unavailable(reason: String, kind: UnreachableError.Kind? = nil)
        /// The credential was refused; only new configuration or the server's owner can help.
        case logInRefused(code: String, message: String)
        /// The server has ended the session of an anonymous user, who cannot log in again.
        case anonymousSessionEnded
        /// An operator has logged the user out on this machine.
        case loggedOut
        /// The account could not be read or written on this machine.
        case storage(reason: String)

        /// The code of a refusal because the server has no such app.
        package static let unknownApp = "auth.unknown_app"
    }

    let client: AppClient
    let store: any AccountStore
    let credential: @Sendable () async throws(Failure) -> Credential
    let registersAccount: Bool
    private let now: @Sendable () -> Int64
    private let report: @Sendable (LogInEvent) -> Void
    private(set) var account: Account?
    /// The user whose realms this process has opened; another user must not see them.
    private var userID: String?
    private var isLoaded = false
    /// The server refused the tokens of a user who cannot get others: they are tried again with each
    /// use.
    private(set) var isRefused = false
    private var underway: Task<Result<Account, Failure>, Never>?
    /// Number of log-outs. Work begun before the last one concerns another account.
    private var generation = 0

    /// - Parameters:
    ///   - credential: reads the secret each time one is needed.
    ///   - now: seconds since 1970.
    ///   - report: receives changes of the log-in; must not block.
    package init(
        client: AppClient,
        store: any AccountStore,
        registersAccount: Bool,
        credential: @escaping @Sendable () async throws(Failure) -> Credential,
        now: @escaping @Sendable () -> Int64,
        report: @escaping @Sendable (LogInEvent) -> Void = { _ in }
    ) {
        self.client = client
        self.store = store
        self.registersAccount = registersAccount
        self.credential = credential
        self.now = now
        self.report = report
    }

    /// The account, logging in first if this machine holds none. Its access token may have expired.
    package func logIn() async throws(Failure) -> Account {
        if let account = try await known(), account.profile != nil { return account }
        return try await alone { session in await session.fetchAccount() }
    }

    /// The account that this machine holds, without asking the server.
    package func cachedAccount() async throws(Failure) -> Account? {
        guard let account = try await known(), account.profile != nil else { return nil }
        return account
    }

    /// An account whose access token lasts at least another minute by this machine's clock.
    package func validAccount() async throws(Failure) -> Account {
        let account = try await logIn()
        guard isRefused || account.accessToken.isExpired(at: now(), margin: 60) else {
            return account
        }
        return try await refresh(replacing: account.accessToken)
    }

    /// A new access token after the server refused `token`; a later token is returned unchanged.
    package func refresh(replacing token: Token) async throws(Failure) -> Account {
        let account = try await logIn()
        guard account.accessToken == token else { return account }
        return try await alone { session in await session.fetchAccess(for: account) }
    }

    /// Gets a new access token even if the old one is valid: it carries newer custom data.
    package func refresh() async throws(Failure) -> Account {
        let account = try await logIn()
        return try await alone { session in await session.fetchAccess(for: account) }
    }

    /// The server refused this user. Forgets the tokens, so that the next use logs in with the
    /// credential; those of an anonymous user are kept, since they are the only way back to it.
    package func forget() async throws(Failure) {
        if let account = try await known(), await isIrreplaceable(account) {
            let isNew = !isRefused
            isRefused = true
            try await stored { try await store.markRefused() }
            if isNew { report(.sessionEnded) }
            return
        }
        account = nil
        try await stored { try await store.forgetTokens() }
        report(.sessionEnded)
    }

    /// Whether a log-in with the configured credential would be another user.
    private func isIrreplaceable(_ account: Account) async -> Bool {
        if account.isAnonymous { return true }
        // One that was linked is not anonymous, but its configured credential may be.
        guard account.provider == Credential.anonymous.provider,
            case .anonymous? = try? await credential()
        else { return false }
        return true
    }

    /// Forgets the cached account, or keeps only the stored one.
    func drop(forgettingUser: Bool) {
        account = nil
        isRefused = false
        underway = nil
        generation += 1
        if forgettingUser { userID = nil }
    }

    func tell(_ news: LogInEvent) {
        report(news)
    }

    func stored<Result>(_ work: () async throws -> Result) async throws(Failure) -> Result {
        do {
            return try await work()
        } catch {
            throw .storage(reason: "\(error)")
        }
    }
}

// MARK: One at a time

extension UserSession {
    func known() async throws(Failure) -> Account? {
        if account == nil, !isLoaded {
            do {
                account = try await store.load()
                userID = account?.userID
                if account != nil { isRefused = try await store.isRefused() }
                isLoaded = true
            } catch {
                throw .storage(reason: "\(error)")
            }
        }
        return account
    }

    /// Runs the work, or waits for the result of work that is running already.
    ///
    /// Cancelling one caller ends the work for all, because otherwise no caller could end it in
    /// time when the agent stops. The remaining callers repeat it.
    func alone(
        _ work: @escaping @Sendable (isolated UserSession) async -> Result<Account, Failure>
    ) async throws(Failure) -> Account {
        let task: Task<Result<Account, Failure>, Never>
        if let underway {
            task = underway
        } else {
            task = Task { await work(self) }
            underway = task
        }
        return try await finish(task).get()
    }

    /// Waits until no work is running.
    func finishUnderway() async {
        while let underway { _ = await finish(underway) }
    }

    private func finish(
        _ task: Task<Result<Account, Failure>, Never>
    ) async -> Result<Account, Failure> {
        let result = await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
        if underway == task { underway = nil }
        return result
    }

    /// - Parameter mayBeNew: an operator has ordered a log-in, of a new anonymous user if there was
    ///   another one before.
    func fetchAccount(mayBeNew: Bool = false) async -> Result<Account, Failure> {
        do throws(Failure) {
            // The last log-in got as far as its tokens.
            if let account { return .success(try await complete(account)) }
            let isLoggedOut = try await stored { try await store.isLoggedOut() }
            guard mayBeNew || !isLoggedOut else { throw .loggedOut }
            return .success(try await complete(freshAccount(mayBeNew: mayBeNew)))
        } catch {
            return .failure(error)
        }
    }

    /// Gets tokens for the configured credential, and stores them at once: an anonymous user could
    /// not log in again.
    private func freshAccount(mayBeNew: Bool) async throws(Failure) -> Account {
        let credential = try await credential()
        if mayBeNew {
            // The log-out holds, even if it cannot be carried out at once.
            try await stored {
                if case .anonymous = credential {
                    try await store.remove()
                } else if try await store.isLoggedOut() {
                    try await store.forgetTokens()
                }
            }
        } else if case .anonymous = credential {
            // Earlier versions deleted the tokens, but kept the user.
            let hadUser = try await stored { try await store.isRefused() }
            guard userID == nil, !hadUser else { throw .anonymousSessionEnded }
        }
        if registersAccount, case .emailPassword(let email, let password) = credential {
            try await register(email: email, password: password)
        }
        let logIn = try await mapped { () throws(ServiceError) in try await client.logIn(credential)
        }
        if let userID, logIn.userID != userID { throw Self.isAnotherUser(logIn.userID, userID) }
        return try await keep(
            Account(
                userID: logIn.userID,
                deviceID: logIn.deviceID,
                provider: credential.provider,
                accessToken: logIn.accessToken,
                refreshToken: logIn.refreshToken
            )
        )
    }

    /// A log-in is done only when the profile has arrived (app services, 4.4).
    private func complete(_ account: Account) async throws(Failure) -> Account {
        var account = account
        do throws(ServiceError) {
            account.profile = try await client.profile(account.accessToken)
        } catch {
            guard error.status == 401 else { throw Self.failure(error) }
            // One refresh and one more attempt; if the refresh fails the first answer counts.
            guard let access = try? await client.refreshAccess(account.refreshToken) else {
                try await forget()
                throw isRefused ? .anonymousSessionEnded : Self.failure(error)
            }
            account.accessToken = access
            account.profile = try await mapped { () throws(ServiceError) in
                try await client.profile(access)
            }
        }
        let kept = try await keep(account)
        report(.loggedIn)
        return kept
    }

    private func fetchAccess(for account: Account) async -> Result<Account, Failure> {
        let start = generation
        do throws(ServiceError) {
            var fresh = account
            fresh.accessToken = try await client.refreshAccess(account.refreshToken)
            guard generation == start else { return .failure(Self.givenUpMeanwhile) }
            let kept = fresh
            do throws(Failure) {
                let wasRefused = isRefused
                let account = try await keep(kept)
                report(wasRefused ? .loggedIn : .tokenRefreshed)
                return .success(account)
            } catch {
                return .failure(error)
            }
        } catch {
            guard generation == start else { return .failure(Self.givenUpMeanwhile) }
            // These end the log-in; if there is a credential, log in again (spec, 13.6 and 13.7).
            guard let status = error.status, [301, 308, 401, 403].contains(status) else {
                return .failure(.unavailable(reason: error.description, kind: error.kind))
            }
            do throws(Failure) {
                try await forget()
            } catch {
                return .failure(error)
            }
            return isRefused ? .failure(.anonymousSessionEnded) : await fetchAccount()
        }
    }

    func register(email: String, password: String) async throws(Failure) {
        do throws(ServiceError) {
            try await client.register(email: email, password: password)
        } catch {
            // Registered by an earlier run: the log-in tests the password.
            if case .refused(let refusal) = error, refusal.code == "AccountNameInUse" { return }
            throw Self.failure(error)
        }
    }

    func keep(_ fresh: Account) async throws(Failure) -> Account {
        try await stored { try await store.save(fresh) }
        account = fresh
        userID = fresh.userID
        isRefused = false
        return fresh
    }

    func mapped<Answer>(
        _ call: () async throws(ServiceError) -> Answer
    ) async throws(Failure) -> Answer {
        do throws(ServiceError) {
            return try await call()
        } catch {
            throw Self.failure(error)
        }
    }

    private static let givenUpMeanwhile = Failure.unavailable(
        reason: "the user was logged out meanwhile"
    )

    private static func isAnotherUser(_ new: String, _ known: String) -> Failure {
        .logInRefused(
            code: "auth.other_user",
            message: "the credential now belongs to user \(new), the open realms to user \(known); "
                + "restart the agent to continue as the new one"
        )
    }

    /// Maps an error to a transient or a permanent failure.
    package static func failure(_ error: ServiceError) -> Failure {
        switch error {
        case .unreachable(let kind, let reason):
            .unavailable(reason: reason, kind: kind)
        case .unusableResponse:
            .unavailable(reason: error.description)
        case .refused(let refusal) where refusal.status == 429 || refusal.status >= 500:
            .unavailable(reason: error.description)
        case .refused(let refusal) where refusal.code == "HTTPError":
            .unavailable(reason: error.description)
        // Everything else that is not there has a code of its own.
        case .refused(let refusal) where refusal.status == 404 && refusal.code == "AppUnknownError":
            .logInRefused(code: Failure.unknownApp, message: refusal.message)
        case .refused(let refusal):
            .logInRefused(code: refusal.code, message: refusal.message)
        }
    }
}
