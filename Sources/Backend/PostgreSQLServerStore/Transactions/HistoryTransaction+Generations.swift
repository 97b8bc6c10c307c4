import PostgreSQL
import ServerStore
import Versions

/// Terminations of sync: one row begins a generation of all files of an app. Each file starts over in the
/// next transaction that locks it, and remains go away in portions (server on PostgreSQL, 6.3).
extension HistoryTransaction {
    func beginGeneration(of app: AppID) throws(StoreError) {
        try flush()
        try runner.write(AppRows.beginningGeneration(of: app))
    }

    func filesWithRemains(
        of app: AppID,
        after file: ServerFileID?,
        limit: Int
    ) throws(StoreError) -> [ServerFileID] {
        try flushIfWriting()
        let rows = try runner.read(RemainsRows.reading(of: app, after: file, limit: limit))
        return try rows.map { row throws(StoreError) in ServerFileID(try rows.integer(row, 0)) }
    }

    func removeRemains(of file: ServerFileID) throws(StoreError) -> Bool {
        // Starts the file over if that is still to be done.
        try hold(file)
        guard let known = buffer[file].known?.file else { return false }
        try flush()
        for step in RemainsRows.portions(of: known) {
            guard let rows = try runner.run([step]).first, rows.changes < RemainsRows.portion else {
                return true
            }
        }
        try write(RemainsRows.end(of: known), to: file)
        return false
    }
}
