import ServerStore
import SyncProtocol
import Versions

/// Versions of a history that one client made, without another's between them. A client that knows all
/// before them is told of them without a scan: it does not get its own changes back.
struct OwnVersions: Hashable, Sendable {
    /// The file's version before them.
    private(set) var start: ServerVersion
    /// The last one.
    private let newest: SaltedServerVersion
    /// The client's own version in the last one.
    private let clientVersion: ClientVersion
    private let upload: UploadCursor

    /// Nil if the history did not grow by one version for each changeset: corrections are downloaded.
    ///
    /// - Parameter client: as it is with the upload.
    init?(
        _ changesets: [ParsedChangeset],
        from start: ServerVersion,
        to newest: SaltedServerVersion,
        _ client: ClientFile
    ) {
        guard let last = changesets.last,
            newest.version.rawValue - start.rawValue == UInt64(changesets.count)
        else { return nil }
        self.start = start
        self.newest = newest
        clientVersion = last.cursor.clientVersion
        upload = client.upload
    }

    /// The same with those before them, if there is no other version in between.
    func following(_ earlier: OwnVersions?) -> OwnVersions {
        guard let earlier, earlier.newest.version == start else { return self }
        var versions = self
        versions.start = earlier.start
        return versions
    }

    /// The batch that a scan from the cursor finds in the store, if nothing followed; nil if the client lacks
    /// versions before them.
    func batch(from cursor: DownloadCursor) -> DownloadScan.Batch? {
        guard cursor.serverVersion >= start, cursor.serverVersion < newest.version else {
            return nil
        }
        return DownloadScan.Batch(
            changesets: [],
            progress: SyncProgress(
                latestServerVersion: newest,
                download: DownloadCursor(
                    serverVersion: newest.version,
                    lastIntegratedClientVersion: max(
                        cursor.lastIntegratedClientVersion,
                        clientVersion
                    )
                ),
                upload: upload
            ),
            downloadableBytes: 0,
            isComplete: true
        )
    }
}
