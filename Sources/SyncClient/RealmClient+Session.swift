import ClientReset
import Coordination
import LocalRealm
import Logging
import SyncProtocol
import Versions

/// The session's turns to send, and what it makes of what arrives.
extension RealmClient {
    var wantsConnection: Bool { session?.wantsConnection ?? false }

    func connecting() {
        if case .offline = phase { phase = .connecting }
    }

    func connected(isFastReconnect: Bool) {
        session?.connected(isFastReconnect: isFastReconnect)
        lastConnected = now()
    }

    /// The connection is gone. Whoever waits for a sync goes on waiting if the next attempt is due at
    /// once, and hears the cause if it is not.
    func disconnected(_ cause: OfflineCause?) {
        session?.disconnected()
        heldUpload = nil
        switch phase {
        case .refused, .suspended, .detached: return
        case .offline, .connecting, .bound: break
        }
        guard let cause else {
            phase = .connecting
            return
        }
        phase = .offline(cause)
        switch cause {
        case .notTried: break
        case .serverError(let reason, _): finishWaiters(.failed(reason: reason))
        case .backoff(let reason, _): finishWaiters(.offline(reason: reason), patient: false)
        case .loginRequired(let reason): finishWaiters(.loginRequired(reason: reason))
        }
    }

    /// The next message to send, if there is one now.
    func nextMessage() -> ClientMessage? {
        do throws(LocalRealmError) {
            if let upload = heldUpload { return try release(upload) }
            while let step = session?.nextStep() {
                switch step {
                case .scanUploads(let scan):
                    let batch = try realm.scanUploads(from: scan.cursor, upTo: scan.end)
                    session?.uploadScanned(scan, batch)
                case .send(.upload(let upload)):
                    return try release(.upload(upload))
                case .send(let message):
                    if case .ident = message { phase = .bound }
                    return message
                }
            }
        } catch {
            fail(error)
        }
        return nil
    }

    /// What the server is told must survive a power cut (local realm, 6). While another program's
    /// transaction is in the way the message waits, and the connection has other things to do.
    private func release(_ upload: ClientMessage) throws(LocalRealmError) -> ClientMessage? {
        do throws(LocalRealmError) {
            try realm.makeDurable()
            heldUpload = nil
            return upload
        } catch {
            guard error.kind == .busy else { throw error }
            heldUpload = upload
            uploadHeld.raise()
            return nil
        }
    }

    /// Asks for a turn for a held message, again and again until it has gone.
    func pressHeldUpload() async {
        while await uploadHeld.wait() {
            guard (try? await time.sleep(Self.lockPoll)) != nil else { return }
            callAttention()
        }
    }

    /// Takes a message of the session.
    ///
    /// - Returns: an error that only another connection can help against, which then has to be made.
    func receive(
        _ message: ServerMessage
    ) async throws(ProtocolViolation) -> ServerProblem? {
        var concern: ServerProblem?
        for effect in session?.received(message) ?? [] {
            if case .suspend(let problem) = effect, problem.action?.needsNewConnection == true {
                handOver(problem)
                concern = problem
            } else {
                try await perform(effect)
            }
        }
        callAttention()
        return concern
    }

    /// Leaves the error to the connection: the session binds again on the next one, under the same
    /// ident, and says nothing more on this one.
    private func handOver(_ problem: ServerProblem) {
        report(.problem(problem, isFatal: problem.action == .logOutUser))
        session?.disconnected()
        session?.resume()
        phase = .connecting
    }

    private func perform(_ effect: ClientSession.Effect) async throws(ProtocolViolation) {
        switch effect {
        case .storeFileIdent(let ident): await store(ident)
        case .integrate(let download): try await integrate(download)
        case .downloadCompleted: await completeDownload()
        case .suspend(let problem): suspend(problem)
        case .undoing(let problem): noteRowsBefore(problem)
        case .report(let problem):
            await keepRejects(of: problem)
            warn(of: problem)
        case .log(let body):
            logger.log(body)
        case .close(let violation): throw violation
        }
    }

    /// Does what needs the file's lock once other programs let go of it.
    ///
    /// - Returns: nil if the session has ended meanwhile, or its connection.
    func patiently<Result>(
        _ work: () throws(LocalRealmError) -> Result
    ) async throws(LocalRealmError) -> Result? {
        let waiting = session?.ident
        let end = time.uptime() + Self.lockPatience
        while true {
            do throws(LocalRealmError) {
                return try work()
            } catch {
                guard error.kind == .busy, time.uptime() < end else { throw error }
            }
            guard (try? await time.sleep(Self.lockPoll)) != nil, !isClosed,
                session?.ident == waiting
            else { return nil }
        }
    }

    /// Less than the server waits for a sign of life: behind a blocked realm its connection waits.
    private static let lockPatience = Duration.seconds(60)
    private static let lockPoll = Duration.milliseconds(50)

    private func store(_ ident: SaltedFileIdent) async {
        do throws(LocalRealmError) {
            guard
                try await patiently({ () throws(LocalRealmError) in
                    try realm.storeFileIdent(ident)
                }) != nil
            else { return fail(LocalRealmError(.busy, path: path, "the file is locked")) }
            session?.fileIdentStored(ident, localVersion: realm.status.localVersion)
            logger.info("file ident assigned", metadata: ["ident": "\(ident.ident.rawValue)"])
        } catch {
            fail(error)
        }
    }

