package import Changesets
package import Versions

/// The client half of one session, owning no socket, file, task or clock (wire protocol, 10.2; sync
/// history, 5; flexible sync, 5).
///
/// Its connection gives it turns to send with `nextStep`, hands it what arrives, and carries out the
/// effects in order. Each effect that asks for work is answered exactly once, also when the work fails
/// or the connection is gone meanwhile. Until then neither BIND nor IDENT is sent: what they tell the
/// server must be what the file holds.
///
/// state | meaning | on its turn | DOWNLOAD, MARK | error ending the binding
/// --|--|--|--|--
/// offline | no connection | | close | close
/// unbound | BIND is due | BIND: awaitingIdent, identifying | close | close
/// awaitingIdent | BIND sent; IDENT: identifying | | close | refused
/// identifying | file ident is being stored or known | IDENT: running | close | refused
/// running | IDENT sent | MARK, QUERY, UPLOAD | taken | refused
/// stalled | a download was not integrated | JSON_ERROR if due | dropped | refused
/// refused | error received | UNBIND: suspended, unbound, ended | close | close
/// suspended | unbound until `resume` | | close | close
/// leaving | deactivated; UNBIND is due | UNBIND: unbinding | ignored | refused, then ended
/// unbinding | UNBIND sent; UNBOUND: ended | | ignored | ended
/// ended | nothing more comes | | ignored | ignored
///
/// "Close" asks for the end of the connection. `disconnected` ends a session that was deactivated,
/// keeps a suspended one suspended, and makes every other offline. `deactivate` ends a session that has
/// nothing at the server, and every other after its UNBIND: a refused one at once, else at UNBOUND.
/// QUERY_ERROR, in flexible sync only, is taken while running, and dropped or ignored as a MARK is.
/// `ClientSessionTableTests` has a cell for every event in every state.
package struct ClientSession: Sendable {
    package let ident: SessionIdent
    private let path: Text
    private let uploadActivation: UploadActivation
    private var state = State.offline

    // State that outlives a binding.

    private var file: ClientFileState
    /// Effects that were requested and not answered yet.
    private var pendingWork = 0
    private var fence = DownloadFence()
    private var holdsUploads: Bool
    private var compensatingWrites = CompensatingWrites()
    /// Nil in partition-based sync.
    private var subscriptions: SessionSubscriptions?
    /// Messages of bootstraps that are being staged or applied.
    private var pendingBootstraps = 0
    private var delay: ReconnectDelay<Int>

    /// - Parameters:
    ///   - ident: unused so far on this connection, or by a session that has ended.
    ///   - path: the partition value as canonical extended JSON.
    ///     The JSON object of `FlexibleBinding` in flexible sync.
    ///   - subscriptions: the sets of the file; nil in partition-based sync.
    ///   - fileIdent: `none` if the server has not assigned one yet.
    package init(
        ident: SessionIdent,
        path: Text,
        fileIdent: SaltedFileIdent,
        progress: SyncProgress,
        localVersion: ClientVersion,
        uploadActivation: UploadActivation = .afterDownload,
        subscriptions: SessionSubscriptions? = nil,
        resumption: ReconnectDelay<Int>.Parameters = .init()
    ) {
        self.ident = ident
        self.path = path
        self.file = ClientFileState(
            ident: fileIdent,
            progress: progress,
            localVersion: localVersion
        )
        self.uploadActivation = uploadActivation
        self.subscriptions = subscriptions
        self.holdsUploads = uploadActivation != .immediate
        self.delay = ReconnectDelay(resumption)
    }

    /// Whether the session needs a connection: those that do keep it open.
    package var wantsConnection: Bool { state.wantsConnection }
    package var isSuspended: Bool { state.resumption != nil }
    /// The session has finished; its ident is free.
    package var isEnded: Bool { state.isEnded }
    /// The server knows the file: downloads can arrive.
    package var isIdentified: Bool { state.isIdentified }
    /// Up to here everything was scanned for uploads on this connection; nil if the session does not run.
    package var scannedVersion: ClientVersion? {
        if case .running(let running) = state { running.scanned } else { nil }
    }
    /// A download completion was requested and has not fired yet.
    package var awaitsDownloadCompletion: Bool { fence.isAwaited }
}

