internal import SQLite
internal import Versions

/// A download header cannot be adopted: a cursor would decrease (sync history, 7.5).
struct ProgressDecrease: Error {
    let name: String
    let stored: UInt64
    let offered: UInt64
}

extension RealmStateRow {
    /// Moves the cursors to what the server reported, counts what it acknowledged, and trims the
    /// history (sync history, 7.5 and 7.6).
    ///
    /// - Parameter isFirst: whether the upload cursor may go back, as far as the download cursor's client
    ///   version: all history above it is still there, and is uploaded again.
    /// - Returns: how many more local changesets the server has integrated.
    mutating func adopt(
        _ offered: SyncProgress,
        downloadableBytes: UInt64,
        isFirst: Bool,
        history: History
    ) throws -> Int {
        try check(offered, isFirst: isFirst)
        let uploaded = try history.localAmount(
            after: progress.upload.clientVersion,
            through: offered.upload.clientVersion
        )
        uploadedBytes = uploadedBytes.adding(clamping: uploaded.bytes)
        adopt(offered)
        self.downloadableBytes = downloadableBytes
        try trim(history)
        return uploaded.changesets
    }

    /// Whether all cursors stay or move on.
    func allows(_ offered: SyncProgress) -> Bool {
        !goesBack(offered.upload) && (try? check(offered, isFirst: false)) != nil
    }

    /// Moves the cursors, which must be allowed.
    mutating func adopt(_ offered: SyncProgress) {
        // A client that has uploaded nothing gets 0 here and keeps what it has.
        let uploadServerVersion =
            goesBack(offered.upload)
            ? offered.upload.lastIntegratedServerVersion
            : max(
                offered.upload.lastIntegratedServerVersion,
                progress.upload.lastIntegratedServerVersion
            )
        progress = SyncProgress(
            latestServerVersion: offered.latestServerVersion,
            download: offered.download,
            upload: UploadCursor(
                clientVersion: offered.upload.clientVersion,
                lastIntegratedServerVersion: uploadServerVersion
            )
        )
    }

    private func goesBack(_ upload: UploadCursor) -> Bool {
        upload.clientVersion < progress.upload.clientVersion
    }

    private func check(_ offered: SyncProgress, isFirst: Bool) throws(ProgressDecrease) {
        func require(_ name: String, _ stored: UInt64, _ offered: UInt64) throws(ProgressDecrease) {
            guard offered >= stored else {
                throw ProgressDecrease(name: name, stored: stored, offered: offered)
            }
        }
        try require(
            "latest server version",
            progress.latestServerVersion.version.rawValue,
            offered.latestServerVersion.version.rawValue
        )
        try require(
            "download server version",
            progress.download.serverVersion.rawValue,
            offered.download.serverVersion.rawValue
        )
        try require(
            "download client version",
            progress.download.lastIntegratedClientVersion.rawValue,
            offered.download.lastIntegratedClientVersion.rawValue
        )
        try require(
            "upload client version",
            isFirst && goesBack(offered.upload)
                ? offered.download.lastIntegratedClientVersion.rawValue
                : progress.upload.clientVersion.rawValue,
            offered.upload.clientVersion.rawValue
        )
        if offered.upload.lastIntegratedServerVersion > .zero, !goesBack(offered.upload) {
            try require(
                "upload server version",
                progress.upload.lastIntegratedServerVersion.rawValue,
                offered.upload.lastIntegratedServerVersion.rawValue
            )
        }
    }

    /// Removes what lies below the earliest merge base of any future changeset, then all skippable
    /// versions up to the next local changeset.
    private mutating func trim(_ history: History) throws {
        let passed = max(progress.download.lastIntegratedClientVersion, historyBaseVersion)
        let next = try history.firstLocalVersion(after: passed)
        let base =
            next.map { min(ClientVersion($0.rawValue.subtracting(clamping: 1)), localVersion) }
            ?? max(localVersion, passed)
        guard base > historyBaseVersion else { return }
        try history.remove(through: base)
        historyBaseVersion = base
    }
}
