/// A client's name and password. Neither appears in logs.
struct EmailPasswordCredential: Sendable {
    let name: String
    let password: String
}

extension EmailPasswordCredential: CustomStringConvertible, CustomReflectable {
    var description: String { "<redacted>" }
    var customMirror: Mirror { Mirror(self, children: [:]) }
}