// MARK: Turns to send

extension ClientSession {
    /// The session's action in its turn; nil if there is nothing to do now.
    package mutating func nextStep() -> Step? {
        switch state {
        case .unbound:
            return pendingWork == 0 ? .send(bind()) : nil
        case .identifying:
            return pendingWork == 0 ? .send(identify()) : nil
        case .running(let running):
            return nextStep(running)
        case .stalled(let failure?):
            state = .stalled(report: nil)
            return .send(.jsonError(ClientErrorReport(session: ident, failure: failure)))
        case .refused(let sequel):
            // No UNBOUND follows an error: with this message the server drops the session.
            state = sequel.state(isConnected: true)
            return .send(.unbind(ident))
        case .leaving:
            state = .unbinding
            return .send(.unbind(ident))
        case .offline, .awaitingIdent, .stalled(nil), .suspended, .unbinding, .ended:
            return nil
        }
    }

    private mutating func bind() -> ClientMessage {
        let needsFileIdent = file.ident == .none
        state = needsFileIdent ? .awaitingIdent : .identifying
        compensatingWrites = CompensatingWrites()
        fence.rebind()
        return .bind(
            ClientMessage.Bind(session: ident, path: path, needsFileIdent: needsFileIdent)
        )
    }

    private mutating func identify() -> ClientMessage {
        state = .running(Running(file, query: subscriptions?.active.version))
        return .ident(
            ClientMessage.Ident(
                session: ident,
                file: file.ident,
                download: file.progress.download,
                latestServerVersion: file.progress.latestServerVersion,
                query: subscriptions?.active
            )
        )
    }

    private mutating func nextStep(_ running: Running) -> Step? {
        if let request = fence.takeMark() { return .send(.mark(ident, request)) }
        let uploadsNothing = uploadActivation == .never
        // While a bootstrap is being applied the version to base uploads on is not known.
        guard uploadsNothing || !holdsUploads, pendingBootstraps == 0 else { return nil }
        var running = running
        defer { state = .running(running) }
        if !uploadsNothing, let step = running.nextUpload(ident, file, subscriptions) {
            return step
        }
        guard
            let subscriptions,
            let step = running.nextQuery(ident, subscriptions, uploadsNothing: uploadsNothing)
        else { return nil }
        fence.request()
        return step
    }
}

// MARK: Incoming messages

extension ClientSession {
    /// Handles a message for this session.
    package mutating func received(_ message: ServerMessage) -> [Effect] {
        guard !state.isEnded else { return [] }
        switch message {
        case .ident(_, let file): return received(file)
        case .download(let download): return received(download)
        case .mark(_, let request): return received(request)
        case .error(let report): return received(ServerProblem(report))
        case .jsonError(let report): return received(ServerProblem(report))
        case .unbound: return receivedUnbound()
        case .logMessage(_, let body): return [.log(body)]
        case .queryError(_, let error): return received(error)
        case .testCommand, .pong: return unexpected(message.name)
        }
    }

    private func unexpected(_ message: String) -> [Effect] {
        [.close(.unexpected(message: message))]
    }

    private mutating func received(_ file: SaltedFileIdent) -> [Effect] {
        switch state {
        case .awaitingIdent:
            guard file.ident != .none, file.salt != .none else { return [.close(.badFileIdent)] }
            state = .identifying
            pendingWork += 1
            return [.storeFileIdent(file)]
        case .leaving, .unbinding, .ended:
            return []
        case .offline, .unbound, .identifying, .running, .stalled, .refused, .suspended:
            return unexpected("IDENT")
        }
    }

    private mutating func received(_ download: ServerMessage.Download) -> [Effect] {
        switch state {
        case .running(let running) where download.extent.isFlexible == (subscriptions != nil):
            return received(download, running)
        case .stalled where download.extent.isFlexible == (subscriptions != nil):
            return []
        case .leaving, .unbinding, .ended:
            return []
        case .running, .stalled, .offline, .unbound, .awaitingIdent, .identifying, .refused,
            .suspended:
            return unexpected("DOWNLOAD")
        }
    }

