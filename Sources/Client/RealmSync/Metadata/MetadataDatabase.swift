import Glibc
import SQLite

/// Records beside the realm files: accounts with their tokens, and the path and owner of each realm
/// (interfaces, 2).
///
/// One writer, write-ahead log, every commit durable; the file is readable by the agent alone.
package actor MetadataDatabase {
    let connection: Connection
    private let executor: DatabaseExecutor

    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    /// Closes the file, so that its log does not stay behind; every later call fails.
    package func close() {
        connection.close()
    }

    /// The file belongs to another version of the agent, or to another program.
    package struct UnknownLayout: Error, CustomStringConvertible {
        package let path: String
        package let version: Int64

        package var description: String {
            "\(path) has layout \(version), which this version does not know; "
                + "install the version that wrote it, or go back to what that version kept as "
                + "\(path).layout-N, or move the file away to log in again"
        }
    }

    private static let layoutVersion: Int64 = 2

    package init(path: String) throws {
        try Self.createPrivate(path)
        self.executor = DatabaseExecutor(label: "metadata")
        do {
            self.connection = try Connection(path: path)
            try connection.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL")
            try Self.keepOldLayout(of: connection, path: path)
            try Self.prepareLayout(of: connection, path: path)
        } catch let error as SQLiteError {
            throw Inaccessible(path: path, error)
        }
    }

    /// The file cannot be created, or not be made private.
    package struct Inaccessible: Error, CustomStringConvertible {
        package let path: String
        private let cause: Cause

        private enum Cause {
            case diskFull
            case damaged(String)
            case system(String)
        }

        fileprivate init(path: String, _ error: SQLiteError) {
            self.path = path
            self.cause =
                switch error.condition {
                case .diskFull: .diskFull
                case .notADatabase, .corrupt: .damaged(error.message)
                case .busy, .inputOutput, .cannotOpen, .readOnly, .constraint, .other:
                    .system(error.message)
                }
        }

        fileprivate static func lastSystemError(at path: String) -> Self {
            let isDiskFull = errno == ENOSPC || errno == EDQUOT
            return Self(
                path: path,
                cause: isDiskFull ? .diskFull : .system(String(cString: strerror(errno)))
            )
        }

        private init(path: String, cause: Cause) {
            self.path = path
            self.cause = cause
        }

        /// It can be used once there is space.
        package var isDiskFull: Bool {
            if case .diskFull = cause { true } else { false }
        }

        package var description: String {
            switch cause {
            case .diskFull: "\(path) cannot be used: no space is left on its file system"
            case .damaged(let reason):
                "\(path) cannot be used: \(reason); restore it from a backup, or move it away to log in again"
            case .system(let reason):
                "\(path) cannot be used: \(reason); it must belong to the user of this program"
            }
        }
    }

    /// Created here because SQLite would apply the umask; SQLite's other files get the mode of this
    /// one.
    private static func createPrivate(_ path: String) throws(Inaccessible) {
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw Inaccessible.lastSystemError(at: path)
        }
        defer { Glibc.close(descriptor) }
        guard fchmod(descriptor, 0o600) == 0 else {
            throw Inaccessible.lastSystemError(at: path)
        }
    }

    /// Before an upgrade changes the file, a copy for those who have to go back: the older version
    /// finds it again as `PATH.layout-N`.
    private static func keepOldLayout(of connection: Connection, path: String) throws {
        let hasLayout = try connection.integer(
            "SELECT count(*) FROM sqlite_schema WHERE name = 'layout'"
        )
        guard hasLayout == 1, let version = try connection.integer("SELECT version FROM layout"),
            (1..<layoutVersion).contains(version)
        else { return }
        let copy = "\(path).layout-\(version)"
        // Left by an interrupted upgrade, or by an earlier one and then older than the present
        // file.
        unlink(copy)
        try createPrivate(copy)
        try connection.run("VACUUM INTO ?1", [.text(copy)])
    }

    private static func prepareLayout(of connection: Connection, path: String) throws {
        try connection.transaction {
            try connection.execute(
                "CREATE TABLE IF NOT EXISTS layout(version INTEGER NOT NULL) STRICT"
            )
            let version = try connection.integer("SELECT version FROM layout")
            if version == 1 { try connection.execute(upgradeFromFirstLayout) }
            guard version.map({ (1...layoutVersion).contains($0) }) ?? true else {
                throw UnknownLayout(path: path, version: version ?? 0)
            }
            try connection.execute(schema)
            if version == nil {
                try connection.run(
                    "INSERT INTO layout(version) VALUES (?)",
                    [.integer(layoutVersion)]
                )
            }
        }
    }

    private static let schema = """
        CREATE TABLE IF NOT EXISTS user(
            name TEXT PRIMARY KEY, app_id TEXT NOT NULL, user_id TEXT NOT NULL,
            device_id TEXT NOT NULL, provider TEXT NOT NULL, state TEXT NOT NULL,
            access_token TEXT, refresh_token TEXT, logged_in_at INTEGER NOT NULL,
            identities TEXT, profile TEXT
        ) STRICT;
        CREATE TABLE IF NOT EXISTS realm(
            name TEXT PRIMARY KEY, path TEXT, instance TEXT, home TEXT, app_id TEXT,
            user_id TEXT, sync_mode TEXT, partition TEXT, local_version INTEGER,
            first_download_finished INTEGER, is_suspended INTEGER, suspended_until INTEGER,
            suspended_by TEXT, last_connected INTEGER, last_uploaded INTEGER,
            last_downloaded INTEGER, pending_file_action TEXT
        ) STRICT;
        CREATE TABLE IF NOT EXISTS refresh(realm TEXT PRIMARY KEY, began_at INTEGER NOT NULL) STRICT;
        CREATE TABLE IF NOT EXISTS location(
            app_id TEXT PRIMARY KEY, base_url TEXT NOT NULL, hostname TEXT NOT NULL,
            ws_hostname TEXT NOT NULL, fetched_at INTEGER NOT NULL
        ) STRICT;
        """

    /// The first layout had a register of realms that nothing was ever written to.
    private static let upgradeFromFirstLayout = """
        DROP TABLE realm;
        ALTER TABLE user ADD COLUMN identities TEXT;
        ALTER TABLE user ADD COLUMN profile TEXT;
        UPDATE user SET identities = '[]';
        UPDATE layout SET version = 2;
        """
}
