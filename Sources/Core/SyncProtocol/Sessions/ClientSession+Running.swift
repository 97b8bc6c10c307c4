import Versions

extension ClientSession {
    /// The state of a session from IDENT to the end of the binding, or until it stalls.
    struct Running: Sendable {
        /// Progress of the newest DOWNLOAD, which may not be integrated yet.
        private(set) var received: SyncProgress
        private(set) var hasReceived = false
        private var uploads: UploadTurn
        /// The newest version that the server was told; nil in partition-based sync.
        private var sentQuery: QueryVersion?
        /// The bootstrap of which a message, but not the last, has come.
        private var bootstrap: QueryVersion?

        init(_ file: ClientFileState, query: QueryVersion?) {
            received = file.progress
            uploads = UploadTurn(cursor: file.progress.upload)
            sentQuery = query
        }
    }
}

extension ClientSession.Running {
    /// The part of the server's history that was sent; the subject of a MARK.
    var downloaded: ServerVersion { received.download.serverVersion }

    var scanned: ClientVersion { uploads.cursor.clientVersion }

    /// Checks a DOWNLOAD before its integration.
    ///
    /// The messages of a bootstrap before its last are checked against the progress before it.
    mutating func receive(
        _ download: ServerMessage.Download,
        _ file: ClientFileState
    ) throws(DownloadViolation) -> ClientSession.Download.Part {
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
        switch download.extent {
        case .partition(let downloadableBytes):
            received = download.progress
            return .history(downloadableBytes: downloadableBytes)
        case .query(_, .steady, _):
            received = download.progress
            return .history(downloadableBytes: 0)
        case .query(let version, let state, let estimate):
            let isFirst = bootstrap != version
            let isLast = state == .lastOfBootstrap
            bootstrap = isLast ? nil : version
            if isLast { received = download.progress }
            return .bootstrap(version, isFirst: isFirst, isLast: isLast, estimate)
        }
    }

    /// The next QUERY, once all that was written before its set is uploaded.
    mutating func nextQuery(
        _ session: SessionIdent,
        _ subscriptions: SessionSubscriptions,
        uploadsNothing: Bool
    ) -> ClientSession.Step? {
        guard let sent = sentQuery, let next = subscriptions.next(after: sent) else { return nil }
        let isUploaded = uploads.isIdle && uploads.cursor.clientVersion >= next.snapshotVersion
        guard isUploaded || uploadsNothing else { return nil }
        sentQuery = next.query.version
        return .send(.query(session, next.query))
    }

    mutating func nextUpload(
        _ session: SessionIdent,
        _ file: ClientFileState,
        _ subscriptions: SessionSubscriptions?
    ) -> ClientSession.Step? {
        // What was written after a set was committed follows its QUERY.
        let limit = sentQuery.flatMap { subscriptions?.next(after: $0)?.snapshotVersion }
        let step = uploads.next(
            lastVersionAvailable: min(file.localVersion, limit ?? file.localVersion),
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
