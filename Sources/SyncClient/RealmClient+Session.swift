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
        switch phase {
        case .refused, .suspended: return
        case .offline, .connecting, .bound: break
        }
        guard let cause else {
            phase = .connecting
            return
        }
        phase = .offline(cause)
        switch cause {
        case .notTried: break
        case .serverError(let reason): finishWaiters(.failed(reason: reason))
        case .backoff(let reason): finishWaiters(.offline(reason: reason))
        case .loginRequired(let reason): finishWaiters(.loginRequired(reason: reason))
        }
    }

    /// The next message to send, if there is one now.
    func nextMessage() -> ClientMessage? {
        do throws(LocalRealmError) {
            while let step = session?.nextStep() {
                switch step {
                case .scanUploads(let scan):
                    let batch = try realm.scanUploads(from: scan.cursor, upTo: scan.end)
                    session?.uploadScanned(scan, batch)
                case .send(.upload(let upload)):
                    // What the server is told must survive a power cut (local realm, 6).
                    try realm.makeDurable()
                    return .upload(upload)
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

    /// Takes a message of the session.
    func receive(_ message: ServerMessage) throws(ProtocolViolation) {
        for effect in session?.received(message) ?? [] {
            try perform(effect)
        }
        callAttention()
    }

    private func perform(_ effect: ClientSession.Effect) throws(ProtocolViolation) {
        switch effect {
        case .storeFileIdent(let ident): store(ident)
        case .integrate(let download): try integrate(download)
        case .downloadCompleted: completeDownload()
        case .suspend(let problem): suspend(problem)
        case .report(let problem): report(problem)
        case .log(let body):
            logger.debug("server", metadata: ["text": "\(body.message ?? "")"])
        case .close(let violation): throw violation
        }
    }

    private func store(_ ident: SaltedFileIdent) {
        do throws(LocalRealmError) {
            try realm.storeFileIdent(ident)
            session?.fileIdentStored(ident, localVersion: realm.status.localVersion)
            logger.info("file ident assigned", metadata: ["ident": "\(ident.ident.rawValue)"])
        } catch {
            fail(error)
        }
    }

    private func integrate(_ download: ClientSession.Download) throws(ProtocolViolation) {
        let before = realm.status.progress.upload.clientVersion
        let effects: [ClientSession.Effect]
        do throws(LocalRealmError) {
            let report = try realm.integrate(
                download.changesets,
                progress: download.progress,
                downloadableBytes: download.downloadableBytes
            )
            if !download.changesets.isEmpty { lastDownloaded = now() }
            if download.progress.upload.clientVersion > before { lastUploaded = now() }
            for name in report.learnedClasses {
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
        for effect in effects { try perform(effect) }
        checkWaiters()
    }

    /// What the server sent does not fit: tell it, unless this machine is to blame.
    private func refuse(_ download: ClientSession.Download, _ error: LocalRealmError) {
        logger.error(
            "a download cannot be integrated",
            metadata: ["code": "\(error.code)", "detail": "\(error.message)"]
        )
        let code = IntegrationFailure.Code(rawValue: error.integrationFailureCode) ?? .other
        session?.integrationFailed(IntegrationFailure(code, message: error.message))
        // The local writes may have been captured all the same.
        noticeLocalVersion()
        switch error.kind {
        case .badChangeset, .badProgress: break
        default: fail(error)
        }
    }

    private func completeDownload() {
        do throws(LocalRealmError) {
            try realm.markFirstDownloadFinished()
        } catch {
            return fail(error)
        }
        for index in waiters.indices { waiters[index].needsDownload = false }
        checkWaiters()
    }

    private func suspend(_ problem: ServerProblem) {
        let issue = SessionIssue(problem)
        guard let delay = session?.resumeDelay(using: &random) else {
            logger.error(
                "the server refuses this realm",
                metadata: ["code": "\(problem.code)", "detail": "\(problem.message)"]
            )
            phase = .refused(issue)
            finishWaiters(.refused(issue))
            return
        }
        logger.notice(
            "session suspended",
            metadata: [
                "code": "\(problem.code)", "detail": "\(problem.message)", "retry": "\(delay)",
            ]
        )
        phase = .suspended(issue)
        resume(after: delay)
        // A session that the server merely closed comes back at once; all else may take long.
        if problem.code != SyncErrorCode.sessionClosed.rawValue { finishWaiters(.refused(issue)) }
    }

    private func report(_ problem: ServerProblem) {
        logger.warning(
            "the server reports an error",
            metadata: ["code": "\(problem.code)", "detail": "\(problem.message)"]
        )
    }
}

extension SessionIssue {
    init(_ problem: ServerProblem) {
        let isReset = problem.action?.isClientReset ?? (208...211).contains(problem.code)
        let kind: Kind =
            switch SyncErrorCode(rawValue: problem.code) {
            case _ where isReset: .clientReset
            case .permissionDenied, .userMismatch: .permissionDenied
            case .invalidSchemaChange: .schemaConflict
            default: .serverError
            }
        self.init(kind: kind, code: "\(problem.code)", message: problem.message)
    }

    init(_ error: LocalRealmError) {
        self.init(kind: .localRealm, code: error.code, message: error.description)
    }
}
