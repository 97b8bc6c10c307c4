/// The names that PostgreSQL accepts for users, databases and schemas.
enum NameText {
    /// PostgreSQL cuts longer names, to one that may be another's.
    static let limitInBytes = 63

    static func isValid(_ name: String) -> Bool {
        !name.isEmpty && name.utf8.count <= limitInBytes && !name.utf8.contains(0)
    }

    /// Names that begin with `pg_` are PostgreSQL's own.
    static func isValidSchema(_ name: String) -> Bool {
        isValid(name) && !name.hasPrefix("pg_")
    }
}
