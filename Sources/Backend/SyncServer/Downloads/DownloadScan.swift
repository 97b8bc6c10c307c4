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

        var changesets: [DownloadChangeset] = []
        var sizeInBytes = 0
        var position = cursor.serverVersion
        var clientVersion = cursor.lastIntegratedClientVersion
        var remainingBytes = file.historySizeInBytes
        var isComplete = true
        let asymmetric = AsymmetricClasses(of: try store.schema(of: id))
        let take = { (entry: HistoryEntry) throws(StoreError) -> Visit in
            // A client does not get its own changes back, but learns which are integrated.
            if entry.origin == ident {
                clientVersion = max(clientVersion, entry.clientVersion)
                return .next
            }
            let visible = asymmetric.removing(from: entry.changeset)
            guard !visible.isEmpty else { return .next }
            guard sizeInBytes <= softLimitInBytes else {
                isComplete = false
                return .stop
            }
            position = entry.version.version
            changesets.append(
                DownloadChangeset(
                    cursor: DownloadCursor(
                        serverVersion: position,
                        lastIntegratedClientVersion: clientVersion
                    ),
                    originTimestamp: entry.timestamp,
                    originFileIdent: entry.origin == .none ? .server : entry.origin,
                    originalSizeInBytes: UInt64(visible.count),
                    bytes: visible
                )
            )
            sizeInBytes += visible.count
            remainingBytes = file.historySizeInBytes.subtracting(
                clamping: entry.cumulativeSizeInBytes
            )
            return .next
        }
        // A snapshot replaces the history up to it; a position inside it is not one in the history.
        if client.snapshotVersion > position {
            try store.forEachSnapshotEntry(
                of: id,
                in: client.snapshotVersion,
                after: position,
                take
            )
        }
        if isComplete {
            try store.forEachEntry(
                of: id,
                after: max(position, client.snapshotVersion),
                readBy: ident,
                take
            )
        }
        if isComplete {
            position = file.currentVersion
        } else {
            clientVersion = changesets.last?.cursor.lastIntegratedClientVersion ?? clientVersion
        }
        // Only for a new client that has uploaded nothing.
        if client.upload == .zero, changesets.count > 1,
            compaction?.isWorthCompacting(file) == true
        {
            changesets = DownloadCompaction.compact(changesets)
        }
        return Batch(
            changesets: changesets,
            progress: SyncProgress(
                latestServerVersion: try store.newestVersion(of: file),
                download: DownloadCursor(
                    serverVersion: position,
                    lastIntegratedClientVersion: clientVersion
                ),
                upload: client.upload
            ),
            downloadableBytes: isComplete ? 0 : remainingBytes,
            isComplete: isComplete
        )
    }
}
