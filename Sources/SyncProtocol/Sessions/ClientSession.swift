package import Changesets
package import Versions

/// The client half of one session of partition-based sync, owning no socket, file, task or clock
/// (wire protocol, 10.2; sync history, 5).
///
/// Its connection gives it turns to send with `nextStep`, hands it what arrives, and carries out the
/// effects in order. Each effect that asks for work is answered exactly once, also when the work fails
/// or the connection is gone meanwhile: the session binds again only after that, since what it tells
/// the server then must be what the file holds.
package struct ClientSession: Sendable {
    private enum Life {
        case active
        /// After an error: unbound until `resume`.
        case suspended
        case deactivating
        case ended
    }

    private enum Binding {
        case offline
        /// Nothing of the session is at the server.
        case unbound
        /// BIND sent; the server assigns a file ident.
        case awaitingIdent
        /// The file ident has arrived and is being stored.
        case storingIdent
        /// BIND sent, file ident known.
        case bound
        /// IDENT sent: the session runs.
        case identified
        /// The server ended the session with an error; it waits for our UNBIND.
        case refused
        /// UNBIND sent; UNBOUND or an error will end it.
        case unbinding
    }

    /// What integrating a download did not manage, and whether the server has to hear of it.
    private enum ClientError {
        case none
        case unreported(IntegrationFailure)
        /// The server knows, or need not know: nothing more is said.
        case silent
    }

    /// Whether what is uploaded first waits until everything has been downloaded.
    package enum UploadActivation: Sendable {
        case afterDownload
        case immediate
        /// The file is a copy for reading: nothing is ever uploaded, not even that something was
        /// downloaded (client reset, 13).
        case never
    }

    package let ident: SessionIdent
    private let path: Text
    private var life = Life.active
    private var binding = Binding.offline
    private var clientError = ClientError.none

    private var fileIdent: SaltedFileIdent
    /// Persisted progress.
    private var integrated: SyncProgress
    /// What downloads are held against: the progress of the last one received.
    private var downloads: DownloadCheck
    private var uploads: UploadTurn
    private var fence = DownloadFence()
    private let uploadActivation: UploadActivation
    private var holdsUploads: Bool
    /// Effects that were asked for and not answered yet.
    private var pendingWork = 0
    /// Refused writes that are told once the version that undoes them is integrated.
    private var compensations: [(undoneAt: ServerVersion, problem: ServerProblem)] = []
    private var delay: ReconnectDelay<Int>
    /// The code of the error after which a suspended session comes back by itself.
    private var resumption: Int?

    /// - Parameters:
    ///   - ident: unused so far on this connection, or by a session that has ended.
    ///   - path: the partition value as canonical extended JSON.
    ///   - fileIdent: `none` if the server has not assigned one yet.
    package init(
        ident: SessionIdent,
        path: Text,
        fileIdent: SaltedFileIdent,
        progress: SyncProgress,
        localVersion: ClientVersion,
        uploadActivation: UploadActivation = .afterDownload,
        resumption: ReconnectDelay<Int>.Parameters = .init()
    ) {
        self.ident = ident
        self.path = path
        self.fileIdent = fileIdent
        self.integrated = progress
        self.downloads = DownloadCheck(
            progress: progress,
            lastVersionAvailable: localVersion,
            fileIdent: fileIdent.ident
        )
        self.uploads = UploadTurn(cursor: progress.upload)
        self.uploadActivation = uploadActivation
        self.holdsUploads = uploadActivation != .immediate
        self.delay = ReconnectDelay(resumption)
    }

    /// Whether the session needs a connection: those that do keep it open.
    package var wantsConnection: Bool { life == .active }
    package var isSuspended: Bool { life == .suspended }
    /// Nothing more will come of the session; its ident is free.
    package var isEnded: Bool { life == .ended }
    /// The server knows the file: downloads can arrive.
    package var isIdentified: Bool { binding == .identified }
    /// A download completion was asked for and has not fired yet.
    package var awaitsDownloadCompletion: Bool { fence.isAwaited }
}

