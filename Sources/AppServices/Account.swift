/// A user as this machine remembers it between runs (interfaces, 2).
package struct Account: Sendable, Equatable {
    package let userID: String
    package let deviceID: String
    package let provider: String
    package var accessToken: Token
    package var refreshToken: Token

    package init(
        userID: String,
        deviceID: String,
        provider: String,
        accessToken: Token,
        refreshToken: Token
    ) {
        self.userID = userID
        self.deviceID = deviceID
        self.provider = provider
        self.accessToken = accessToken
        self.refreshToken = refreshToken
    }
}

/// Keeps one user's account across restarts.
package protocol AccountStore: Sendable {
    func load() async throws -> Account?
    func save(_ account: Account) async throws
    /// Forgets the tokens. The user id stays, so that realm files are known to be this user's.
    func forgetTokens() async throws
}
