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

    func forEachSnapshotEntry(
        of file: ServerFileID,
        in snapshot: ServerVersion,
        at versions: [ServerVersion],
        _ visit: (HistoryEntry) throws(StoreError) -> Visit
    ) throws(StoreError) {
        var rest = versions[...]
        while !rest.isEmpty {
            let asked = rest.prefix(SnapshotRows.versionsAtOnce)
            let rows = try runner.read(SnapshotRows.reading(asked, of: file, in: snapshot))
            var size = 0
            var end = asked.last
            for row in 0..<rows.count {
                let entry = try SnapshotRows.entry(rows, row)
                size += entry.changeset.count
                if try visit(entry) == .stop { return }
                // A page that is full has fewer than were asked for.
                if size > SnapshotRows.bytesAtOnce { end = entry.version.version }
            }
            rest = rest.drop { version in end.map { version <= $0 } ?? true }
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
