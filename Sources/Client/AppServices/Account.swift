/// A user as this machine remembers it between runs (interfaces, 2).
package struct Account: Sendable, Equatable {
    package let userID: String
    package let deviceID: String
    package let provider: String
    package var accessToken: Token
    package var refreshToken: Token
    /// Nil until the server has supplied it; only then is a log-in complete (app services, 4.4).
    package var profile: Profile?

    package init(
        userID: String,
        deviceID: String,
        provider: String,
        accessToken: Token,
        refreshToken: Token,
        profile: Profile? = nil
    ) {
        self.userID = userID
        self.deviceID = deviceID
        self.provider = provider
        self.accessToken = accessToken
        self.refreshToken = refreshToken
        self.profile = profile
    }

    /// Whether no later log-in can be for this user.
    package var isAnonymous: Bool {
        profile?.isAnonymous ?? (provider == Credential.anonymous.provider)
    }
}

/// Keeps one user's account across restarts.
package protocol AccountStore: Sendable {
    func load() async throws -> Account?
    func save(_ account: Account) async throws
    /// Forgets the tokens. The user id stays, so that realm files are known to be this user's.
    func forgetTokens() async throws
    /// Notes that the server refuses the tokens, and keeps them: nothing else identifies the user.
    func markRefused() async throws
    /// Whether the server has ended the last log-in; true until an account is saved.
    func isRefused() async throws -> Bool
    /// Whether an operator logged the user out here, and no log-in followed.
    func isLoggedOut() async throws -> Bool
    /// Deletes the tokens; from then on only an operator may log the user in again.
    func logOut() async throws
    /// Forgets that there ever was an account.
    func remove() async throws
}
