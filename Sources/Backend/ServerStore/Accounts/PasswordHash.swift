/// A yescrypt hash with its salt and cost, in the usual text form.
package struct PasswordHash: Hashable, Sendable {
    package let text: String

    package init(text: String) {
        self.text = text
    }

    /// Of an account without password: no password matches it, and a reset sets one.
    package static let unusable = PasswordHash(text: "!")
}

extension PasswordHash: CustomStringConvertible, CustomReflectable {
    package var description: String { "<redacted>" }
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}
