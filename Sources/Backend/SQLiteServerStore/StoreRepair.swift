import Logging
import SQLite
import Scopes
import ServerStore

/// Removes unusable server files that earlier versions admitted: the partition is invalid, or
/// longer than a client may send.
enum StoreRepair {
    /// Must run before any other use of the store; logs each removal.
    static func run(in transaction: SQLiteTransaction) throws(StoreError) {
        try transaction.translating {
            let unusable = try unusableFiles(transaction.connection)
            guard !unusable.isEmpty else { return }
            try transaction.connection.transaction {
                for file in unusable { try transaction.remove(file.id) }
            }
            for file in unusable {
                transaction.logger.warning(
                    "an unusable realm was removed",
                    metadata: [
                        "code": "store.unusable", "app": "\(file.app)",
                        "file": "\(file.id.rawValue)",
                        "partition": "\(SQLiteTransaction.excerpt(of: file.name))",
                        "reason": "\(file.reason)",
                    ]
                )
            }
        }
    }

    private struct UnusableFile {
        let id: ServerFileID
        let app: String
        let name: [UInt8]
        let reason: String
    }

    private static func unusableFiles(_ connection: Connection) throws -> [UnusableFile] {
        let statement = try connection.statement(
            "SELECT file_id, app_id, partition FROM server_file"
        )
        defer { statement.reset() }
        var unusable: [UnusableFile] = []
        while try statement.step() {
            let name = statement.bytes(at: 2)
            let partition = Partition(stored: name)
            guard partition?.isShortEnough != true else { continue }
            unusable.append(
                UnusableFile(
                    id: ServerFileID(statement.integer(at: 0)),
                    app: statement.text(at: 1),
                    name: name,
                    reason: partition == nil
                        ? "its partition cannot be read"
                        : "its partition has more than \(Partition.maximumSizeInBytes) bytes"
                )
            )
        }
        return unusable
    }
}
