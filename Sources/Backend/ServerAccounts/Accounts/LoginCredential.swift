package import JSON

/// A client's credential, by provider (app services, 4.1).
package enum LoginCredential: Sendable {
    case anonymous
    case emailPassword(EmailPasswordCredential)
    case apiKey(APIKeySecret)
    /// A token that a third party has signed.
    case customToken(String)
    /// The payload for the operator's function.
    case customFunction([String: JSONValue])
}

extension LoginCredential: CustomStringConvertible, CustomReflectable {
    package var description: String { "<redacted>" }
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}
