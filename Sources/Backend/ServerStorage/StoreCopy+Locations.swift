import PostgreSQL
import SQLiteServerStore
package import ServerConfig

extension StoreCopy {
    /// Copies a stopped server's store into an empty one; returns the rows of each table.
    ///
    /// Throws `StoreCopyFailure`, and the errors of both stores.
    package static func run(
        from source: StorageLocation,
        to target: StorageLocation,
        _ secrets: SecretReader,
        progress: @escaping Progress = { _, _, _ in }
    ) throws -> [(table: String, rows: Int)] {
        guard source != target else {
            throw StoreCopyFailure("the two stores are the same; name an empty one to copy to")
        }
        let copy = StoreCopy(
            source: try end(source, isTarget: false, secrets),
            target: try end(target, isTarget: true, secrets),
            progress: progress
        )
        return try copy.run()
    }

    private static func end(
        _ location: StorageLocation,
        isTarget: Bool,
        _ secrets: SecretReader
    ) throws -> any CopyEnd {
        switch location {
        case .sqlite(let path):
            try SQLiteCopyEnd(path: path, isTarget: isTarget)
        case .postgreSQL(let database):
            try PostgreSQLCopyEnd(
                Target(database, secrets),
                place: "\(location)",
                schema: database.schema,
                isTarget: isTarget
            )
        }
    }
}
