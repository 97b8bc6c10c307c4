import SQLite
import ServerStore

/// Reads and writes the rows of server files and client files in a transaction.
class SQLiteFileTransaction: SQLiteLogInTransaction {
    /// Those of flexible sync with rows of client files.
    static let clientViewTables = ["view_epoch", "view_range", "write_rejection"]

    /// Removes an app with its accounts and files.
    func removeApp(_ app: AppID) throws(StoreError) {
        try translating {
            let content = [
                "history", "client_file", "reciprocal", "snapshot", "object", "touched_object",
            ]
            for table in content + Self.clientViewTables {
                try connection.run(
                    """
                    DELETE FROM \(table)
                    WHERE file_id IN (SELECT file_id FROM server_file WHERE app_id = ?)
                    """,
                    [.text(app.rawValue)]
                )
            }
            let tables = [
                "server_file", "api_key", "account_token", "password_account", "login_session",
                "identity", "user", "signing_key", "imported_object", "app",
            ]
            for table in tables {
                try connection.run(
                    "DELETE FROM \(table) WHERE app_id = ?",
                    [.text(app.rawValue)]
                )
            }
        }
    }
}