// MARK: Turns to send

extension ClientSession {
    package enum Step: Hashable, Sendable {
        case send(ClientMessage)
        /// Read the local history and answer with `uploadScanned`.
        case scanUploads(UploadScan)
    }

    /// What the session does with its turn; nil if there is nothing to do now.
    package mutating func nextStep() -> Step? {
        guard life == .active, binding != .refused else { return unbindStep() }
        switch binding {
        case .offline, .awaitingIdent, .storingIdent, .refused, .unbinding:
            return nil
        case .unbound:
            return bindStep()
        case .bound:
            binding = .identified
            return .send(.ident(identMessage))
        case .identified:
            return runningStep()
        }
    }

    private mutating func bindStep() -> Step? {
        guard pendingWork == 0 else { return nil }
        clientError = .none
        compensations = []
        downloads.progress = integrated
        uploads.rebind(acknowledged: integrated.upload)
        fence.rebind()
        let needsFileIdent = fileIdent == .none
        binding = needsFileIdent ? .awaitingIdent : .bound
        return .send(
            .bind(
                ClientMessage.Bind(session: ident, path: path, needsFileIdent: needsFileIdent)
            )
        )
    }

    private var identMessage: ClientMessage.Ident {
        ClientMessage.Ident(
            session: ident,
            file: fileIdent,
            download: integrated.download,
            latestServerVersion: integrated.latestServerVersion
        )
    }

    private mutating func runningStep() -> Step? {
        switch clientError {
        case .unreported(let failure):
            clientError = .silent
            return .send(.jsonError(ClientErrorReport(session: ident, failure: failure)))
        case .silent:
            return nil
        case .none:
            break
        }
        if let request = fence.takeMark() { return .send(.mark(ident, request)) }
        guard !holdsUploads else { return nil }
        let step = uploads.next(
            lastVersionAvailable: downloads.lastVersionAvailable,
            integrated: integrated.download.serverVersion
        )
        switch step {
        case .scan(let scan): return .scanUploads(scan)
        case .send(let batch):
            return .send(
                .upload(
                    ClientMessage.Upload(
                        session: ident,
                        progress: batch.progress,
                        lockedServerVersion: batch.lockedServerVersion,
                        changesets: batch.changesets
                    )
                )
            )
        case nil: return nil
        }
    }

    private mutating func unbindStep() -> Step? {
        switch binding {
        case .offline, .unbound:
            if life == .deactivating { life = .ended }
            return nil
        case .unbinding:
            return nil
        case .refused:
            // No UNBOUND follows an error: with this message the session is gone at the server.
            binding = .unbound
            if life == .deactivating { life = .ended }
            return .send(.unbind(ident))
        case .awaitingIdent, .storingIdent, .bound, .identified:
            binding = .unbinding
            return .send(.unbind(ident))
        }
    }
}

// MARK: What arrives

extension ClientSession {
    package enum Effect: Hashable, Sendable {
        /// Store the ident durably and answer with `fileIdentStored`.
        case storeFileIdent(SaltedFileIdent)
        /// Integrate, and answer with `integrated`, `integrationFailed` or `integrationInterrupted`.
        /// After a failure everything asked for behind it is answered so as well, and not done.
        case integrate(Download)
        /// Every download completion asked for so far has come.
        case downloadCompleted
        /// The session is suspended; `resumeDelay` tells whether and when to `resume` it.
        case suspend(ServerProblem)
        /// An error that the session survives.
        case report(ServerProblem)
        /// A write was refused, and what undoes it is still to come; it is reported after that.
        case undoing(ServerProblem)
        case log(LogMessageBody)
        /// Close the connection: the server broke the protocol.
        case close(ProtocolViolation)
    }

    /// A DOWNLOAD that passed the checks.
    package struct Download: Hashable, Sendable {
        package let changesets: [DownloadChangeset]
        package let progress: SyncProgress
        package let downloadableBytes: UInt64
    }

