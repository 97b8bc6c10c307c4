import JSON

/// What a client shows to be let in, by provider (app services, 4.1).
enum Credential: Sendable {
    case anonymous
    case emailPassword(EmailPasswordCredential)
    case apiKey(APIKeySecret)
    /// A token that somebody else has signed.
    case customToken(String)
    /// Whatever the operator's function takes.
    case customFunction([String: JSONValue])
}

extension Credential: CustomStringConvertible, CustomReflectable {
    var description: String { "<redacted>" }
    var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// What a credential has proven.
struct ProvenIdentity: Sendable {
    let identity: Identity
    /// The user, where the credential names one that is there already.
    var owner: UserID?
    var kind = User.Kind.normal
    /// Of the user's profile, as the credential tells it.
    var data: [String: JSONValue] = [:]
}
