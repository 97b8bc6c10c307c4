import Glibc
import SQLite
import ServerStore

/// Upgrades a store of an older layout. Keeps a copy of the old store for a downgrade.
enum StoreUpgrade {
    /// The SQL that turns each layout into the next one.
    private static let steps: [Int64: String] = [
        // The expiry of log-in sessions was not recorded: none lasts longer than five years (app
        // services, 7).
        3: """
        ALTER TABLE login_session ADD COLUMN expires_at INTEGER NOT NULL DEFAULT 0;
        UPDATE login_session
            SET expires_at = created_at + 157680000000;
        CREATE INDEX login_session_end ON login_session (app_id, expires_at);
        """,
        // Earlier uploads of a user do not count against its quota.
        4: """
        ALTER TABLE client_file ADD COLUMN history_bytes INTEGER NOT NULL DEFAULT 0;
        CREATE INDEX client_file_of_user ON client_file (user_id, file_id);
        CREATE INDEX client_file_unidentified ON client_file (last_seen_at)
            WHERE session_epoch = 0;
        """,
        // Flexible sync has tables of its own; partition-based sync does not use them.
        5: StoreLayout.views,
    ]

    /// Whether this version can upgrade that layout.
    static func isPossible(from layout: Int64) -> Bool {
        steps.keys.contains(layout)
    }

    /// After a crash the store is unchanged or upgraded.
    static func run(on connection: Connection, from layout: Int64) throws {
        try keepCopy(of: connection, layout)
        try connection.transaction {
            for step in layout..<StoreLayout.version {
                guard let statements = steps[step] else { continue }
                try connection.execute(statements)
            }
            try connection.execute("PRAGMA user_version = \(StoreLayout.version)")
        }
    }

    /// A copy beside the store, with the same mode: `PATH.layout-N`.
    private static func keepCopy(of connection: Connection, _ layout: Int64) throws {
        let copy = "\(connection.path).layout-\(layout)"
        // Left by an interrupted upgrade; or by an earlier one, and then older than this store.
        unlink(copy)
        let descriptor = open(copy, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw StoreError(.unusable, "\(copy): \(String(cString: strerror(errno)))")
        }
        close(descriptor)
        try connection.run("VACUUM INTO ?1", [.text(copy)])
    }
}
