internal import Glibc
internal import SQLite
internal import Schemas
import Scopes
internal import Versions

/// Identifies the opened file, makes it a realm if it is new, and adds the declared classes.
///
/// A file that is not ours, or not this owner's, or whose schema contradicts the declared one, is
/// left exactly as it was.
struct RealmFileSetup {
    let draft: Draft
    let isAdoptedCopy: Bool
    let options: [PropertyName: PropertyOptions]

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
        (self.draft, self.isAdoptedCopy, self.options) = try connection.transaction(.immediate) {
            let (state, isAdoptedCopy) = try Self.state(
                connection,
                new: RealmStateRow(instance: instance, home: home, owner: configuration.owner)
            )
            let store = CatalogueStore(connection: connection)
            let migration = try MigrationRow(connection: connection).read()
            let options =
                try migration?.options(configuration.options, on: connection)
                ?? configuration.options
            var draft = Draft(state: state, catalogue: try store.load(options: options))
            draft.migration = migration
            if state.owner.scope == .subscriptions { try draft.loadSubscriptions(on: connection) }
            try draft.verify(on: connection)
            try draft.setReadOnly(configuration.isReadOnly, on: connection)
            try draft.repairNumbers(on: connection)
            if let declared = configuration.schema {
                try Self.declare(declared, configuration, options, connection, &draft)
            }
            try draft.ingest.reload(
                draft.catalogue,
                after: state.progress.upload.clientVersion,
                on: connection
            )
            if migration != nil { try draft.renewDefaults(options, on: connection) }
            try store.saveCounters(configuration.counters(in: draft.catalogue.schema))
            return (draft, isAdoptedCopy, options)
        }
    }

    /// As far as a realm is known before its file is read.
    init(unread row: RealmStateRow, _ configuration: LocalRealmConfiguration) {
        self.draft = Draft(state: row, catalogue: Catalogue())
        self.isAdoptedCopy = false
        self.options = configuration.options
    }

    /// Returns the state row of the file; creates it if the file is new.
    private static func state(
        _ connection: Connection,
        new: RealmStateRow
    ) throws -> (RealmStateRow, isAdoptedCopy: Bool) {
        guard try RealmStateRow.layoutVersion(on: connection) != nil,
            var state = try RealmStateRow(from: connection)
        else {
            try Layout.create(on: connection)
            try new.save(to: connection)
            return (new, false)
        }
        guard state.home != new.home else { return (state, false) }
        // The file was copied without the agent: it continues as a file of its own, which asks the
        // server for another ident and keeps its cursors (features, C10).
        state.instance = new.instance
        state.home = new.home
        state.fileIdent = .none
        try state.save(to: connection)
        return (state, true)
    }

    private static func declare(
        _ declared: RealmSchema,
        _ configuration: LocalRealmConfiguration,
        _ options: [PropertyName: PropertyOptions],
        _ connection: Connection,
        _ draft: inout Draft
    ) throws {
        let conflicts = draft.catalogue.schema.conflicts(withDeclared: declared)
        guard conflicts.isEmpty else {
            throw LocalRealmError(
                .schemaConflict,
                path: configuration.path,
                conflicts.map(\.description).joined(separator: "; ")
            )
        }
        var editor = SchemaEditor(
            connection,
            draft.catalogue,
            options: options,
            published: 0
        )
        do {
            try editor.add(declared)
        } catch let problem as BadInstruction {
            throw LocalRealmError(.schemaConflict, path: configuration.path, "\(problem)")
        }
        try editor.flush()
        try editor.renewDefaults()
        try draft.adopt(editor)
    }
}

// MARK: Before anything is written

extension RealmFileSetup {
    private static func check(
        _ connection: Connection,
        _ configuration: LocalRealmConfiguration
    ) throws {
        let path = configuration.path
        // SQLite would treat a file of one byte as empty, and overwrite it.
        guard FileHome.isEmptyOrLarger(than: 512, path) else {
            throw LocalRealmError(
                .notARealm,
                path: path,
                "the file is too short for an SQLite database"
            )
        }
        // The first read: it fails if the file is not a database.
        let contents = try connection.integer("SELECT count(*) FROM sqlite_schema")
        guard let layout = try RealmStateRow.layoutVersion(on: connection) else {
            guard contents == 0 else {
                throw LocalRealmError(
                    .notARealm,
                    path: path,
                    "the file is an SQLite database, but not a local realm"
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
        guard let state = try RealmStateRow(from: connection) else {
            throw LocalRealmError(.corrupt, path: path, "the file has no state row")
        }
        let migration = try MigrationRow(connection: connection).read()
        guard
            state.owner == configuration.owner
                || migration?.allows(configuration.owner, state) == true
        else {
            throw LocalRealmError(
                .wrongOwner,
                path: path,
                "the file belongs to \(state.owner); it is configured for \(configuration.owner)"
            )
        }
    }

    /// The settings of the one connection that writes for the agent (local realm, 3.3 and 6).
    static func configure(_ connection: Connection) throws(SQLiteError) {
        try connection.setTriggersEnabled(false)
        // Takes effect in a new file, before anything is written to it: see `Checkpointer`. In one that has it,
        // SQLite would write the setting again, and each file that is opened would have a log.
        if try connection.integer("PRAGMA auto_vacuum") != incrementalVacuum {
            try connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        }
        try connection.execute("PRAGMA journal_mode = WAL")
        try connection.execute("PRAGMA wal_autocheckpoint = 0")
        try connection.execute("PRAGMA foreign_keys = OFF")
        // Debian's library would write each page of an uploaded changeset or a drained log once more, full of
        // zeros. Without that, and without a savepoint for acknowledgements, 100 000 objects are uploaded with
        // 800 writes, not 22 700, and 1.7 microseconds of processor time each, not 2.9
        // (`Benchmarks/transfer.py`).
        try connection.execute("PRAGMA secure_delete = FAST")
        // Other programs write the file, too.
        try connection.execute("PRAGMA cell_size_check = ON")
        // Values are valid by construction; checking them again would halve the speed.
        try connection.execute("PRAGMA ignore_check_constraints = ON")
    }

    private static let incrementalVacuum: Int64 = 2
}