    private mutating func received(
        _ download: ServerMessage.Download,
        _ running: Running
    ) -> [Effect] {
        var running = running
        let isFirst = !running.hasReceived
        let part: Download.Part
        do throws(DownloadViolation) {
            part = try running.receive(download, file)
            if case .bootstrap(let version, _, _, _) = part {
                guard subscriptions?.awaitsBootstrap(of: version) == true else {
                    throw .queryVersion(version)
                }
                pendingBootstraps += 1
            }
        } catch {
            return [.close(.download(error))]
        }
        state = .running(running)
        pendingWork += 1
        delay.reset()
        return [
            .integrate(
                Download(
                    changesets: download.changesets,
                    progress: download.progress,
                    part: part,
                    isFirst: isFirst
                )
            )
        ]
    }

    private mutating func received(_ error: ServerMessage.QueryError) -> [Effect] {
        guard let subscriptions else { return unexpected("QUERY_ERROR") }
        switch state {
        case .running:
            guard subscriptions.mayFail(error.version) else {
                return [.close(.badQueryError(error.version))]
            }
            pendingWork += 1
            return [.storeQueryError(error)]
        // The next binding sends the set again.
        case .stalled, .leaving, .unbinding, .ended: return []
        case .offline, .unbound, .awaitingIdent, .identifying, .refused, .suspended:
            return unexpected("QUERY_ERROR")
        }
    }

    private mutating func received(_ request: RequestIdent) -> [Effect] {
        let downloaded: ServerVersion
        switch state {
        case .running(let running): downloaded = running.downloaded
        // It follows downloads that were dropped; the next binding requests it again.
        case .stalled, .leaving, .unbinding, .ended: return []
        case .offline, .unbound, .awaitingIdent, .identifying, .refused, .suspended:
            return unexpected("MARK")
        }
        guard fence.receive(request, downloaded: downloaded) else {
            return [.close(.badMark(request))]
        }
        return completion()
    }

    private mutating func received(_ problem: ServerProblem) -> [Effect] {
        guard SyncErrorCode(rawValue: problem.code)?.level != .connection else {
            return [.close(.badErrorCode(problem.code))]
        }
        switch state {
        case .awaitingIdent, .identifying, .running, .stalled:
            guard problem.endsBinding else { return receivedPassing(problem) }
            state = .refused(then: .suspension(resumption(after: problem)))
            return [.suspend(problem)]
        case .leaving:
            guard problem.endsBinding else { return receivedPassing(problem) }
            state = .refused(then: .end)
            return []
        case .unbinding:
            // Sent before the server saw our UNBIND; equivalent to its UNBOUND.
            state = .ended
            return []
        case .offline, .unbound, .refused, .suspended:
            return unexpected("ERROR")
        case .ended:
            return []
        }
    }

    private mutating func resumption(after problem: ServerProblem) -> Resumption {
        guard problem.tryAgain else { return .unlimited }
        delay.failed(problem.code, backoff: problem.backoff)
        return problem.code == SyncErrorCode.sessionClosed.rawValue ? .short : .backOff
    }

    /// A rejected write is reported once the application can see its undo.
    private mutating func receivedPassing(_ problem: ServerProblem) -> [Effect] {
        guard case .compensated(_, let version) = problem.details else { return [.report(problem)] }
        compensatingWrites.announce(problem, undoneAt: version)
        return [.undoing(problem)]
    }

    private mutating func receivedUnbound() -> [Effect] {
        switch state {
        case .unbinding:
            state = .ended
            return []
        case .ended:
            return []
        case .offline, .unbound, .awaitingIdent, .identifying, .running, .stalled, .refused,
            .suspended, .leaving:
            return unexpected("UNBOUND")
        }
    }
}

// MARK: Local events

