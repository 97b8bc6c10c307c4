package import Settings

/// An account that the agent logs in (section `users`).
package struct UserConfiguration: Hashable, Sendable {
    package var name: String
    package var app: AppConfiguration
    package var provider: Provider

    package enum Provider: Hashable, Sendable {
        case anonymous
        /// With `registers`, a missing account is created.
        case emailPassword(email: String, password: SecretReference, registers: Bool)
        case apiKey(SecretReference)
        case jwt(TokenSource)
        /// The payload is a JSON object; nil for an empty one.
        case function(payload: SecretReference?)
    }

    /// The source of another service's token, read each time one is needed.
    package enum TokenSource: Hashable, Sendable {
        case secret(SecretReference)
        /// A program that prints it, and its arguments.
        case command([String])
    }

    /// The e-mail address, of users that have one.
    package var email: String? {
        switch provider {
        case .emailPassword(let email, _, _): email
        case .anonymous, .apiKey, .jwt, .function: nil
        }
    }
}
