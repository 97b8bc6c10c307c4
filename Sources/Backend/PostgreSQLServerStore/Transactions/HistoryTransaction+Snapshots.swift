import PostgreSQL
import ServerStore
import Versions

extension HistoryTransaction {
    func forEachSnapshotEntry(
        of file: ServerFileID,
        in snapshot: ServerVersion,
        after version: ServerVersion,
        _ visit: (HistoryEntry) throws(StoreError) -> Visit
    ) throws(StoreError) {
        var position = version
        while true {
            let rows = try runner.read(
                SnapshotRows.readingPage(of: file, in: snapshot, after: position)
            )
            guard !rows.isEmpty else { return }
            for row in 0..<rows.count {
                let entry = try SnapshotRows.entry(rows, row)
                position = entry.version.version
                if try visit(entry) == .stop { return }
            }
        }
    }

    func appendSnapshot(
        _ changeset: [UInt8],
        at version: ServerVersion,
        of snapshot: ServerVersion,
        in file: ServerFileID,
        at now: Int64
    ) throws(StoreError) {
        try hold(file)
        try runner.write(
            SnapshotRows.insertion(of: changeset, at: version, of: snapshot, in: file, at: now)
        )
    }

    func removeSnapshots(
        of file: ServerFileID,
        only snapshot: ServerVersion?
    ) throws(StoreError) {
        try hold(file)
        // The statement looks at the rows of the file and its clients.
        try flush()
        try runner.write(
            snapshot.map { SnapshotRows.removal(of: file, only: $0) }
                ?? SnapshotRows.removalOfUnneeded(of: file)
        )
    }

    func removeUnfinishedSnapshots(of file: ServerFileID) throws(StoreError) {
        try hold(file)
        try flush()
        try runner.write(SnapshotRows.removalOfUnfinished(of: file))
    }
}
