package import Settings

/// An account that the agent logs in (section `users`).
package struct UserConfiguration: Hashable, Sendable {
    package var name: String
    package var app: AppConfiguration
    package var provider: Provider

    package enum Provider: Hashable, Sendable {
        case anonymous
        /// With `registers` an account that is not there yet is created.
        case emailPassword(email: String, password: SecretReference, registers: Bool)
    }

    /// The e-mail address, of users that have one.
    package var email: String? {
        switch provider {
        case .anonymous: nil
        case .emailPassword(let email, _, _): email
        }
    }
}
