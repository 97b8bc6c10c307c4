import ServerStore

/// The names that PostgreSQL accepts for users, databases and schemas.
enum NameText {
    /// PostgreSQL cuts longer names, to one that may be another's.
    static let limitInBytes = 63

    static func isValid(_ name: String) -> Bool {
        !name.isEmpty && name.utf8.count <= limitInBytes && !name.utf8.contains(0)
    }

    /// The usual schema of an app's typed views; nil if its id is too long for one.
    static func viewSchema(of app: AppID) -> String? {
        let name = "app_\(app)"
        return isValidSchema(name) ? name : nil
    }

    /// Names that begin with `pg_` are PostgreSQL's own.
    static func isValidSchema(_ name: String) -> Bool {
        isValid(name) && !name.hasPrefix("pg_")
    }
}
