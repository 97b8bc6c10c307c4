internal import Glibc
internal import SQLite
internal import Versions

/// Finds out what file was opened, and makes it a realm if it is new.
///
/// A file that is not ours, or not this owner's, is left exactly as it was.
struct Opening {
    let state: RealmState
    let isAdoptedCopy: Bool

    init(
        _ configuration: LocalRealmConfiguration,
        _ connection: Connection,
        random: inout some RandomNumberGenerator
    ) throws {
        let path = configuration.path
        try Self.check(connection, configuration)
        try Self.configure(connection)
        let instance = (0..<16).map { _ in UInt8.random(in: 0...255, using: &random) }
        guard let home = FileHome.describe(path: path, machineID: configuration.machineID) else {
            throw LocalRealmError(.cannotOpen, path: path, String(cString: strerror(errno)))
        }

        (self.state, self.isAdoptedCopy) = try connection.transaction(.immediate) {
            guard var state = try Self.state(on: connection) else {
                try Layout.create(on: connection)
                let state = RealmState(
                    instance: instance,
                    home: home,
                    owner: configuration.owner
                )
                try state.save(to: connection)
                return (state, false)
            }
            guard state.home != home else { return (state, false) }
            // A copy made by other means than ours: it goes on as a file of its own, which asks the
            // server for another ident and keeps its cursors (features, C10).
            state.instance = instance
            state.home = home
            state.fileIdent = .none
            try state.save(to: connection)
            return (state, true)
        }
    }

    private static func state(on connection: Connection) throws(SQLiteError) -> RealmState? {
        guard try RealmState.layoutVersion(on: connection) != nil else { return nil }
        return try RealmState(from: connection)
    }

    /// Only reads.
    private static func check(
        _ connection: Connection,
        _ configuration: LocalRealmConfiguration
    ) throws {
        let path = configuration.path
        // The first read: it fails if the file is no database.
        let contents = try connection.integer("SELECT count(*) FROM sqlite_schema")
        guard let layout = try RealmState.layoutVersion(on: connection) else {
            guard contents == 0 else {
                throw LocalRealmError(
                    .notARealm,
                    path: path,
                    "the file is an SQLite database, but no local realm"
                )
            }
            return
        }
        guard layout <= Layout.version else {
            throw LocalRealmError(
                .newerLayout,
                path: path,
                "the file has layout \(layout); this version knows \(Layout.version)"
            )
        }
        guard let state = try RealmState(from: connection) else {
            throw LocalRealmError(.corrupt, path: path, "the file has lost its state row")
        }
        guard state.owner == configuration.owner else {
            throw LocalRealmError(
                .wrongOwner,
                path: path,
                "the file belongs to \(state.owner); it is configured for \(configuration.owner)"
            )
        }
    }

    /// The settings of the one connection that writes for the agent (local realm, 3.3 and 6).
    private static func configure(_ connection: Connection) throws(SQLiteError) {
        try connection.setTriggersEnabled(false)
        try connection.execute("PRAGMA journal_mode = WAL")
        try connection.execute("PRAGMA wal_autocheckpoint = 0")
        try connection.execute("PRAGMA foreign_keys = OFF")
        // Values are valid by construction; checking them again would halve the speed.
        try connection.execute("PRAGMA ignore_check_constraints = ON")
    }
}
