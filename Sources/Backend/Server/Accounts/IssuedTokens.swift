/// The tokens of a log-in session, and the ids that its client keeps with them (app services, 4.3).
struct IssuedTokens: Sendable {
    let accessToken: String
    let refreshToken: String
    let userID: UserID
    let deviceID: String
}

extension IssuedTokens: CustomStringConvertible, CustomReflectable {
    var description: String { "<redacted>" }
    var customMirror: Mirror { Mirror(self, children: [:]) }
}
