package import JSON

/// Names a user: 24 hexadecimal digits, since clients name directories by it (app services, 4.3).
package struct UserID: Hashable, Sendable {
    package let rawValue: String

    package init(_ rawValue: String) {
        self.rawValue = rawValue
    }
}

extension UserID: CustomStringConvertible {
    package var description: String { rawValue }
}

/// The authentication providers that this server offers (app services, 4.1).
package enum ProviderType: String, Hashable, Sendable {
    case anonymous = "anon-user"
    case emailPassword = "local-userpass"
    case apiKey = "api-key"
    case customToken = "custom-token"
    case customFunction = "custom-function"
}

/// One way for a user to log in: unique by app, provider and id.
package struct Identity: Hashable, Sendable {
    package let id: String
    package let provider: ProviderType
    /// Empty for an anonymous user.
    package let email: String

    package init(id: String, provider: ProviderType, email: String) {
        self.id = id
        self.provider = provider
        self.email = email
    }
}

package struct User: Hashable, Sendable {
    package let id: UserID
    package let identities: [Identity]
    package let isDisabled: Bool
    package let kind: Kind
    /// Profile data from a third party's token or the operator's function.
    package let data: [String: JSONValue]

    package enum Kind: String, Hashable, Sendable {
        case normal
        /// A program with an API key of the operator.
        case server
    }

    package init(
        id: UserID,
        identities: [Identity],
        isDisabled: Bool,
        kind: Kind = .normal,
        data: [String: JSONValue] = [:]
    ) {
        self.id = id
        self.identities = identities
        self.isDisabled = isDisabled
        self.kind = kind
        self.data = data
    }
}

extension User {
    /// The user's data for profiles and rules (app services, 7.1).
    package var profileData: [String: JSONValue] {
        var data = data
        if let email = identities.first(where: { !$0.email.isEmpty })?.email {
            data["email"] = .string(email)
        }
        return data
    }
}

/// A name registered with a password. The first log-in creates its user.
package struct PasswordAccount: Hashable, Sendable {
    /// The id of the identity that this account proves.
    package let identityID: String
    package let hash: PasswordHash
    /// An account that is not confirmed cannot log in.
    package let isConfirmed: Bool

    package init(identityID: String, hash: PasswordHash, isConfirmed: Bool = true) {
        self.identityID = identityID
        self.hash = hash
        self.isConfirmed = isConfirmed
    }
}

/// One log-in of one device; its refresh token names it.
package struct LoginSession: Hashable, Sendable {
    package let digest: SessionDigest
    package let userID: UserID
    package let deviceID: String
    /// The client's description of its device, as JSON.
    package let device: String
    /// Expiry of its refresh token, in milliseconds since 1970.
    package let expiresAt: Int64
    package let isRevoked: Bool

    package init(
        digest: SessionDigest,
        userID: UserID,
        deviceID: String,
        device: String,
        expiresAt: Int64,
        isRevoked: Bool = false
    ) {
        self.digest = digest
        self.userID = userID
        self.deviceID = deviceID
        self.device = device
        self.expiresAt = expiresAt
        self.isRevoked = isRevoked
    }
}

/// Signs and verifies the tokens of one app.
package struct SigningKey: Hashable, Sendable {
    /// Names the key in token headers.
    package let id: String
    /// 256 random bits.
    package let secret: [UInt8]

    package init(id: String, secret: [UInt8]) {
        self.id = id
        self.secret = secret
    }
}

extension SigningKey: CustomStringConvertible, CustomReflectable {
    package var description: String { "<redacted>" }
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}
