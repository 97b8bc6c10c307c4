import ClientReset
import Coordination
import LocalRealm
import Logging
import Subscriptions
import SyncProtocol
import Versions

/// Carries out the session's work on the file, and returns the results to the session.
extension RealmClient {
    /// Hands the file a piece of work; it is done behind all that was asked before.
    func add(_ work: RealmWork) {
        guard let session else { return }
        queue.append(work, of: session.ident)
        workAdded.raise()
        if queue.isWorthParsing { workParsable.raise() }
    }

    /// Does the work until the task is cancelled, one piece after the other.
    func doWork() async {
        while !Task.isCancelled {
            await inTaskOfItsOwn { await self.doWaitingWork() }
            await workAdded.wait()
        }
    }

    private func doWaitingWork() async {
        while !Task.isCancelled {
            let wasFull = queue.isFull
            guard let item = queue.takeFirst() else { return }
            if queue.isWorthParsing { workParsable.raise() }
            if wasFull, !queue.isFull { takeMessagesAgain() }
            guard session?.ident == item.session else { continue }
            await perform(item.work, of: item.session)
            wakeConnection()
        }
    }

    /// Decodes the next download while the file is busy with the one before.
    func parseAhead() async {
        while let next = queue.takeForParsing() {
            queue.parsed(next.number, await Self.parse(next.download))
            workAdded.raise()
        }
    }

    /// Away from this actor: it takes as long as the server likes.
    @concurrent
    private static nonisolated func parse(_ download: ClientSession.Download) async
        -> ParsedDownload
    {
        ParsedDownload(
            download.changesets,
            progress: download.progress,
            downloadableBytes: download.part.downloadableBytes,
            isFirst: download.isFirst
        )
    }

    private func perform(_ work: RealmWork, of session: SessionIdent) async {
        switch work {
        case .storeFileIdent(let ident): await store(ident)
        case .integrate(let download, let parsed): await integrate(download, parsed)
        case .markDownloadCompleted: await completeDownload()
        case .keepRejects(let problem): await keepRejects(of: problem)
        case .failSubscriptions(let error): await failSubscriptions(error, of: session)
        case .scan(let scan): await scanUploads(scan, of: session)
        case .refuseIfUploading(let cause): if mayBeUploading { refuse(cause) }
        case .makeDurable(let message, let turn): await makeDurable(message, turn)
        }
    }

    /// Repeats work that needs the file's lock until other programs release it.
    ///
    /// - Returns: nil if the session or its connection has ended.
    func retryWhileBusy<Result: Sendable>(
        atMost limit: Duration? = RealmClient.lockTimeout,
        _ work: () async throws(LocalRealmError) -> Result
    ) async throws(LocalRealmError) -> Result? {
        let waiting = session?.ident
        let end = limit.map { time.uptime() + $0 }
        while true {
            do throws(LocalRealmError) {
                return try await work()
            } catch {
                guard error.kind == .busy, end.map({ time.uptime() < $0 }) ?? true else {
                    throw error
                }
            }
            guard (try? await time.sleep(Self.lockPoll)) != nil, !isClosed,
                session?.ident == waiting
            else { return nil }
        }
    }

    static let lockTimeout = Duration.seconds(60)
    private static let lockPoll = Duration.milliseconds(50)

    // MARK: Upload

    private func scanUploads(_ scan: UploadScan, of ident: SessionIdent) async {
        do throws(LocalRealmError) {
            let batch = try await store.scanUploads(scan)
            if session?.ident == ident { session?.uploadScanned(scan, batch) }
        } catch {
            fail(error)
        }
    }

    /// While another program holds the file's lock the message waits, and the connection serves
    /// other realms.
    private func makeDurable(_ message: ClientMessage, _ turn: Int) async {
        do throws(LocalRealmError) {
            let isDone = try await retryWhileBusy(atMost: nil) { () async throws(LocalRealmError) in
                // The connection may have ended during the work, or the session stopped.
                guard case .preparing(turn) = outgoing else { return false }
                try await store.makeDurable()
                return true
            }
            if isDone == true, case .preparing(turn) = outgoing { outgoing = .ready(message) }
        } catch {
            fail(error)
        }
    }

    // MARK: Download

    private func store(_ ident: SaltedFileIdent) async {
        let waiting = session?.ident
        do throws(LocalRealmError) {
            guard
                try await retryWhileBusy({ () async throws(LocalRealmError) in
                    try await store.storeFileIdent(ident)
                }) != nil
            else { return fail(LocalRealmError(.busy, path: path, "the file is locked")) }
            guard session?.ident == waiting else { return }
            session?.fileIdentStored(ident, localVersion: status.localVersion)
            logger.info("file ident assigned", metadata: ["ident": "\(ident.ident.rawValue)"])
        } catch {
            fail(error)
        }
    }

