import Changesets
import Coordination
import Logging
import SyncProtocol
import Synchronization
import Transport
import Versions

/// Runs one connection: bytes in, store calls, bytes out. What they mean is decided by
/// `ServerConnection`.
///
/// The work of one session is done in order, that of different sessions side by side. What the client
/// does not take in holds back what is read from the store, and in the end what is read from the
/// client.
actor SyncConnection {
    typealias SessionKey = ServerConnection.SessionKey

    let service: SyncService
    let user: SyncUser
    /// As it was when the client came; what counts now is `app`.
    private let firstApp: AppConfiguration
    let logger: Logger
    private let stream: any MessageStream
    /// Also in the first message to the client, so that both logs can be laid side by side.
    private let id: String

    var machine: ServerConnection
    var work = SessionWork()
    /// Of what waits for the store, as all connections together know of it.
    private var countedBacklogInBytes = 0
    private var outbox = Outbox()
    private var scansUnderWay = 0
    private var loggedFailures = 0
    private static let failuresInLog = 20
    private var hasHeard = true
    private var ticksOfSilence = 0
    /// Set when the machine has said its last word.
    private var closing: Closing?
    private struct Closing {
        let code: CloseCode
        /// How long the client may take to close first.
        let patience: Duration
    }

    /// How the connection ends, if this end decided that.
    private var ending: (code: CloseCode, reason: String)?
    private(set) var isOver = false

    /// Whether a task is at it; while there is nothing to send there is none, since thousands of
    /// connections say nothing most of the time, and a task costs more than all they keep. At first
    /// there is: nothing may overtake the first message.
    private var isWriting = true
    private let reader = WaitQueue()
    private var isWatchingStore = false
    private let scans = WaitQueue()

    private enum Signal {
        case work(SessionKey)
        case writing
        case holding
        case growth
        case request(Request)
    }

    /// What is asked of a connection from outside.
    enum Request {
        /// The server stops; clients come back by themselves.
        case stop
        /// Nobody may sync for a while (app services, 12.2).
        case pause
        /// What users may do has changed: clients bind again at once (wire protocol, 13.6).
        case rebind
        /// The user is no longer welcome: the client finds out when it refreshes its token, and logs
        /// the user out (app services, 7.4).
        case leave(reason: String)
    }

    private let signals: AsyncStream<Signal>
    private let signal: AsyncStream<Signal>.Continuation
    /// Filled by whoever makes history, without waiting for this connection.
    private let growth = Mutex<[ServerFileID: ServerVersion]>([:])

    init(
        _ stream: any MessageStream,
        of user: SyncUser,
        _ app: AppConfiguration,
        _ subProtocol: SubProtocol,
        in service: SyncService
    ) {
        self.stream = stream
        self.user = user
        self.firstApp = app
        self.service = service
        self.machine = ServerConnection(
            subProtocol: subProtocol,
            limits: service.limits,
            allowsRecovery: app.allowsClientRecovery
        )
        let id = service.random.objectID(at: service.clock).description
        var logger = service.logger
        logger[metadataKey: "connection"] = "\(id)"
        logger[metadataKey: "user"] = "\(user.id)"
        self.logger = logger
        self.id = id
        (self.signals, self.signal) = AsyncStream.makeStream()
    }

    /// Serves the client until it goes, is told to go, or is cancelled.
    func run() async {
        logger.debug("sync connection opened")
        perform(machine.opened(connectionID: id))
        await withDiscardingTaskGroup { group in
            group.addTask { await self.writeMessages() }
            group.addTask {
                await self.readMessages()
                self.signal.finish()
            }
            for await signal in signals {
                switch signal {
                case .work(let key): group.addTask { await self.doWork(of: key) }
                case .writing: group.addTask { await self.writeMessages() }
                case .holding: group.addTask { await self.watchStore() }
                case .growth: takeGrowth()
                case .request(let request): fulfil(request)
                }
            }
            finish()
            group.cancelAll()
        }
        // Only now: what was cancelled with the others would not reach the client.
        if let ending { await stream.close(ending.code, reason: ending.reason) }
        logger.debug("sync connection closed")
    }

    /// The app as it is configured right now.
    var app: AppConfiguration { service.apps[user.app]?.configuration ?? firstApp }

    /// What users may do right now.
    var rules: AccessRules { app.access }

    /// Lets the connection end in order, as soon as it gets to it.
    nonisolated func ask(to request: Request) {
        signal.yield(.request(request))
    }

    private func fulfil(_ request: Request) {
        switch request {
        case .stop: end(.normal, reason: "the server stops")
        case .leave(let reason): end(.unauthorized, reason: reason)
        case .rebind:
            machine.allowsRecovery = app.allowsClientRecovery
            for key in work.sessions.keys { fail(key, .rulesChanged) }
        case .pause:
            for key in work.sessions.keys { fail(key, .paused) }
            closing = closing ?? Closing(code: .normal, patience: .zero)
            startWriting()
        }
    }

    /// Ends everything, and tells the client why.
    func end(_ code: CloseCode, reason: String) {
        if ending == nil { ending = (code, reason) }
        isOver = true
        wakeEverybody()
        signal.finish()
    }

    private func finish() {
        isOver = true
        for key in work.sessions.keys { leave(key) }
        wakeEverybody()
    }

    private func wakeEverybody() {
        for queue in [reader, scans] { queue.wakeAll() }
    }
}

