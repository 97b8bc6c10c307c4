import SyncProtocol
import Versions

func uploadCursor(_ client: UInt64, _ server: UInt64) -> UploadCursor {
    UploadCursor(
        clientVersion: ClientVersion(client),
        lastIntegratedServerVersion: ServerVersion(server)
    )
}

func downloadCursor(_ server: UInt64, _ client: UInt64) -> DownloadCursor {
    DownloadCursor(
        serverVersion: ServerVersion(server),
        lastIntegratedClientVersion: ClientVersion(client)
    )
}

func progress(
    latest: UInt64,
    download: (UInt64, UInt64) = (0, 0),
    upload: (UInt64, UInt64) = (0, 0)
) -> SyncProgress {
    SyncProgress(
        latestServerVersion: SaltedServerVersion(
            version: ServerVersion(latest),
            salt: latest == 0 ? .none : Salt(9)
        ),
        download: downloadCursor(download.0, download.1),
        upload: uploadCursor(upload.0, upload.1)
    )
}

func uploadChangeset(_ client: UInt64, _ server: UInt64, origin: UInt64 = 0) -> UploadChangeset {
    UploadChangeset(
        cursor: uploadCursor(client, server),
        originTimestamp: OriginTimestamp(1),
        originFileIdent: FileIdent(origin),
        bytes: [1]
    )
}

func downloadChangeset(
    _ server: UInt64,
    _ client: UInt64,
    origin: UInt64 = 3
) -> DownloadChangeset {
    DownloadChangeset(
        cursor: downloadCursor(server, client),
        originTimestamp: OriginTimestamp(1),
        originFileIdent: FileIdent(origin),
        originalSizeInBytes: 1,
        bytes: [1]
    )
}

func download(
    _ session: SessionIdent,
    _ progress: SyncProgress,
    _ changesets: [DownloadChangeset] = []
) -> ServerMessage {
    .download(
        ServerMessage.Download(
            session: session,
            progress: progress,
            extent: .partition(downloadableBytes: 0),
            changesets: changesets
        )
    )
}

func upload(
    _ progress: (UInt64, UInt64),
    locked: UInt64 = 0,
    _ changesets: [UploadChangeset] = []
) -> ClientMessage.Upload {
    ClientMessage.Upload(
        session: 1,
        progress: uploadCursor(progress.0, progress.1),
        lockedServerVersion: ServerVersion(locked),
        changesets: changesets
    )
}

func fileIdent(_ ident: UInt64, salt: UInt64 = 77) -> SaltedFileIdent {
    SaltedFileIdent(ident: FileIdent(ident), salt: Salt(salt))
}

func sessionError(_ fault: SessionFault, session: SessionIdent = 1) -> ServerMessage {
    .jsonError(JSONErrorReport(fault, session: session, message: "m"))
}

/// Answers about downloads of partitions.
extension ClientSession {
    mutating func integrated(_ progress: SyncProgress, localVersion: ClientVersion) -> [Effect] {
        integrated(.history(downloadableBytes: 0), progress, localVersion: localVersion)
    }

    mutating func integrationFailed(_ failure: IntegrationFailure) {
        integrationFailed(.history(downloadableBytes: 0), failure)
    }

    mutating func integrationInterrupted() {
        integrationInterrupted(.history(downloadableBytes: 0))
    }
}
