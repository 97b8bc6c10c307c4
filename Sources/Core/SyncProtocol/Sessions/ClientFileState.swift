import Versions

/// The state of a client file, as far as its session with the server needs it.
struct ClientFileState: Sendable {
    /// `none` until the server has assigned one.
    private(set) var ident: SaltedFileIdent
    /// Persisted progress.
    private(set) var progress: SyncProgress
    /// The newest version of the file.
    private(set) var localVersion: ClientVersion

    init(ident: SaltedFileIdent, progress: SyncProgress, localVersion: ClientVersion) {
        self.ident = ident
        self.progress = progress
        self.localVersion = localVersion
    }

    mutating func grew(to version: ClientVersion) {
        localVersion = max(localVersion, version)
    }

    /// The server has integrated nothing of a file that is new to it.
    mutating func stored(_ ident: SaltedFileIdent) {
        self.ident = ident
        progress.download = DownloadCursor(
            serverVersion: progress.download.serverVersion,
            lastIntegratedClientVersion: .zero
        )
        progress.upload = UploadCursor(
            clientVersion: .zero,
            lastIntegratedServerVersion: progress.upload.lastIntegratedServerVersion
        )
    }

    mutating func stored(_ progress: SyncProgress) {
        self.progress = progress
    }
}
