import Versions

extension ClientSession {
    /// The state of a session from IDENT to the end of the binding, or until it stalls.
    struct Running: Sendable {
        /// Progress of the newest DOWNLOAD, which may not be integrated yet.
        private(set) var received: SyncProgress
        private(set) var hasReceived = false
        private var uploads: UploadTurn

        init(_ file: ClientFileState) {
            received = file.progress
            uploads = UploadTurn(cursor: file.progress.upload)
        }
    }
}

extension ClientSession.Running {
    /// The part of the server's history that was sent; the subject of a MARK.
    var downloaded: ServerVersion { received.download.serverVersion }

    /// Checks a DOWNLOAD before its integration.
    mutating func receive(
        _ download: ServerMessage.Download,
        _ file: ClientFileState
    ) throws(DownloadViolation) {
        let check = DownloadCheck(
            progress: received,
            lastVersionAvailable: file.localVersion,
            fileIdent: file.ident.ident,
            isFirst: !hasReceived
        )
        try check.verify(download)
        if download.progress.upload.clientVersion < received.upload.clientVersion {
            uploads.goBack(to: download.progress.upload)
        }
        hasReceived = true
        received = download.progress
    }

    mutating func nextUpload(
        _ session: SessionIdent,
        _ file: ClientFileState
    ) -> ClientSession.Step? {
        let step = uploads.next(
            lastVersionAvailable: file.localVersion,
            integrated: file.progress.download.serverVersion
        )
        switch step {
        case .scan(let scan): return .scanUploads(scan)
        case .send(let batch):
            let upload = ClientMessage.Upload(
                session: session,
                progress: batch.progress,
                lockedServerVersion: batch.lockedServerVersion,
                changesets: batch.changesets
            )
            return .send(.upload(upload))
        case nil: return nil
        }
    }

    mutating func finish(_ scan: UploadScan, with batch: UploadBatch) {
        uploads.finish(scan, with: batch)
    }

    mutating func acknowledge(_ cursor: UploadCursor) {
        uploads.acknowledge(cursor)
    }
}
