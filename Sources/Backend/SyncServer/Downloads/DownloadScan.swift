import ServerStore
import Versions

/// Collects the entries that a client does not have (sync history, 15.1).
struct DownloadScan {
    /// The scan stops once it has more than this; one changeset always fits.
    let softLimitInBytes: Int
    /// Nil to send everything unchanged.
    private let compaction: SnapshotPolicy?

    init(softLimitInBytes: Int, compaction: SnapshotPolicy? = nil) {
        self.softLimitInBytes = softLimitInBytes
        self.compaction = compaction
    }

    /// The content of one DOWNLOAD.
    struct Batch: Hashable, Sendable {
        let changesets: [DownloadChangeset]
        let progress: SyncProgress
        let downloadableBytes: UInt64
        /// Whether the scan reached the end of the history.
        let isComplete: Bool
    }

    /// Reads one state of the store. Nil if the server file or the client file no longer exists.
    func run(
        for ident: FileIdent,
        from cursor: DownloadCursor,
        in id: ServerFileID,
        of store: any FileReading
    ) throws(StoreError) -> Batch? {
        guard let file = try store.file(id), let client = try store.clientFile(ident, in: id),
            client.generation == file.generation
        else { return nil }

        var found = DownloadCollection(
            for: ident,
            from: cursor,
            softLimitInBytes: softLimitInBytes,
            historySizeInBytes: file.historySizeInBytes,
            without: AsymmetricClasses(of: try store.schema(of: id))
        )
        let take = { (entry: HistoryEntry) throws(StoreError) -> Visit in found.take(entry) }
        // A snapshot replaces the history up to it; a position inside it is not one in the history.
        if client.snapshotVersion > found.position {
            try store.forEachSnapshotEntry(
                of: id,
                in: client.snapshotVersion,
                after: found.position,
                take
            )
        }
        if found.isComplete {
            try store.forEachEntry(
                of: id,
                after: max(found.position, client.snapshotVersion),
                readBy: ident,
                take
            )
        }
        // Only for a new client that has uploaded nothing.
        if client.upload == .zero, found.changesets.count > 1,
            compaction?.isWorthCompacting(file) == true
        {
            found.compact()
        }
        return found.batch(newest: try store.newestVersion(of: file), client.upload)
    }
}