    private func integrate(_ download: ClientSession.Download) async throws(ProtocolViolation) {
        let ident = session?.ident
        let before = realm.status.progress.upload.clientVersion
        let effects: [ClientSession.Effect]
        let start = time.uptime()
        do throws(LocalRealmError) {
            let integrated = try await patiently { () throws(LocalRealmError) in
                try realm.integrate(
                    download.changesets,
                    progress: download.progress,
                    downloadableBytes: download.downloadableBytes
                )
            }
            // The download comes again with the next binding.
            guard let integration = integrated else {
                if session?.ident == ident { session?.integrationInterrupted() }
                return
            }
            warn(of: integration.drained)
            if !download.changesets.isEmpty {
                lastDownloaded = now()
                report(
                    .integrated(
                        changesets: integration.integratedChangesetCount,
                        duration: time.uptime() - start,
                        localVersion: integration.localVersion.rawValue
                    )
                )
            }
            if download.progress.upload.clientVersion > before {
                lastUploaded = now()
                noticeAcknowledged(
                    integration.acknowledgedChangesetCount,
                    upTo: download.progress.upload.clientVersion
                )
            }
            for name in integration.learnedClasses {
                logger.notice("class learned from the server", metadata: ["class": "\(name)"])
            }
            effects =
                session?.integrated(
                    realm.status.progress,
                    localVersion: realm.status.localVersion
                ) ?? []
        } catch {
            refuse(download, error)
            return
        }
        for effect in effects { try await perform(effect) }
        hasDownloaded = true
        noteAcceptance()
        reportTransfer()
        checkWaiters()
        checkProof()
    }

    /// What the server sent does not fit: tell it, unless this machine is to blame. A server that hears
    /// of a full disk can only have the realm start over, which helps nobody.
    private func refuse(_ download: ClientSession.Download, _ error: LocalRealmError) {
        logger.error(
            "a download cannot be integrated",
            metadata: ["code": "\(error.code)", "detail": "\(error.message)"]
        )
        if let code = error.integrationFailureCode.flatMap(IntegrationFailure.Code.init) {
            session?.integrationFailed(IntegrationFailure(code, message: error.message))
        } else {
            session?.integrationInterrupted()
            fail(error)
        }
        // The local writes may have been captured all the same.
        noticeLocalVersion()
    }

    private func completeDownload() async {
        do throws(LocalRealmError) {
            _ = try await patiently { () throws(LocalRealmError) in
                try realm.markFirstDownloadFinished()
            }
        } catch {
            return fail(error)
        }
        hasCompletedDownload = true
        noteAcceptance()
        reportPhase()
        for index in waiters.indices { waiters[index].needsDownload = false }
        checkWaiters()
        checkProof(downloadCompleted: true)
    }

    /// The server serves the session: shown where the log says that it did not.
    private func noteAcceptance() {
        guard !isAccepted else { return }
        isAccepted = true
        logger.info("session accepted")
    }

    private func suspend(_ problem: ServerProblem) {
        let issue = SessionIssue(problem)
        let delay = session?.resumeDelay(using: &random)
        report(.problem(problem, isFatal: delay == nil))
        guard let delay else {
            isAccepted = false
            logger.error("the server refuses this realm", metadata: problem.metadata(isFatal: true))
            resets.removal = problem.action == .deleteRealm ? issue : nil
            settleRefusal(issue, wanting: ResetCause(problem))
            return
        }
        var metadata = problem.metadata(isFatal: false)
        metadata["retry"] = "\(delay.forPeople)"
        isAccepted = false
        logger.notice("session suspended", metadata: metadata)
        phase = .suspended(issue)
        resume(after: delay)
        // A session that the server merely closed comes back at once; all else may take long.
        if problem.code != SyncErrorCode.sessionClosed.rawValue {
            finishWaiters(.refused(issue), patient: false)
        }
    }

    private func warn(of problem: ServerProblem) {
        report(.problem(problem, isFatal: false))
        logger.warning("the server reports an error", metadata: problem.metadata(isFatal: false))
    }
}

extension ServerProblem {
    /// What the log says of it.
    fileprivate func metadata(isFatal: Bool) -> Logger.Metadata {
        var metadata: Logger.Metadata = ["code": "\(code)", "detail": "\(message)"]
        if let number = sdkCode(isFatal: isFatal) { metadata["sdk_code"] = "\(number.rawValue)" }
        if !logURL.isEmpty { metadata["log_url"] = "\(logURL)" }
        return metadata
    }
}

extension SessionIssue {
    init(_ problem: ServerProblem) {
        let isReset = ResetCause(problem) != nil
        let kind: Kind =
            switch SyncErrorCode(rawValue: problem.code) {
            case _ where isReset: .clientReset
            case .permissionDenied, .userMismatch: .permissionDenied
            case .invalidSchemaChange: .schemaConflict
            default: .serverError
            }
        self.init(
            kind: kind,
            code: "\(problem.code)",
            message: problem.message,
            sdkCode: problem.sdkCode(isFatal: !problem.tryAgain),
            logURL: problem.logURL.isEmpty ? nil : problem.logURL
        )
    }

    init(_ error: LocalRealmError) {
        self.init(kind: .localRealm, code: error.code, message: error.description)
    }

    /// A disk or another program is in the way, and will not be for ever.
    package var isHealedByTime: Bool {
        kind == .localRealm && LocalRealmError.Kind(rawValue: code)?.isHealedByTime == true
    }
}
