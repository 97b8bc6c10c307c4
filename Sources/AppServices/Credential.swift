/// What a user proves its identity with (app services, 4.1).
package enum Credential: Sendable {
    case anonymous
    case emailPassword(email: String, password: String)

    /// The provider's name in paths and bodies.
    package var provider: String {
        switch self {
        case .anonymous: "anon-user"
        case .emailPassword: "local-userpass"
        }
    }

    var fields: [String: String] {
        switch self {
        case .anonymous: [:]
        case .emailPassword(let email, let password): ["username": email, "password": password]
        }
    }
}

extension Credential: CustomStringConvertible, CustomReflectable {
    package var description: String { provider }
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}
