import Changesets
import Coordination
import Logging
import ServerMetrics
import ServerStore
import Surroundings
import SyncProtocol
import Transport
import Versions

/// Runs one connection: bytes in, store calls, bytes out. `ServerConnection` decides their meaning.
///
/// The work of one session is in order, that of different sessions concurrent. Messages that the
/// client does not receive first stop reads from the store, and then reads from the client.
actor SyncConnection {
    typealias SessionKey = ServerConnection.SessionKey

    let service: SyncService
    let user: ConnectedUser
    nonisolated let subProtocol: SubProtocol
    /// The app at the time of the connection; `app` has its present settings.
    private let firstApp: SyncApp
    private let stream: any MessageStream
    /// Also in the first message to the client, to relate both logs.
    private let id: String

    var machine: ServerConnection
    var work = SessionWork()
    /// This connection's part of the budget for uploads that wait for the store.
    private var countedBacklogInBytes = 0
    private var outbox = Outbox()
    private var scansUnderWay = 0
    private var loggedFailures = 0
    private static let failuresInLog = 20
    private var hasHeard = true
    private var ticksOfSilence = 0
    /// Set when the state machine has ended; with the longest wait for the client to close first.
    private var closing: (code: CloseCode, timeout: Duration)?

    /// The close code and reason, if the server ends the connection.
    private var ending: (code: CloseCode, reason: String)?
    private(set) var hasEnded = false

    /// Whether a task writes messages. Without a message to send there is none: thousands of idle
    /// tasks would cost more memory than the connections. At first it is true: nothing may overtake
    /// the first message.
    private var isWriting = true
    private let reader = WaitQueue()
    private var isWatchingStore = false
    private let scans = WaitQueue()

    private enum Inbound {
        case reading
        case work(SessionKey)
        case writing
        case holding
        case growth
        case rights
        case request(Request)
    }

    /// A request to a connection from outside.
    enum Request {
        /// The server stops; clients reconnect automatically.
        case stop
        /// A client uses another connection now (wire protocol, 12.5).
        case yield
        case obey(ConnectionOrder)
    }

    private let signals = Mailbox<Inbound>()
    private let growth = PendingGrowth()

    init(
        _ stream: any MessageStream,
        of user: ConnectedUser,
        _ app: SyncApp,
        _ subProtocol: SubProtocol,
        in service: SyncService
    ) {
        self.stream = stream
        self.user = user
        self.firstApp = app
        self.subProtocol = subProtocol
        self.service = service
        self.machine = ServerConnection(
            subProtocol: subProtocol,
            appMode: app.flexible == nil ? .partitionBased : .flexible,
            limits: service.limits,
            allowsRecovery: app.allowsClientRecovery,
            switchFault: app.switchFault
        )
        self.id = service.random.objectID(at: service.clock).description
    }

    /// Made when it is needed: an idle connection would keep its fields for nothing.
    var logger: Logger {
        var logger = service.logger
        logger[metadataKey: "connection"] = "\(id)"
        logger[metadataKey: "user"] = "\(user.id)"
        return logger
    }

    /// Serves the client until one side ends the connection, or the task is cancelled.
    ///
    /// While the client is silent, this is the only task of the connection, and its frames are memory: all
    /// that happens is done by functions and tasks beside it. Depth matters as well, since a task keeps what
    /// it once needed.
    func run() async {
        await withDiscardingTaskGroup { group in
            group.addTask { await self.begin() }
            while await takeSignals(&group) {}
            finish()
            group.cancelAll()
        }
        await closeStream()
    }

    /// After the cancellation of the tasks, or the close would not reach the client.
    @inline(never)
    private func closeStream() async {
        if let ending { await stream.close(ending.code, reason: ending.reason) }
        logger.debug("sync connection closed")
    }

    /// The first messages of both sides, that of the server before any answer.
    private func begin() async {
        logger.debug("sync connection opened")
        if await !service.isLive(user) { fulfil(.obey(.leave(reason: "session revoked"))) }
        perform(machine.opened(connectionID: id))
        await writeMessages()
        await readMessages()
    }

    /// Waits for signals; false after the last one.
    @inline(never)
    private func takeSignals(_ group: inout DiscardingTaskGroup) async -> Bool {
        let signals = await signals.takeAll()
        for signal in signals { act(on: signal, &group) }
        return !signals.isEmpty
    }

    @inline(never)
    private func act(on signal: Inbound, _ group: inout DiscardingTaskGroup) {
        switch signal {
        case .reading: group.addTask { await self.readMessages() }
        case .work(let key): group.addTask { await self.doWork(of: key) }
        case .writing: group.addTask { await self.writeMessages() }
        case .holding: group.addTask { await self.watchStore() }
        case .growth: takeGrowth()
        case .rights: group.addTask { await ConnectionViews.compareRights(of: self) }
        case .request(let request): fulfil(request)
        }
    }

    /// The app's present settings.
    var app: SyncApp { service.apps.syncApp(user.app) ?? firstApp }

    /// Queues a request for the connection.
    nonisolated func ask(to request: Request) {
        signals.put(.request(request))
    }

    /// Ends the connection at once, without a word to the client.
    nonisolated func cancel() { signals.clear() }

    /// Compares the rights of the sessions' users with the present ones, soon.
    nonisolated func reviewRights() { signals.put(.rights) }

    private func fulfil(_ request: Request) {
        switch request {
        case .stop: end(.normal, reason: "the server stops")
        case .yield: end(.normal, reason: "another connection serves this file")
        case .obey(.leave(let reason)): end(.unauthorized, reason: reason)
        case .obey(.rebind):
            machine.allowsRecovery = app.allowsClientRecovery
            // Another connection tells the client that the app has the other mode now.
            guard isInModeOfApp else { return endSessions(.rulesChanged) }
            guard machine.subProtocol.mode == .partitionBased else {
                reviewRights()
                return
            }
            for key in work.sessions.keys { fail(key, .rulesChanged) }
        case .obey(.pause): endSessions(.paused)
        }
    }

    private var isInModeOfApp: Bool {
        (machine.subProtocol.mode == .flexible) == (app.flexible != nil)
    }

    /// Ends all sessions with an error, and then the connection.
    private func endSessions(_ failure: SessionFailure) {
        for key in work.sessions.keys { fail(key, failure) }
        closing = closing ?? (.normal, .zero)
        startWriting()
    }

    /// Ends the connection with a code and reason for the client.
    func end(_ code: CloseCode, reason: String) {
        if ending == nil { ending = (code, reason) }
        hasEnded = true
        wakeWaiters()
        signals.finish()
    }

    @inline(never)
    private func finish() {
        hasEnded = true
        for key in work.sessions.keys { leave(key) }
        wakeWaiters()
    }

    private func wakeWaiters() {
        for queue in [reader, scans] { queue.wakeAll() }
    }
}

