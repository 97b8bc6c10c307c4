import Changesets
package import Versions

/// The server half of one session, owning no socket, store, task or clock (wire protocol, 16; sync
/// history, 13-15). `ServerSession+Subscriptions.swift` has what only flexible sync does.
///
/// It handles messages of its client and results of its store, and returns the next effects.
/// Messages that arrive while a result is awaited are kept until then.
package struct ServerSession: Sendable {
    enum State {
        case bound(path: Text, needsFileIdent: Bool)
        case opening
        case awaitingIdent
        case validating(ClientMessage.Ident)
        case running(Running)
        /// An error was sent: everything but UNBIND is ignored.
        case failed
        case ended
    }

    struct Running {
        /// The position up to which DOWNLOADs were sent.
        var cursor: DownloadCursor
        /// The position up to which history was read. Beyond the cursor it had nothing for the client.
        var position: DownloadCursor
        var hasSentDownload = false
        /// The newest known server version; there may be newer ones.
        var newestVersion = ServerVersion.zero
        var uploads: UploadCheck
        /// The newest unanswered MARK.
        var mark: RequestIdent?
        var scan = Scan.none
        /// Nil in partition-based sync.
        var subscriptions: SubscriptionTurn?
    }

    enum Scan {
        case none
        /// The scan covers the MARK that was pending when it began.
        case running(covers: RequestIdent?)
    }

    package let ident: SessionIdent
    let subProtocol: SubProtocol
    private let allowsRecovery: Bool
    var state: State
    private var waiting: [ClientMessage] = []
    /// Roughly the memory of the messages that wait for a result of the store.
    package private(set) var waitingSizeInBytes = 0

    /// For a BIND that was just received; `begin` returns its effects.
    ///
    /// - Parameter allowsRecovery: whether clients that must start over may keep their unsynced
    ///   writes.
    package init(
        _ bind: ClientMessage.Bind,
        subProtocol: SubProtocol = SubProtocol(mode: .partitionBased, version: 14),
        allowsRecovery: Bool = true
    ) {
        self.ident = bind.session
        self.subProtocol = subProtocol
        self.allowsRecovery = allowsRecovery
        self.state = .bound(path: bind.path, needsFileIdent: bind.needsFileIdent)
    }

    /// The session has finished; its ident is free.
    package var isEnded: Bool {
        if case .ended = state { true } else { false }
    }

    /// Server versions that it knows of and has not read for the client yet.
    var lagInVersions: UInt64 {
        guard case .running(let running) = state else { return 0 }
        let (newest, read) = (running.newestVersion, running.position.serverVersion)
        return newest > read ? newest.rawValue - read.rawValue : 0
    }

    package enum Effect: Hashable, Sendable {
        case send(ServerMessage)
        /// Carry out a step in the store, and tell the session the result.
        case work(SessionStep)
        /// The peer broke the order of messages: report it, and end the connection.
        case failConnection(ConnectionFault, message: String)
    }

    package mutating func begin(limits: Limits) -> [Effect] {
        guard case .bound(let path, let needsFileIdent) = state else { return [] }
        // The path is not kept: a client may send a long one with each BIND.
        state = .opening
        switch subProtocol.mode {
        case .partitionBased:
            guard 1...limits.pathSizeInBytes ~= path.bytes.count else {
                return fail(.illegalRealmPath, message: "illegal partition (BIND)")
            }
        case .flexible:
            guard path.bytes.count <= limits.pathSizeInBytes,
                FlexibleBinding(decoding: path) != nil
            else { return fail(.illegalRealmPath, message: "illegal parameters (BIND)") }
        }
        return [.work(.open(path: path, needsFileIdent: needsFileIdent))]
    }
}

// MARK: Client messages

extension ServerSession {
    /// Handles a message for this session, other than BIND.
    package mutating func received(_ message: ClientMessage) -> [Effect] {
        switch state {
        case .bound, .opening, .validating:
            waiting.append(message)
            waitingSizeInBytes += message.sizeInMemory
            return []
        case .awaitingIdent:
            return receivedBeforeIdent(message)
        case .running(let running):
            return received(message, running)
        case .failed:
            // The client answers an error with UNBIND, which is not answered.
            if case .unbind = message { state = .ended }
            return []
        case .ended:
            return [.failConnection(.badMessageOrder, message: "\(message.name) after UNBIND")]
        }
    }

