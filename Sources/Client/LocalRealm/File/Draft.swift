internal import SQLite
internal import Versions

/// What a transaction is about to commit: the realm takes it over once the commit has succeeded.
struct Draft {
    var state: RealmStateRow
    var catalogue: Catalogue
    /// `PRAGMA schema_version` when the tables were last found as the catalogue has them.
    var schemaVersion: Int64?
    /// Applications' UNIQUE indexes on class tables, found then.
    var uniqueIndexes: [String] = []

    /// The applications' columns that were found then.
    private var applicationColumns: [String] = []
    /// What has not been reported yet.
    var notices: [SchemaNotice] = []

    init(state: RealmStateRow, catalogue: Catalogue) {
        self.state = state
        self.catalogue = catalogue
    }

    /// Tables or columns are not as the agent made them (local realm, 7.4).
    struct Altered: Error {
        let alterations: [String]
    }

    /// Compares the file with the catalogue if anybody has changed its schema since the last time, and
    /// makes triggers and indexes anew that are not as they should be.
    mutating func verify(on connection: Connection) throws {
        let current = try connection.integer("PRAGMA schema_version")
        guard current != schemaVersion else { return }
        let findings = try SchemaVerifier(connection: connection, catalogue: catalogue).verify()
        guard findings.alterations.isEmpty else {
            throw Altered(alterations: findings.alterations + findings.repairable)
        }
        if !findings.repairable.isEmpty {
            let editor = SchemaEditor(connection, catalogue, options: [:], published: 0)
            for table in catalogue.tables { try editor.renewParts(of: table) }
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

    /// Replaces times and sizes that cannot be by what can.
    mutating func repairNumbers(on connection: Connection) throws {
        // An upload of it would make the server speak of versions that were never made here.
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

    /// Hands out what has not been reported yet.
    mutating func takeNotices() -> [SchemaNotice] {
        defer { notices = [] }
        return notices
    }

    /// Takes over what an editor has made of the tables in the current transaction.
    mutating func adopt(_ editor: SchemaEditor) throws(SQLiteError) {
        catalogue = editor.catalogue
        if editor.hasChangedTables {
            schemaVersion = try editor.connection.integer("PRAGMA schema_version")
        }
    }
}