    /// Takes a message that names this session.
    package mutating func received(_ message: ServerMessage) -> [Effect] {
        guard life != .ended else { return [] }
        switch message {
        case .ident(_, let file): return received(file)
        case .download(let download): return received(download)
        case .mark(_, let request): return received(request)
        case .error(let report): return received(ServerProblem(report))
        case .jsonError(let report): return received(ServerProblem(report))
        case .unbound: return receivedUnbound()
        case .logMessage(_, let body): return [.log(body)]
        case .queryError, .testCommand, .pong:
            return [.close(.unexpected(message: message.name))]
        }
    }

    private mutating func received(_ file: SaltedFileIdent) -> [Effect] {
        guard !isIgnoredWhileLeaving else { return [] }
        guard binding == .awaitingIdent else { return [.close(.unexpected(message: "IDENT"))] }
        guard file.ident != .none, file.salt != .none else { return [.close(.badFileIdent)] }
        binding = .storingIdent
        pendingWork += 1
        return [.storeFileIdent(file)]
    }

    private mutating func received(_ download: ServerMessage.Download) -> [Effect] {
        guard !isIgnoredWhileLeaving else { return [] }
        guard binding == .identified, case .partition(let downloadableBytes) = download.extent
        else { return [.close(.unexpected(message: "DOWNLOAD"))] }
        guard case .none = clientError else { return [] }
        do throws(DownloadViolation) {
            try downloads.verify(download)
        } catch {
            return [.close(.download(error))]
        }
        downloads.progress = download.progress
        pendingWork += 1
        delay.reset()
        return [
            .integrate(
                Download(
                    changesets: download.changesets,
                    progress: download.progress,
                    downloadableBytes: downloadableBytes
                )
            )
        ]
    }

    private mutating func received(_ request: RequestIdent) -> [Effect] {
        guard !isIgnoredWhileLeaving else { return [] }
        guard binding == .identified else { return [.close(.unexpected(message: "MARK"))] }
        let downloaded = downloads.progress.download.serverVersion
        guard fence.receive(request, downloaded: downloaded) else {
            return [.close(.badMark(request))]
        }
        return completion()
    }

    private mutating func received(_ problem: ServerProblem) -> [Effect] {
        guard SyncErrorCode(rawValue: problem.code)?.level != .connection else {
            return [.close(.badErrorCode(problem.code))]
        }
        switch binding {
        case .offline, .unbound, .refused:
            return [.close(.unexpected(message: "ERROR"))]
        case .unbinding:
            // Sent before the server saw our UNBIND, and as good as its UNBOUND.
            life = .ended
            binding = .unbound
            return []
        case .awaitingIdent, .storingIdent, .bound, .identified:
            break
        }
        guard problem.endsBinding else { return receivedPassing(problem) }
        binding = .refused
        guard life == .active else { return [] }
        life = .suspended
        if problem.tryAgain { delay.failed(problem.code, backoff: problem.backoff) }
        resumption = problem.tryAgain ? problem.code : nil
        return [.suspend(problem)]
    }

    /// A refused write is told when the application can see that it is undone.
    private mutating func receivedPassing(_ problem: ServerProblem) -> [Effect] {
        guard case .compensated(_, let version) = problem.details else { return [.report(problem)] }
        compensations.append((version, problem))
        return [.undoing(problem)]
    }

    private mutating func receivedUnbound() -> [Effect] {
        guard binding == .unbinding else { return [.close(.unexpected(message: "UNBOUND"))] }
        binding = .unbound
        life = .ended
        return []
    }

    /// These cross our UNBIND, or precede it.
    private var isIgnoredWhileLeaving: Bool {
        guard life == .deactivating else { return false }
        switch binding {
        case .awaitingIdent, .storingIdent, .bound, .identified, .unbinding: return true
        case .offline, .unbound, .refused: return false
        }
    }
}

