/// A role in the words of this server.
struct ImportedRole {
    var name: String
    /// Nil: all users.
    var applyWhen: String?
    var read = "false"
    var write = "false"
    var insert: String?
    var delete: String?
    var fields: [(name: String, read: Bool, write: Bool)] = []
    var otherFields: (read: Bool, write: Bool)?

    /// `TRUEPREDICATE` as the word of a configuration.
    static func permission(_ filter: String) -> String {
        switch filter {
        case "TRUEPREDICATE": "true"
        case "FALSEPREDICATE": "false"
        default: filter
        }
    }
}
