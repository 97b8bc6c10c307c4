internal import Changesets
internal import SQLite
internal import Versions

/// The row `_realm_migration` (flexible sync, 16.1).
struct MigrationRow {
    let connection: Connection

    /// Nil if the realm was never changed to flexible sync.
    func read() throws -> RealmMigration? {
        let row = try connection.row(
            """
            SELECT state, query, partition, started_at, completed_at, sentinel_version
            FROM _realm_migration WHERE id = 1
            """
        )
        guard let row else { return nil }
        guard case .integer(let code) = row[0], let state = RealmMigration.State(rawValue: code),
            case .text(let query) = row[1], case .text(let partition) = row[2],
            case .integer(let startedAt) = row[3]
        else {
            throw RealmStateRow.DamagedColumn(column: "_realm_migration.state", value: "\(row[0])")
        }
        var migration = RealmMigration(
            state: state,
            query: Text(query),
            partition: Text(partition),
            startedAt: startedAt,
            completedAt: nil,
            sentinel: nil
        )
        if case .integer(let time) = row[4] { migration.completedAt = time }
        if case .integer(let version) = row[5], 0...Int64.max / 2 ~= version {
            migration.sentinel = QueryVersion(UInt64(version))
        }
        return migration
    }

    func write(_ migration: RealmMigration) throws(SQLiteError) {
        try connection.run(
            """
            INSERT OR REPLACE INTO _realm_migration(id, state, query, partition, started_at,
              completed_at, sentinel_version) VALUES (1, ?1, ?2, ?3, ?4, ?5, ?6)
            """,
            [
                .integer(migration.state.rawValue), .text("\(migration.query)"),
                .text("\(migration.partition)"), .integer(migration.startedAt),
                migration.completedAt.map { .integer($0) } ?? .null,
                migration.sentinel.map { .integer(Int64(clamping: $0.rawValue)) } ?? .null,
            ]
        )
    }

    func remove() throws(SQLiteError) {
        try connection.run("DELETE FROM _realm_migration")
    }
}