// MARK: What happens on this side

extension ClientSession {
    /// The connection stands, or the session is new on one that does.
    ///
    /// - Parameter isFastReconnect: the connection was lost so shortly ago that the session may upload
    ///   at once; never true the first time.
    package mutating func connected(isFastReconnect: Bool) {
        guard binding == .offline else { return }
        binding = .unbound
        guard uploadActivation == .afterDownload else { return }
        if !isFastReconnect { holdsUploads = true }
        if holdsUploads { fence.request() }
    }

    package mutating func disconnected() {
        binding = .offline
        if life == .deactivating { life = .ended }
    }

    package mutating func fileIdentStored(_ file: SaltedFileIdent, localVersion: ClientVersion) {
        pendingWork -= 1
        fileIdent = file
        downloads.fileIdent = file.ident
        integrated.download = DownloadCursor(
            serverVersion: integrated.download.serverVersion,
            lastIntegratedClientVersion: .zero
        )
        integrated.upload = UploadCursor(
            clientVersion: .zero,
            lastIntegratedServerVersion: integrated.upload.lastIntegratedServerVersion
        )
        downloads.progress = integrated
        uploads.rebind(acknowledged: integrated.upload)
        localVersionAvailable(localVersion)
        if binding == .storingIdent { binding = .bound }
    }

    package mutating func localVersionAvailable(_ version: ClientVersion) {
        downloads.lastVersionAvailable = max(downloads.lastVersionAvailable, version)
    }

    package mutating func uploadScanned(_ scan: UploadScan, _ batch: UploadBatch) {
        uploads.finish(scan, with: batch)
    }

    /// - Parameters:
    ///   - progress: as it is stored now.
    ///   - localVersion: of the transaction that integrated.
    package mutating func integrated(
        _ progress: SyncProgress,
        localVersion: ClientVersion
    ) -> [Effect] {
        pendingWork -= 1
        integrated = progress
        uploads.acknowledge(progress.upload)
        localVersionAvailable(localVersion)
        let undone = compensations.filter { $0.undoneAt <= progress.download.serverVersion }
        compensations.removeAll { $0.undoneAt <= progress.download.serverVersion }
        return undone.map { .report($0.problem) } + completion()
    }

    /// The server is told, and nothing more is integrated until the session binds again.
    package mutating func integrationFailed(_ failure: IntegrationFailure) {
        pendingWork -= 1
        guard binding == .identified, case .none = clientError else { return }
        clientError = .unreported(failure)
    }

    /// This machine was in the way: nothing more is integrated until the session binds again, when all
    /// of it comes once more. The server is not told.
    package mutating func integrationInterrupted() {
        pendingWork -= 1
        guard binding == .identified, case .none = clientError else { return }
        clientError = .silent
    }

    /// Asks for `downloadCompleted` once everything that the server has by now is integrated.
    package mutating func requestDownloadCompletion() {
        fence.request()
    }

    /// Ends the session in order; `isEnded` tells when that is done.
    package mutating func deactivate() {
        switch life {
        case .active, .suspended:
            let isAtServer = binding != .offline && binding != .unbound
            life = isAtServer ? .deactivating : .ended
        case .deactivating, .ended: break
        }
    }

    /// Binds a suspended session again, under the same ident.
    package mutating func resume() {
        guard life == .suspended else { return }
        life = .active
    }

    /// How long a session that was just suspended stays so; nil if it does not come back by itself.
    package mutating func resumeDelay(
        using random: inout some RandomNumberGenerator
    ) -> Duration? {
        guard life == .suspended, let code = resumption else { return nil }
        guard code != SyncErrorCode.sessionClosed.rawValue else { return .seconds(1) }
        return delay.next(using: &random)
    }

    private mutating func completion() -> [Effect] {
        guard fence.takeCompletion(integrated: integrated.download.serverVersion) else { return [] }
        holdsUploads = uploadActivation == .never
        return [.downloadCompleted]
    }
}