// MARK: Reading

extension SyncConnection {
    private func readMessages() async {
        do throws(TransportError) {
            while !isOver, let bytes = try await stream.receive() {
                hasHeard = true
                let waitingBefore = machine.waitingSizeInBytes
                take(machine.received(bytes))
                limitWaiting(since: waitingBefore)
                while !isReadable, !isOver {
                    if isHoldingUploads { startWatchingStore() }
                    await reader.wait()
                }
            }
        } catch {
            logger.debug("sync connection lost", metadata: ["reason": "\(error)"])
        }
    }

    /// What a message has come to; an error that it was answered with is in the log too.
    private func take(_ effects: [ServerConnection.Effect]) {
        for case .send(.jsonError(let report)) in effects {
            logFailure(
                report.session == nil ? "sync connection failed" : "sync session failed",
                report.code,
                report.body.message
            )
        }
        perform(effects)
    }

    /// What waits for the answer to a BIND or IDENT takes memory as uploads do that wait for the store:
    /// what does not fit is refused for now.
    private func limitWaiting(since before: Int) {
        let added = machine.waitingSizeInBytes - before
        let isFull = added > 0 && !service.uploads.admits(added)
        countBacklog()
        guard isFull else { return }
        for key in machine.waitingSessions { fail(key, .backlog) }
    }

    /// Nothing more is read while the client takes nothing in, while messages pile up behind a BIND or
    /// IDENT that the store has not answered yet, or while many uploads wait for the store.
    private var isReadable: Bool {
        outbox.count < ConnectionLimits.messagesInOutbox
            && machine.waitingSizeInBytes < ConnectionLimits.bytesBehindOpening
            && !isHoldingUploads
    }

    /// Whether the client's uploads fill their part of the memory, or are a part of what fills all of it.
    private var isHoldingUploads: Bool {
        work.backlogInBytes >= ConnectionLimits.uploadBacklogInBytes
            || work.backlogInBytes > 0 && service.uploads.isFull
    }

    /// A step of a session is done: others may go on.
    func noteFinished(_ step: SessionWork.Step) {
        work.finished(step)
        countBacklog()
        if case .integrate = step { service.uploads.noteFinished() }
        if isReadable { reader.wakeOne() }
    }

    private func startWatchingStore() {
        guard !isWatchingStore else { return }
        isWatchingStore = true
        signal.yield(.holding)
    }

    /// While nothing is read because of the uploads that wait: refuses them if the store is done with none,
    /// of any client. The client hears of it, and its PINGs are read.
    private func watchStore() async {
        defer { isWatchingStore = false }
        var finished = service.uploads.finished
        while isHoldingUploads, !isOver {
            guard (try? await service.timing.clock.sleep(for: service.timing.storePatience)) != nil
            else { return }
            if isHoldingUploads, service.uploads.finished == finished {
                for key in work.waitingUploaders { fail(key, .backlog) }
            }
            finished = service.uploads.finished
        }
    }
}

// MARK: Writing

extension SyncConnection {
    /// To be called when there is something to send, or to close.
    private func startWriting() {
        guard !isWriting else { return }
        isWriting = true
        signal.yield(.writing)
    }

    /// Sends what there is.
    private func writeMessages() async {
        while !isOver {
            guard let message = outbox.next() else {
                if let closing { return await close(closing) }
                isWriting = false
                return
            }
            do throws(TransportError) {
                try await stream.send(await Self.encode(message))
            } catch {
                logger.debug("sync connection lost", metadata: ["reason": "\(error)"])
                return end(.normal, reason: "")
            }
            if isReadable { reader.wakeOne() }
            if hasRoom { scans.wakeOne() }
        }
    }

    /// Off the connection's own executor: compressing a large body takes a while.
    @concurrent
    private static func encode(_ message: ServerMessage) async -> [UInt8] {
        message.encoded()
    }

    /// A client that has read an error of the connection closes by itself; one that does not is
    /// closed after a while.
    private func close(_ closing: Closing) async {
        if closing.patience > .zero {
            try? await service.timing.clock.sleep(for: closing.patience)
        }
        end(closing.code, reason: "")
    }
}

