import ClientReset
import Coordination
import LocalRealm
import Logging
import SyncProtocol
import Versions

/// Sends the session's messages, and carries out the effects of received ones.
extension RealmClient {
    var wantsConnection: Bool { session?.wantsConnection ?? false }

    func connecting() {
        if case .offline(let cause) = phase { phase = .connecting(after: cause) }
    }

    func connected(isFastReconnect: Bool) {
        session?.connected(isFastReconnect: isFastReconnect)
        lastConnected = now()
        wakeConnection()
    }

    /// The connection has ended. Waiters for a sync keep waiting if the next attempt is due at
    /// once; otherwise they get the cause.
    func disconnected(_ cause: OfflineCause?) {
        session?.disconnected()
        // It may have been connected for longer than the offline limit.
        if case .bound = phase { lastConnected = now() }
        outgoing = .none
        bootstrapEstimate = nil
        switch phase {
        case .inactive, .backingOff, .detached: return
        case .offline, .connecting, .bound: break
        }
        guard let cause else {
            phase = .connecting()
            return
        }
        phase = .offline(cause)
        switch cause {
        case .notTried: break
        case .serverError(let reason, let error):
            finishWaiters(.failed(reason: reason, code: error?.code))
        case .backoff(let reason, let error):
            finishWaiters(
                .offline(reason: reason, code: error?.code),
                includingTolerant: false
            )
        case .loginRequired(let reason, let code):
            finishWaiters(.loginRequired(reason: reason, code: code))
        }
    }

    /// The next message to send, if there is one now.
    func nextMessage() -> ClientMessage? {
        let message = takeNextMessage()
        if let message {
            logger.sent(message)
            if case .upload(let upload) = message { logs.changesets.uploading(upload.changesets) }
        }
        return message
    }

    private func takeNextMessage() -> ClientMessage? {
        switch outgoing {
        case .preparing:
            return nil
        case .ready(let message):
            outgoing = .none
            // Prepare the next message while this one is being sent.
            if let next = advance() { outgoing = .ready(next) }
            return message
        case .none:
            return advance()
        }
    }

    /// Takes the session's steps up to the next message that can be sent at once.
    private func advance() -> ClientMessage? {
        while let step = session?.nextStep() {
            switch step {
            case .scanUploads(let scan):
                add(.scan(scan))
            case .send(let message) where message.reportsFile && !store.standing.isDurable:
                // What the server is told must first survive a power cut (local realm, 6).
                lastTurn += 1
                outgoing = .preparing(turn: lastTurn)
                add(.makeDurable(message, turn: lastTurn))
                return nil
            case .send(let message):
                // All earlier work has been completed.
                if case .bind = message { isStalled = false }
                if case .ident = message { phase = .bound }
                return message
            }
        }
        return nil
    }

    /// Takes a message of the session.
    ///
    /// - Returns: an error that only another connection can help against, which then has to be made.
    func receive(
        _ message: ServerMessage
    ) async throws(ProtocolViolation) -> ServerProblem? {
        logger.received(message)
        if case .download(let download) = message {
            logs.changesets.downloaded(download.changesets)
        }
        var concern: ServerProblem?
        for effect in session?.received(message) ?? [] {
            if case .suspend(let problem) = effect, problem.action?.needsNewConnection == true {
                handOver(problem)
                concern = problem
            } else {
                try await perform(effect)
            }
        }
        wakeConnection()
        return concern
    }

    /// Whether as much waits for the file as may.
    var isFull: Bool { queue.isFull }

    /// Leaves the error to the connection. The session binds again on the next connection, with the
    /// same ident, and sends nothing more on this one.
    private func handOver(_ problem: ServerProblem) {
        report(.problem(problem, isFatal: problem.action == .logOutUser))
        session?.disconnected()
        session?.resume()
        outgoing = .none
        phase = .connecting()
    }

    func perform(_ effect: ClientSession.Effect) async throws(ProtocolViolation) {
        switch effect {
        case .storeFileIdent(let ident): add(.storeFileIdent(ident))
        case .integrate(let download): add(.integrate(download, parsed: nil))
        case .storeQueryError(let error): add(.failSubscriptions(error))
        case .downloadCompleted: add(.markDownloadCompleted)
        case .undoing(let problem): add(.keepRejects(problem))
        case .suspend(let problem): suspend(problem)
        case .report(let problem):
            warn(of: problem)
        case .log(let body):
            logger.log(body)
        case .close(let violation): throw violation
        }
    }

    /// Logs that the server serves the session; the counterpart of the error messages.
    func noteAcceptance() {
        // The file's result may arrive after the session was suspended.
        guard !isAccepted, phase == .bound else { return }
        isAccepted = true
        logger.info("session accepted")
    }

    private func suspend(_ problem: ServerProblem) {
        outgoing = .none
        let issue = SessionIssue(problem)
        let delay = session?.resumeDelay(using: &random)
        report(.problem(problem, isFatal: delay == nil))
        guard let delay else {
            isAccepted = false
            logger.error(
                "session stopped by server error",
                metadata: problem.metadata(isFatal: true)
            )
            resets.removal = problem.action == .deleteRealm ? issue : nil
            deactivateSession(issue, wanting: ResetCause(problem))
            return
        }
        var metadata = problem.metadata(isFatal: false)
        metadata["retry"] = "\(delay.forPeople)"
        isAccepted = false
        logger.notice("session suspended", metadata: metadata)
        phase = .backingOff(issue)
        resume(after: delay)
        // A session that the server closed returns at once; other errors may last.
        if problem.code != SyncErrorCode.sessionClosed.rawValue {
            finishWaiters(.refused(issue), includingTolerant: false)
        }
    }

    private func warn(of problem: ServerProblem) {
        report(.problem(problem, isFatal: false))
        logger.warning("the server reports an error", metadata: problem.metadata(isFatal: false))
    }
}

extension ClientMessage {
    /// Whether it reports versions of the file that the server will count on.
    fileprivate var reportsFile: Bool {
        switch self {
        case .upload, .query: true
        case .bind, .ident, .mark, .unbind, .ping, .jsonError, .testCommand: false
        }
    }
}