    private func integrate(_ download: ClientSession.Download, _ parsed: ParsedDownload?) async {
        guard !isStalled else {
            session?.integrationInterrupted(download.part)
            return
        }
        let ident = session?.ident
        let (before, versionBefore) = (status.progress.upload.clientVersion, status.localVersion)
        let start = time.uptime()
        let integration: IntegrationReport
        do throws(LocalRealmError) {
            // The next BIND repeats the download, without the changes already integrated.
            guard let integrated = try await integrate(download, parsed, in: ident) else {
                guard session?.ident == ident else { return }
                isStalled = true
                session?.integrationInterrupted(download.part)
                return
            }
            integration = integrated
        } catch {
            if session?.ident == ident { refuse(download, error) }
            return
        }
        report(integration, of: download, after: before, time.uptime() - start)
        reportSubscriptions()
        // A session that began later reads it from the file.
        guard session?.ident == ident else { return }
        let file = status
        let canWait = canAcknowledgeLater(integration)
        let effects =
            session?.integrated(
                download.part,
                file.progress,
                localVersion: canWait ? versionBefore : file.localVersion
            ) ?? []
        if canWait, file.localVersion > versionBefore { acknowledgement.raise() }
        for effect in effects {
            // No effect of an integration closes the connection.
            try? await perform(effect)
        }
        hasDownloaded = true
        noteAcceptance()
        reportTransfer()
        checkWaiters()
        await checkProof()
    }

    private func integrate(
        _ download: ClientSession.Download,
        _ parsed: ParsedDownload?,
        in ident: SessionIdent?
    ) async throws(LocalRealmError) -> IntegrationReport? {
        if case .bootstrap(let version, let isFirst, let isLast, let estimate) = download.part {
            let message = BootstrapMessage(
                version: version,
                isFirst: isFirst,
                isLast: isLast,
                changesets: download.changesets,
                progress: download.progress
            )
            return try await integrate(message, estimate)
        }
        let parsed = if let parsed { parsed } else { await Self.parse(download) }
        return try await integrate(parsed, in: ident)
    }

    /// Integrates a download, in several transactions if merging takes long.
    ///
    /// - Returns: nil if the rest was abandoned: the file is locked, or another session has begun
    ///   from the file's present state.
    private func integrate(
        _ parsed: ParsedDownload,
        in ident: SessionIdent?
    ) async throws(LocalRealmError) -> IntegrationReport? {
        var total: IntegrationReport?
        var part: ParsedDownload? = parsed
        while let current = part {
            if total != nil, session?.ident != ident { return nil }
            let done = try await retryWhileBusy { () async throws(LocalRealmError) in
                try await store.integrate(current)
            }
            guard let done else { return nil }
            part = current.rest(after: done)
            if total == nil { total = done } else { total?.add(done) }
        }
        return total
    }

    private func report(
        _ integration: IntegrationReport,
        of download: ClientSession.Download,
        after before: ClientVersion,
        _ duration: Duration
    ) {
        note(integration.drained)
        logs.storage.info(
            "download integrated",
            metadata: [
                "changesets": "\(integration.integratedChangesetCount)",
                "acknowledged": "\(integration.acknowledgedChangesetCount)",
                "drained": "\(integration.drained.changesetCount)",
                "local_version": "\(integration.localVersion.rawValue)",
                "server_version": "\(download.progress.download.serverVersion.rawValue)",
                "milliseconds": "\(Int(duration / .milliseconds(1)))",
            ]
        )
        if !download.changesets.isEmpty, integration.integratedChangesetCount > 0 {
            lastDownloaded = now()
            report(
                .integrated(
                    changesets: integration.integratedChangesetCount,
                    duration: duration,
                    localVersion: integration.localVersion.rawValue
                )
            )
        }
        if download.progress.upload.clientVersion > before {
            if integration.acknowledgedChangesetCount > 0 { lastUploaded = now() }
            reportAcknowledged(
                integration.acknowledgedChangesetCount,
                upTo: download.progress.upload.clientVersion
            )
        }
        for name in integration.learnedClasses {
            logs.storage.notice("class learned from the server", metadata: ["class": "\(name)"])
        }
    }

    /// Reports a download that does not fit to the server, unless this machine is to blame. A
    /// server that hears of a full disk can only make the realm start over, which does not help.
    private func refuse(_ download: ClientSession.Download, _ error: LocalRealmError) {
        isStalled = true
        logs.storage.error(
            "a download cannot be integrated",
            metadata: ["code": "\(error.code)", "detail": "\(error.message)"]
        )
        if let code = error.integrationFailureCode.flatMap(IntegrationFailure.Code.init) {
            session?.integrationFailed(
                download.part,
                IntegrationFailure(code, message: error.message)
            )
        } else {
            session?.integrationInterrupted(download.part)
            fail(error)
        }
        // The local writes may have been captured all the same.
        reportLocalVersion()
    }

    private func completeDownload() async {
        do throws(LocalRealmError) {
            _ = try await retryWhileBusy { () async throws(LocalRealmError) in
                try await store.markDownloadCompleted()
            }
        } catch {
            return fail(error)
        }
        reportSubscriptions()
        // A set that was committed meanwhile is waited for, too.
        guard hasSettledSets else { return noteAcceptance() }
        hasCompletedDownload = true
        noteAcceptance()
        reportPhase()
        waiters.downloadCompleted()
        checkWaiters()
        await checkProof(downloadCompleted: true)
    }

    /// Local writes take the acknowledgement along. A caller that waits may end the session as soon as its sync is done.
    private func canAcknowledgeLater(_ integration: IntegrationReport) -> Bool {
        integration.drained.changesetCount == 0 && hasSettledSets && waiters.isEmpty
            && session?.scannedVersion.map { $0 >= lastWrite } ?? true
    }

    private var hasSettledSets: Bool { status.subscriptions.map(\.isSettled) ?? true }
}