extension ClientSession {
    /// The connection is open, or the session is new on an open one.
    ///
    /// - Parameter isFastReconnect: the connection was lost so recently that the session may upload
    ///   at once; never true the first time.
    package mutating func connected(isFastReconnect: Bool) {
        guard let connected = state.afterConnecting else { return }
        state = connected
        if subscriptions?.isAwaitingMark == true, !fence.isAwaited { fence.request() }
        guard uploadActivation == .afterDownload else { return }
        if !isFastReconnect { holdsUploads = true }
        if holdsUploads { fence.request() }
    }

    package mutating func disconnected() {
        state = state.afterDisconnecting
    }

    /// Ends the session in order; `isEnded` tells when that is done.
    package mutating func deactivate() {
        state = state.afterDeactivation
    }

    /// Binds a suspended session again, under the same ident.
    package mutating func resume() {
        state = state.afterResumption
    }

    /// The length of the suspension that has just begun; nil if only `resume` ends it.
    package mutating func resumeDelay(
        using random: inout some RandomNumberGenerator
    ) -> Duration? {
        switch state.resumption {
        case .backOff: delay.next(using: &random)
        case .short: .seconds(1)
        case .unlimited, nil: nil
        }
    }

    package mutating func localVersionAvailable(_ version: ClientVersion) {
        file.grew(to: version)
    }

    /// The sets of the file have changed: by a user, or by the session's own work.
    package mutating func subscriptionsChanged(_ subscriptions: SessionSubscriptions) {
        self.subscriptions = subscriptions
    }

    /// Requests `downloadCompleted` once everything that the server has now is integrated.
    package mutating func requestDownloadCompletion() {
        fence.request()
    }

    private mutating func completion() -> [Effect] {
        let integrated = file.progress.download.serverVersion
        // A bootstrap may be at the version that the file has already.
        guard pendingBootstraps == 0, fence.takeCompletion(integrated: integrated) else {
            return []
        }
        holdsUploads = uploadActivation == .never
        return [.downloadCompleted]
    }
}

// MARK: Results of effects

extension ClientSession {
    package mutating func fileIdentStored(_ ident: SaltedFileIdent, localVersion: ClientVersion) {
        pendingWork -= 1
        file.stored(ident)
        file.grew(to: localVersion)
    }

    package mutating func uploadScanned(_ scan: UploadScan, _ batch: UploadBatch) {
        guard case .running(var running) = state else { return }
        running.finish(scan, with: batch)
        state = .running(running)
    }

    /// A download is integrated; a message of a bootstrap is staged or, if it is the last, applied.
    ///
    /// - Parameters:
    ///   - progress: as stored now.
    ///   - localVersion: of the transaction that integrated.
    package mutating func integrated(
        _ part: Download.Part,
        _ progress: SyncProgress,
        localVersion: ClientVersion
    ) -> [Effect] {
        pendingWork -= 1
        file.stored(progress)
        file.grew(to: localVersion)
        if case .running(var running) = state {
            running.acknowledge(progress.upload)
            state = .running(running)
        }
        switch part {
        case .history:
            let version = progress.download.serverVersion
            let undone = compensatingWrites.takeUndone(integrated: version)
            return undone.map(Effect.report) + completion()
        case .bootstrap(_, _, let isLast, _):
            pendingBootstraps -= 1
            if isLast, subscriptions?.isAwaitingMark == true, !fence.isAwaited { fence.request() }
            return completion()
        }
    }

    package mutating func queryErrorStored() {
        pendingWork -= 1
    }

    /// Reports to the server, and stops integrating until the session binds again.
    package mutating func integrationFailed(
        _ part: Download.Part,
        _ failure: IntegrationFailure
    ) {
        stall(part, report: failure)
    }

    /// This machine failed: nothing more is integrated until the session binds again, when all of
    /// it is sent once more. The server is not told.
    package mutating func integrationInterrupted(_ part: Download.Part) {
        stall(part, report: nil)
    }

    private mutating func stall(_ part: Download.Part, report failure: IntegrationFailure?) {
        pendingWork -= 1
        if case .bootstrap = part { pendingBootstraps -= 1 }
        guard case .running = state else { return }
        state = .stalled(report: failure)
    }
}
