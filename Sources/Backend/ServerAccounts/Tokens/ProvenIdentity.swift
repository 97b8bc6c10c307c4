import JSON
import ServerStore

/// The result of checking a credential.
struct ProvenIdentity: Sendable {
    let identity: Identity
    /// The user, if the credential names an existing one.
    var owner: UserID?
    var kind = User.Kind.normal
    /// Profile data from the credential.
    var data: [String: JSONValue] = [:]
}
