import ServerStore
import Versions

/// The store's contract on one connection. `AccountTransaction`, `FileTransaction` and
/// `HistoryTransaction` have its parts; documents are here.
final class PostgreSQLTransaction: HistoryTransaction, FileWriting {
    override func removeApp(_ app: AppID) throws(StoreError) {
        for file in try files(of: app) {
            try removeContent(of: file.id)
        }
        if try runner.read(ImportedObjectRows.presence).bool(0, 0) {
            try runner.write(ImportedObjectRows.removal(of: app))
        }
        try super.removeApp(app)
    }

    /// Removes a file with all its records.
    func removeContent(of file: ServerFileID) throws(StoreError) {
        let all = ServerVersion(UInt64(Int64.max))
        try writeInPortions(TouchedObjectRows.removal(of: file, upTo: all), to: file)
        try writeInPortions(HistoryRows.removal(of: file, upTo: all), to: file)
        try writeInPortions(DocumentRows.removal(in: file), to: file)
        try write(FileContent.removal(of: file), to: file)
        buffer.remove(file)
    }

    func removeIfEmpty(_ file: ServerFileID, seenBefore time: Int64?) throws(StoreError) {
        try hold(file)
        try flush()
        let rows = try runner.read(EmptyFileRows.reading(file, seenBefore: time))
        if !rows.isEmpty { try removeContent(of: file) }
    }
}