    private mutating func receivedBeforeIdent(_ message: ClientMessage) -> [Effect] {
        switch message {
        case .ident(let ident):
            guard (ident.query != nil) == (subProtocol.mode == .flexible) else {
                return [outOfOrder(message)]
            }
            state = .validating(ident)
            return [.work(.validate(ident))]
        case .unbind:
            return unbind()
        case .testCommand:
            return fail(.otherError, message: "this server does not accept test commands")
        case .bind, .query, .upload, .mark, .ping, .jsonError:
            return [outOfOrder(message)]
        }
    }

    private mutating func received(_ message: ClientMessage, _ running: Running) -> [Effect] {
        var running = running
        switch message {
        case .upload(let upload):
            return received(upload, running)
        case .mark(_, let request):
            running.mark = request
            return proceed(running)
        case .unbind:
            return unbind()
        case .jsonError(let report):
            // It cannot integrate our history: only a fresh copy helps.
            return fail(
                .badClientFile,
                message: "the client reported error \(report.code): \(report.message.prefix(256))"
            )
        case .testCommand:
            return fail(.otherError, message: "this server does not accept test commands")
        case .query(_, let query) where running.subscriptions != nil:
            return received(query, running)
        case .bind, .ident, .query, .ping:
            return [outOfOrder(message)]
        }
    }

    private mutating func received(
        _ upload: ClientMessage.Upload,
        _ running: Running
    ) -> [Effect] {
        var running = running
        do throws(SessionFault) {
            let admitted = try running.uploads.admit(upload, sent: running.cursor.serverVersion)
            state = .running(running)
            return admitted.map { [.work(.integrate([$0]))] } ?? []
        } catch {
            return fail(error, message: "the UPLOAD contradicts an earlier one")
        }
    }

    private mutating func unbind() -> [Effect] {
        state = .ended
        return [.send(.unbound(ident))]
    }

    private func outOfOrder(_ message: ClientMessage) -> Effect {
        .failConnection(
            .badMessageOrder,
            message: "\(message.name) is not expected in session \(ident.rawValue) now"
        )
    }
}

// MARK: Store results

extension ServerSession {
    /// The partition exists and the user may sync it.
    ///
    /// - Parameter file: the assigned ident, if one was requested.
    package mutating func opened(assigned file: SaltedFileIdent?) -> [Effect] {
        guard case .opening = state else { return [] }
        state = .awaitingIdent
        let answer = file.map { [Effect.send(.ident(ident, $0))] } ?? []
        return answer + receiveWaiting()
    }

    /// The IDENT passed the checks.
    ///
    /// - Parameters:
    ///   - upload: the integrated part of the client's history.
    ///   - locked: the client no longer needs server history up to this version.
    ///   - needsBootstrap: whether the subscriptions in the IDENT need a bootstrap (flexible sync, 8.3).
    package mutating func identified(
        upload: UploadCursor,
        locked: ServerVersion,
        needsBootstrap: Bool = false
    ) -> [Effect] {
        guard case .validating(let ident) = state else { return [] }
        var running = Running(
            cursor: ident.download,
            position: ident.download,
            uploads: UploadCheck(threshold: upload, lockedServerVersion: locked)
        )
        var effects: [Effect] = []
        if let query = ident.query {
            running.subscriptions = SubscriptionTurn(active: query.version)
            if needsBootstrap { effects = begin(query, &running) }
        }
        return effects + proceed(running) + receiveWaiting()
    }

    /// The result of one scan of the history, read in one snapshot.
    package struct Scanned: Hashable, Sendable {
        package let changesets: [DownloadChangeset]
        /// Download cursor behind the changesets; equal to the latest version at the end of
        /// history.
        package let progress: SyncProgress
        package let downloadableBytes: UInt64

        package init(
            changesets: [DownloadChangeset],
            progress: SyncProgress,
            downloadableBytes: UInt64
        ) {
            self.changesets = changesets
            self.progress = progress
            self.downloadableBytes = downloadableBytes
        }
    }

