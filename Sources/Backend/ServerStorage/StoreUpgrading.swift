import PostgreSQL
import PostgreSQLServerStore
import SQLiteServerStore
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
            let found = try PostgreSQLLayout.prepare(connection, schema: database.schema)
            return "\(location) has layout \(found.version), the one of this version"
        }
    }
}
