package import JSON

/// A client's call of the password reset function (app services, 6).
package struct ResetCall: Sendable {
    let email: String
    let password: String
    /// Extended JSON, for the function.
    let arguments: [JSONValue]

    package init(email: String, password: String, arguments: [JSONValue]) {
        self.email = email
        self.password = password
        self.arguments = arguments
    }
}

extension ResetCall: CustomStringConvertible, CustomReflectable {
    package var description: String { "<redacted>" }
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}