    package mutating func scanned(_ scanned: Scanned) -> [Effect] {
        guard case .running(var running) = state else { return [] }
        if running.subscriptions?.isAtWork == true {
            return scannedBeforeBootstrap(scanned, running)
        }
        guard case .running(let covered) = running.scan else { return [] }
        let progress = scanned.progress
        running.scan = .none
        running.newestVersion = max(running.newestVersion, progress.latestServerVersion.version)
        var effects = send(scanned, answersMark: covered != nil, &running)
        if let covered, progress.download.serverVersion == progress.latestServerVersion.version {
            effects.append(.send(.mark(ident, covered)))
            if running.mark == covered { running.mark = nil }
        }
        return effects + proceed(running)
    }

    /// Whether the scan under way answers a MARK: then it must find what others had written before.
    package var coversMark: Bool {
        guard case .running(let running) = state, case .running(let covered) = running.scan else {
            return false
        }
        return covered != nil
    }

    /// The history has grown, by this client's uploads or by others'.
    package mutating func historyGrew(to version: ServerVersion) -> [Effect] {
        guard case .running(var running) = state else { return [] }
        running.newestVersion = max(running.newestVersion, version)
        return proceed(running)
    }

    /// Ends the session with an error; further errors are dropped.
    package mutating func fail(
        _ fault: SessionFault,
        message: String,
        backoff: JSONErrorBody.Backoff? = nil
    ) -> [Effect] {
        switch state {
        case .failed, .ended: return []
        case .bound, .opening, .awaitingIdent, .validating, .running: break
        }
        if fault.endsSession { state = .failed }
        let report = JSONErrorReport(
            fault,
            session: ident,
            message: message,
            backoff: backoff,
            allowsRecovery: allowsRecovery
        )
        return [.send(.jsonError(report))] + (fault.endsSession ? receiveWaiting() : [])
    }

    /// Sends the result of a scan, unless it has nothing for the client.
    func send(
        _ scanned: Scanned,
        answersMark: Bool,
        _ running: inout Running
    ) -> [Effect] {
        let progress = scanned.progress
        guard progress.download.serverVersion >= running.position.serverVersion else { return [] }
        running.position = progress.download
        // The first is sent even if it is empty: it acknowledges earlier uploads.
        guard
            !running.hasSentDownload
                || progress.download.serverVersion > running.cursor.serverVersion
        else { return [] }
        if running.hasSentDownload, scanned.changesets.isEmpty, !answersMark,
            running.subscriptions?.canWait(progress, sent: running.cursor) == true
        {
            return []
        }
        running.hasSentDownload = true
        running.cursor = progress.download
        running.subscriptions?.noteSent(progress)
        let extent: ServerMessage.Extent =
            if let subscriptions = running.subscriptions {
                .query(subscriptions.active, .steady, .complete)
            } else {
                .partition(downloadableBytes: scanned.downloadableBytes)
            }
        return [.send(download(scanned.changesets, progress, extent))]
    }

    private mutating func receiveWaiting() -> [Effect] {
        var effects: [Effect] = []
        while !waiting.isEmpty {
            switch state {
            case .bound, .opening, .validating: return effects
            case .awaitingIdent, .running, .failed, .ended:
                let message = waiting.removeFirst()
                waitingSizeInBytes -= message.sizeInMemory
                effects += received(message)
            }
        }
        return effects
    }

    /// Starts the next scan if one is due: one at a time, always one before the first DOWNLOAD, and
    /// one that begins after each MARK.
    mutating func proceed(_ running: Running) -> [Effect] {
        var running = running
        var effects: [Effect] = []
        let isDue =
            !running.hasSentDownload || running.mark != nil
            || running.newestVersion > running.position.serverVersion
        // A bootstrap moves the position, and comes before the answer to a MARK.
        if isDue, running.subscriptions?.isWaiting != true, case .none = running.scan {
            running.scan = .running(covers: running.mark)
            effects.append(.work(.scanDownload(from: running.position)))
        }
        state = .running(running)
        return effects
    }

    func download(
        _ changesets: [DownloadChangeset],
        _ progress: SyncProgress,
        _ extent: ServerMessage.Extent
    ) -> ServerMessage {
        .download(
            ServerMessage.Download(
                session: ident,
                progress: progress,
                extent: extent.limited(toVersion: subProtocol.version),
                changesets: changesets
            )
        )
    }
}
