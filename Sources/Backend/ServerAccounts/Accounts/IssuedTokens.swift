package import ServerStore

/// The tokens of a log-in session, and the ids that its client keeps with them (app services, 4.3).
package struct IssuedTokens: Sendable {
    package let accessToken: String
    package let refreshToken: String
    package let userID: UserID
    package let deviceID: String
}

extension IssuedTokens: CustomStringConvertible, CustomReflectable {
    package var description: String { "<redacted>" }
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}
