import ServerStore
import Versions

/// Entries of a history behind a cursor, without those for other clients.
struct HistoryPart {
    let file: ServerFileID
    let entries: [HistoryEntry]
    /// The version up to which the part has everything.
    let end: ServerVersion
}

/// Reads parts of a history for one client.
struct PartReader {
    let client: FileIdent
    let file: ServerFile
    let store: any FileReading

    /// Ends behind the entry that exceeds the limit, or at the end of the history.
    func read(
        after start: ServerVersion,
        limitInBytes: Int
    ) throws(StoreError) -> HistoryPart {
        var entries: [HistoryEntry] = []
        var sizeInBytes = 0
        var end = file.currentVersion
        try store.forEachEntry(of: file.id, after: start, readBy: client) { entry in
            entries.append(entry)
            sizeInBytes += entry.changeset.count + Self.entrySizeInBytes
            guard sizeInBytes > limitInBytes else { return .next }
            end = entry.version.version
            return .stop
        }
        return HistoryPart(file: file.id, entries: entries, end: end)
    }

    /// Roughly the memory of an entry without its changeset.
    private static let entrySizeInBytes = 128
}