// MARK: Reading

extension SyncConnection {
    /// Reads what has arrived; the stream gives a signal when there is more.
    private func readMessages() async {
        do throws(TransportError) {
            while !hasEnded {
                let isReceivable = stream.isReceivable { [signals] in signals.put(.reading) }
                guard isReceivable else { return }
                guard let bytes = try await stream.receive() else { break }
                hasHeard = true
                let waitingBefore = machine.waitingSizeInBytes
                take(machine.received(bytes))
                limitWaiting(since: waitingBefore)
                while !isReadable, !hasEnded {
                    if isHoldingUploads { startWatchingStore() }
                    await reader.wait()
                }
            }
        } catch {
            logger.debug("sync connection lost", metadata: ["reason": "\(error)"])
        }
        signals.finish()
    }

    /// Carries out the effects of a message; also logs an error sent in response.
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

    /// Messages that wait for the answer to a BIND or IDENT use memory like uploads that wait for
    /// the store. Beyond the limit they get a transient error.
    private func limitWaiting(since before: Int) {
        let added = machine.waitingSizeInBytes - before
        let isFull = added > 0 && !service.uploads.admits(added)
        countBacklog()
        guard isFull else { return }
        for key in machine.waitingSessions { fail(key, .backlog) }
    }

    /// The server stops reading while the client receives nothing, while messages queue behind an
    /// unanswered BIND or IDENT, or while many uploads wait for the store.
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

    /// A step of a session is finished: waiting tasks may continue.
    func noteFinished(_ step: SessionStep) {
        work.finished(step)
        countBacklog()
        if case .integrate = step { service.uploads.noteFinished() }
        if isReadable { reader.wakeOne() }
    }

    private func startWatchingStore() {
        guard !isWatchingStore else { return }
        isWatchingStore = true
        signals.put(.holding)
    }

