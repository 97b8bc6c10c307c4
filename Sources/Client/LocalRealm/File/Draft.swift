internal import SQLite
internal import Subscriptions
internal import Versions

/// The changes that a transaction is about to commit: the realm adopts them once the commit has
/// succeeded.
struct Draft {
    var state: RealmStateRow
    var catalogue: Catalogue
    /// Nil unless the realm uses flexible sync.
    var subscriptions: SubscriptionSets?
    /// The change of a realm of one partition to flexible sync; nil if there was none.
    var migration: RealmMigration?
    var ingest = IngestBacklog()
    /// `PRAGMA schema_version` when the tables last matched the catalogue.
    var schemaVersion: Int64?
    /// Applications' UNIQUE indexes on class tables, found then.
    var uniqueIndexes: [String] = []

    /// The applications' columns that were found then.
    private var applicationColumns: [String] = []
    /// Notices that are not reported yet.
    var notices: [SchemaNotice] = []

    init(state: RealmStateRow, catalogue: Catalogue) {
        self.state = state
        self.catalogue = catalogue
    }

    /// Tables or columns differ from what the agent made (local realm, 7.4).
    struct Altered: Error {
        let alterations: [String]
    }

    /// Whether no schema has changed since the tables last matched the catalogue.
    func isVerified(on connection: Connection) throws(SQLiteError) -> Bool {
        try connection.integer("PRAGMA schema_version") == schemaVersion
    }

    /// Compares the file with the catalogue if its schema has changed since the last time, and
    /// recreates missing or changed triggers and indexes.
    mutating func verify(on connection: Connection) throws {
        guard try !isVerified(on: connection) else { return }
        let findings = try SchemaVerifier(connection: connection, catalogue: catalogue).verify()
        guard findings.alterations.isEmpty else {
            throw Altered(alterations: findings.alterations + findings.repairable)
        }
        if !findings.repairable.isEmpty || findings.hasFormerTriggers {
            let editor = SchemaEditor(connection, catalogue, options: [:], published: 0)
            for table in catalogue.tables { try editor.renewParts(of: table) }
        }
        if !findings.repairable.isEmpty {
            notices.append(
                .repaired(
                    alterations: findings.repairable,
                    lackedTriggers: findings.lacksTriggers
                )
            )
        }
        let newColumns = findings.applicationColumns.filter { !applicationColumns.contains($0) }
        if !newColumns.isEmpty { notices.append(.applicationColumns(newColumns)) }
        applicationColumns = findings.applicationColumns
        uniqueIndexes = findings.uniqueIndexes
        schemaVersion = try connection.integer("PRAGMA schema_version")
    }

    /// Lets programs only read the tables, or write to them, regardless of earlier configurations.
    mutating func setReadOnly(_ isReadOnly: Bool, on connection: Connection) throws {
        catalogue.isReadOnly = isReadOnly
        let stored = try connection.integer(
            """
            SELECT count(*) FROM sqlite_schema
            WHERE type = 'trigger' AND name GLOB '\(Layout.prefix)[0-9]*_readonly_*'
            """
        )
        guard isReadOnly || stored != 0 else { return }
        let editor = SchemaEditor(connection, catalogue, options: [:], published: 0)
        for table in catalogue.tables { try editor.renewReadOnlyTriggers(of: table) }
        schemaVersion = try connection.integer("PRAGMA schema_version")
    }

    /// Replaces impossible times and sizes by possible ones.
    mutating func repairNumbers(on connection: Connection) throws {
        // If it were uploaded, the server would report versions that were never made here.
        let newest = try connection.integer("SELECT max(version) FROM _realm_history") ?? 0
        guard newest <= Int64(clamping: state.localVersion.rawValue) else {
            throw RealmStateRow.DamagedColumn(column: "_realm_history.version", value: "\(newest)")
        }
        var impossible = ImpossibleValues()
        try impossible.repairHistory(on: connection)
        let stamp = state.lastOriginTimestamp
        if stamp > .latestPlausible {
            // It would win every conflict from now on.
            let value = Int64(clamping: stamp.rawValue)
            impossible.add("_realm_state", "id", 1, "last_origin_timestamp", value)
            state.lastOriginTimestamp = OriginTimestamp(0)
        }
        if let notice = impossible.notice { notices.append(notice) }
    }

    /// Returns the notices that are not reported yet.
    mutating func takeNotices() -> [SchemaNotice] {
        defer { notices = [] }
        return notices
    }

    /// Adopts the changes an editor made to the tables in the current transaction.
    mutating func adopt(_ editor: SchemaEditor) throws(SQLiteError) {
        catalogue = editor.catalogue
        if editor.hasChangedTables {
            schemaVersion = try editor.connection.integer("PRAGMA schema_version")
        }
    }
}
