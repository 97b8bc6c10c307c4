/// A client's name and password. Neither appears in logs.
package struct EmailPasswordCredential: Sendable {
    let name: String
    let password: String

    package init(name: String, password: String) {
        self.name = name
        self.password = password
    }
}

extension EmailPasswordCredential: CustomStringConvertible, CustomReflectable {
    package var description: String { "<redacted>" }
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}