    /// While nothing is read because of the uploads that wait: refuses them if the store is done with none,
    /// of any client. The client hears of it, and its PINGs are read.
    private func watchStore() async {
        defer { isWatchingStore = false }
        var finished = service.uploads.finished
        while isHoldingUploads, !hasEnded {
            guard (try? await service.timing.clock.sleep(for: service.timing.storeTimeout)) != nil
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
    /// Must be called when there is a message to send, or to close.
    private func startWriting() {
        guard !isWriting else { return }
        isWriting = true
        signals.put(.writing)
    }

    /// Sends all messages.
    private func writeMessages() async {
        while !hasEnded {
            guard let message = outbox.next() else {
                if let closing { return await close(closing.code, after: closing.timeout) }
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

    /// Not on the connection's own executor: compressing a large body takes time.
    @concurrent
    private static func encode(_ message: ServerMessage) async -> [UInt8] {
        message.encoded()
    }

    /// A client that has read a connection error closes the connection; after a timeout the server
    /// does.
    private func close(_ code: CloseCode, after timeout: Duration) async {
        if timeout > .zero { try? await service.timing.clock.sleep(for: timeout) }
        end(code, reason: "")
    }
}

// MARK: Time

extension SyncConnection {
    /// Called at every tick of the service's clock.
    func checkDeadlines() {
        guard !hasEnded else { return }
        // While the server does not read, it cannot hear the client.
        ticksOfSilence = hasHeard || isHoldingUploads ? 0 : ticksOfSilence + 1
        hasHeard = false
        if ticksOfSilence >= service.timing.ticksOfSilence {
            logger.info("sync client is silent")
            end(.normal, reason: "silent for too long")
        } else if service.clock.millisecondsSince1970() >= user.mustLeaveAt {
            // The client gets a new token and reconnects, unnoticed by its application.
            end(.unauthorized, reason: "token expired")
        }
    }
}

// MARK: Effects

extension SyncConnection {
    /// Carries out the machine's effects. It has no suspension point, so messages leave in this
    /// order.
    func perform(_ effects: [ServerConnection.Effect]) {
        for effect in effects {
            switch effect {
            case .send(let message):
                service.meter.note(message, of: user.app)
                outbox.append(message)
                startWriting()
            case .work(let key, let step):
                if case .open = step { work.begin(key) }
                enqueue(step, for: key)
            case .ended(let key):
                leave(key)
            case .close(let code):
                let timeout = code == .normal ? service.timing.softClose : .zero
                closing = (code, timeout)
                startWriting()
            }
        }
    }

    /// Uploads beyond the room for those that wait get a transient error.
    private func enqueue(_ step: SessionStep, for key: SessionKey) {
        let size = step.uploadSizeInBytes
        guard size == 0 || service.uploads.admits(size) else { return fail(key, .backlog) }
        if work.enqueue(step, for: key) { signals.put(.work(key)) }
        countBacklog()
    }

    private func countBacklog() {
        let backlog = work.backlogInBytes + machine.waitingSizeInBytes
        service.uploads.change(by: backlog - countedBacklogInBytes)
        countedBacklogInBytes = backlog
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

    /// Only the first failures of a connection have their level; a client must not fill the log.
    func level(ofFailure level: Logger.Level) -> Logger.Level {
        loggedFailures += 1
        return loggedFailures <= Self.failuresInLog ? level : .debug
    }

    func fail(_ key: SessionKey, _ failure: SessionFailure) {
        logFailure("sync session failed", failure.fault.code, failure.reason, failure.level)
        if let limit = failure.limit { service.meter.note(.reached(limit)) }
        work.fail(key)
        countBacklog()
        perform(
            machine.fail(key, failure.fault, message: failure.message, backoff: failure.backoff)
        )
        if isReadable { reader.wakeOne() }
    }

    private func leave(_ key: SessionKey) {
        if let session = work[key], let file = session.file, let client = session.client {
            service.registry.detach(ViewSession(of: client, in: file), from: self)
        }
        work.end(key)
        countBacklog()
    }
}

// MARK: Growth of history

extension SyncConnection {
    /// Versions that the slowest of its sessions has not been sent yet.
    var lagInVersions: UInt64 { machine.lagInVersions }

    /// For how long the server has had a version that one of its sessions has not been sent yet.
    var lagInMilliseconds: Int64 {
        work.oldestWaiting.map { max(0, service.clock.millisecondsSince1970() - $0) } ?? 0
    }

    /// Called after a file's history grew; several calls are handled together.
    ///
    /// - Parameter ident: the one session to tell; nil for all of the file.
    nonisolated func noteGrowth(
        of file: ServerFileID,
        only ident: FileIdent? = nil,
        to version: ServerVersion
    ) {
        if growth.note(file, only: ident, version) { signals.put(.growth) }
    }

    private func takeGrowth() {
        let grown = growth.take()
        let now = service.clock.millisecondsSince1970()
        for (key, session) in work.sessions {
            guard let file = session.file, let client = session.client,
                let version = grown.newest(of: file, for: client.ident)
            else { continue }
            work.grew(key, to: version, at: now)
            if session.awaitsClass { reviewRights() }
            perform(machine.historyGrew(key, to: version))
        }
    }
}

// MARK: Room for downloads

extension SyncConnection {
    /// Downloads are read from the store only as fast as the client receives them.
    private var hasRoom: Bool {
        scansUnderWay < ConnectionLimits.scansAtOnce
            && outbox.sizeInBytes < ConnectionLimits.bytesInOutbox
    }

    func beginScan() async {
        while !hasRoom, !hasEnded { await scans.wait() }
        scansUnderWay += 1
    }

    /// Waits until the client has received enough for the next part of a bootstrap. False if it receives
    /// nothing for that time.
    func waitForRoom(within timeout: Duration) async -> Bool {
        var (waited, pause) = (Duration.zero, Duration.milliseconds(5))
        var size = outbox.sizeInBytes
        while outbox.sizeInBytes >= ConnectionLimits.bytesOfBootstrapInOutbox, !hasEnded {
            guard waited < timeout, (try? await service.timing.clock.sleep(for: pause)) != nil
            else { return false }
            waited = outbox.sizeInBytes < size ? .zero : waited + pause
            size = outbox.sizeInBytes
            pause = min(pause * 2, .milliseconds(200))
        }
        return true
    }

    func endScan() {
        scansUnderWay -= 1
        if hasRoom { scans.wakeOne() }
    }
}
