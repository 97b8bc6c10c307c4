/// The configured users: the answer of `GET /v1/users`.
package struct UsersReport: Codable, Sendable, Equatable {
    package let users: [UserReport]

    package init(users: [UserReport]) {
        self.users = users
    }
}

/// One configured user, without any secret.
package struct UserReport: Codable, Sendable, Equatable {
    package var name: String
    package var app: String
    package var provider: String
    /// `never-logged-in`, `logged-in`, `expired` or `logged-out`.
    package var state: String
    package var userId: String?
    /// ISO 8601, UTC.
    package var loggedInAt: String?
    /// The providers of the user's identities at the server.
    package var identities: [String]?

    package init(name: String, app: String, provider: String, state: String) {
        self.name = name
        self.app = app
        self.provider = provider
        self.state = state
    }
}

/// Operations on a user: `POST /v1/users/U/{…}`.
package enum UserOperation: String, Sendable, CaseIterable {
    case login
    case logout
    /// Gets a new access token, and with it newer custom data.
    case refresh
    /// Links the configured credential to the user that is logged in.
    case link
    /// Forgets the user here, with its realm files.
    case remove
    /// Creates the configured account.
    case register
    case confirm
    case resendConfirmation = "resend-confirmation"
    case resetPassword = "reset-password"
    /// Deletes the user at the server, too.
    case delete
}

/// The body of a user's operation; which members count depends on it.
package struct UserRequest: Codable, Sendable, Equatable {
    /// Goes ahead although writes would be lost.
    package var force: Bool?
    /// The token that the owner of the account received by mail.
    package var token: String?
    package var tokenId: String?
    /// Has the app's own function called, where the server would send something.
    package var callsFunction: Bool?

    package init(
        force: Bool? = nil,
        token: String? = nil,
        tokenId: String? = nil,
        callsFunction: Bool? = nil
    ) {
        self.force = force
        self.token = token
        self.tokenId = tokenId
        self.callsFunction = callsFunction
    }
}

extension UserRequest: CustomStringConvertible, CustomReflectable {
    package var description: String { "<redacted>" }
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}
