import PostgreSQL
import PostgreSQLServerStore
import SQLiteServerStore
import ServerCluster
package import ServerConfig

/// Brings a store to the layout of this version, while no server uses it.
package enum StoreUpgrading {
    /// Returns a sentence on the result, without a full stop.
    package static func run(
        _ location: StorageLocation,
        _ secrets: SecretReader
    ) throws -> String {
        switch location {
        case .sqlite(let path):
            let store = try StoppedStore(path: path, createsFile: false)
            if let place = try store.movedTo() {
                throw StoreCopyFailure("\(location) was moved to \(place)")
            }
            return "\(location) has the layout of this version"
        case .postgreSQL(let database):
            let connection = try Connection(
                Target(database, secrets),
                deadline: .after(.seconds(10))
            )
            try refuseOthers(connection, database)
            let found = try PostgreSQLLayout.prepare(connection, schema: database.schema)
            return "\(location) has layout \(found.version), the one of this version"
        }
    }

    /// A program of another layout could not use the store any more (server on PostgreSQL, 6.6).
    private static func refuseOthers(
        _ connection: Connection,
        _ database: PostgreSQLLocation
    ) throws {
        guard
            case .found(let found) = try PostgreSQLLayout.survey(
                connection,
                schema: database.schema
            )
        else { return }
        guard found.version <= PostgreSQLLayout.version else {
            throw StoreCopyFailure(
                "the store has layout \(found.version) of a later program; run \"store upgrade\" of that one"
            )
        }
        let rows = try connection.run(
            """
            SELECT host, program FROM process
            WHERE seen_at > now() - make_interval(secs => $2::int8) AND layout < $1::int8 LIMIT 1
            """,
            [.integer(PostgreSQLLayout.version), .integer(ProcessLimits.aliveSeconds)]
        )
        guard rows.count > 0 else { return }
        throw StoreCopyFailure(
            "a process on \(try rows.string(0, 0)) has version \(try rows.string(0, 1)), which knows an "
                + "older layout; upgrade it first"
        )
    }
}
