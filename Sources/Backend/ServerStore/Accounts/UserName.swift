/// The e-mail address of an account, in the one form under which it is unique: trimmed, and without
/// case (app services, 4.6).
package struct UserName: Hashable, Sendable {
    package let rawValue: String

    /// Longer texts are refused before any other work, as names and as ids of tokens: a peer chooses them.
    package static let maximumSizeInBytes = 254

    /// Nil unless there is text on both sides of one `@`, without blanks.
    package init?(_ text: String) {
        guard text.utf8.count <= Self.maximumSizeInBytes else { return nil }
        let trimmed = text.trimmed().lowercased()
        let parts = trimmed.split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ !$0.isEmpty }),
            trimmed.utf8.count <= Self.maximumSizeInBytes,
            !trimmed.unicodeScalars.contains(where: { $0.properties.isWhitespace || $0.value < 32 })
        else { return nil }
        self.rawValue = trimmed
    }
}

extension String {
    /// Without white space at either end.
    package func trimmed() -> String {
        let start = drop { $0.isWhitespace }
        guard let last = start.lastIndex(where: { !$0.isWhitespace }) else { return "" }
        return String(start[...last])
    }
}
