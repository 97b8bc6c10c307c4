import ServerStore
import Versions

/// The entries that a client does not have, as they are found, up to the size of one DOWNLOAD (sync history,
/// 15.1).
struct DownloadCollection {
    private let client: FileIdent
    private let softLimitInBytes: Int
    private let historySizeInBytes: UInt64
    private let asymmetric: AsymmetricClasses
    private(set) var changesets: [DownloadChangeset] = []
    /// The position behind the changesets.
    private var end: DownloadCursor
    private var clientVersion: ClientVersion
    private var sizeInBytes = 0
    private var remainingBytes: UInt64
    /// Whether nothing was left out.
    private(set) var isComplete = true

    /// - Parameters:
    ///   - softLimitInBytes: it stops once it has more than this; one changeset always fits.
    ///   - historySizeInBytes: of the file's history as a whole.
    init(
        for client: FileIdent,
        from cursor: DownloadCursor,
        softLimitInBytes: Int,
        historySizeInBytes: UInt64,
        without asymmetric: AsymmetricClasses
    ) {
        self.client = client
        self.softLimitInBytes = softLimitInBytes
        self.historySizeInBytes = historySizeInBytes
        self.asymmetric = asymmetric
        self.end = cursor
        self.clientVersion = cursor.lastIntegratedClientVersion
        self.remainingBytes = historySizeInBytes
    }

    var position: ServerVersion { end.serverVersion }

    mutating func take(_ entry: HistoryEntry) -> Visit {
        // A client does not get its own changes back, but learns which are integrated.
        if entry.origin == client {
            clientVersion = max(clientVersion, entry.clientVersion)
            return .next
        }
        let visible = asymmetric.removing(from: entry.changeset)
        guard !visible.isEmpty else { return .next }
        guard sizeInBytes <= softLimitInBytes else {
            isComplete = false
            return .stop
        }
        end = DownloadCursor(
            serverVersion: entry.version.version,
            lastIntegratedClientVersion: clientVersion
        )
        changesets.append(
            DownloadChangeset(
                cursor: end,
                originTimestamp: entry.timestamp,
                originFileIdent: entry.origin == .none ? .server : entry.origin,
                originalSizeInBytes: UInt64(visible.count),
                bytes: visible
            )
        )
        sizeInBytes += visible.count
        remainingBytes = historySizeInBytes.subtracting(clamping: entry.cumulativeSizeInBytes)
        return .next
    }

    mutating func compact() {
        changesets = DownloadCompaction.compact(changesets)
    }

    /// The DOWNLOAD.
    ///
    /// - Parameters:
    ///   - newest: the last version of the history.
    ///   - upload: the integrated part of the client's history.
    func batch(newest: SaltedServerVersion, _ upload: UploadCursor) -> DownloadScan.Batch {
        let whole = DownloadCursor(
            serverVersion: newest.version,
            lastIntegratedClientVersion: clientVersion
        )
        return DownloadScan.Batch(
            changesets: changesets,
            progress: SyncProgress(
                latestServerVersion: newest,
                download: isComplete ? whole : end,
                upload: upload
            ),
            downloadableBytes: isComplete ? 0 : remainingBytes,
            isComplete: isComplete
        )
    }
}