// MARK: Time

extension SyncConnection {
    /// Called at every tick of the service's clock.
    func lookAtTime() {
        guard !isOver else { return }
        // What the client says while it is not read cannot be heard.
        ticksOfSilence = hasHeard || isHoldingUploads ? 0 : ticksOfSilence + 1
        hasHeard = false
        if ticksOfSilence >= service.timing.ticksOfSilence {
            logger.info("sync client is silent")
            end(.normal, reason: "silent for too long")
        } else if service.clock.millisecondsSince1970() >= user.mustLeaveAt {
            // The client gets a new token and comes back, unnoticed by its application.
            end(.unauthorized, reason: "token expired")
        }
    }
}

// MARK: Effects

extension SyncConnection {
    /// Does what the machine asks for. It is not interrupted, so messages leave in this order.
    func perform(_ effects: [ServerConnection.Effect]) {
        for effect in effects {
            switch effect {
            case .send(let message):
                outbox.append(message)
                startWriting()
            case .open(let key, let path, let needsFileIdent):
                work.begin(key)
                enqueue(.open(path: path.bytes, needsFileIdent: needsFileIdent), for: key)
            case .validate(let key, let ident):
                enqueue(.validate(ident), for: key)
            case .integrate(let key, let upload):
                integrate(upload, for: key)
            case .scanDownload(let key, let cursor):
                enqueue(.scanDownload(from: cursor), for: key)
            case .ended(let key):
                leave(key)
            case .close(let code):
                let patience = code == .normal ? service.timing.softClose : .zero
                closing = Closing(code: code, patience: patience)
                startWriting()
            }
        }
    }

    private func enqueue(_ step: SessionWork.Step, for key: SessionKey) {
        if work.enqueue(step, for: key) { signal.yield(.work(key)) }
        countBacklog()
    }

    private func countBacklog() {
        let backlog = work.backlogInBytes + machine.waitingSizeInBytes
        service.uploads.change(by: backlog - countedBacklogInBytes)
        countedBacklogInBytes = backlog
    }

    private func integrate(_ upload: UploadCheck.Admitted, for key: SessionKey) {
        let step = SessionWork.Step.integrate([upload])
        if service.uploads.admits(step.uploadSizeInBytes) {
            enqueue(step, for: key)
        } else {
            fail(key, .backlog)
        }
    }

    private func logFailure(
        _ message: Logger.Message,
        _ code: Int,
        _ reason: String,
        _ level: Logger.Level = .notice
    ) {
        logger.log(
            level: self.level(ofFailure: level),
            message,
            metadata: ["code": "\(code)", "reason": "\(reason)"]
        )
    }

    /// The first failures of a connection count; a client must not fill the log with more.
    func level(ofFailure level: Logger.Level) -> Logger.Level {
        loggedFailures += 1
        return loggedFailures <= Self.failuresInLog ? level : .debug
    }

    func fail(_ key: SessionKey, _ failure: SessionFailure) {
        logFailure("sync session failed", failure.fault.code, failure.reason, failure.level)
        work.fail(key)
        countBacklog()
        perform(
            machine.fail(key, failure.fault, message: failure.message, backoff: failure.backoff)
        )
        if isReadable { reader.wakeOne() }
    }

    private func leave(_ key: SessionKey) {
        if let session = work[key], let file = session.file, let client = session.client {
            service.registry.detach(.init(file: file, ident: client.ident), from: self)
        }
        work.end(key)
        countBacklog()
    }
}

// MARK: Growth of history

extension SyncConnection {
    /// Called by whoever made a file's history grow; several such calls are taken in at once.
    nonisolated func noteGrowth(of file: ServerFileID, to version: ServerVersion) {
        let isFirst = growth.withLock { growth in
            let isFirst = growth.isEmpty
            growth[file] = max(growth[file] ?? .zero, version)
            return isFirst
        }
        if isFirst { signal.yield(.growth) }
    }

    private func takeGrowth() {
        let grown = growth.withLock { growth in
            defer { growth = [:] }
            return growth
        }
        for (key, session) in work.sessions where session.client != nil {
            guard let file = session.file, let version = grown[file] else { continue }
            perform(machine.historyGrew(key, to: version))
        }
    }
}

// MARK: Room for downloads

extension SyncConnection {
    /// Downloads are read from the store only as fast as the client takes them in.
    private var hasRoom: Bool {
        scansUnderWay < ConnectionLimits.scansAtOnce
            && outbox.sizeInBytes < ConnectionLimits.bytesInOutbox
    }

    func beginScan() async {
        while !hasRoom, !isOver { await scans.wait() }
        scansUnderWay += 1
    }

    func endScan() {
        scansUnderWay -= 1
        if hasRoom { scans.wakeOne() }
    }
}
