package import Changesets
import ClientReset
package import Coordination
package import LocalRealm
import Logging
package import SQLite
import Scopes
import Subscriptions
package import SyncProtocol
package import Versions

/// One open realm and its half of the sync session: local writes go up, the server's come down.
///
/// It never blocks: what takes time is done by its `RealmStore`, one piece after the other, and answered
/// when it is done. The connection asks for what to send and hands over what arrives; callers wait here
/// for a sync.
package actor RealmClient {
    package nonisolated let name: String
    nonisolated let environment: RealmEnvironment
    package nonisolated let mode: SyncMode
    private let binding: SessionBinding
    /// Time during which successive writes are gathered (local realm, 6).
    let captureDelay: Duration
    let time: SyncTime
    /// Milliseconds since 1970.
    let now: @Sendable () -> Int64
    var random: any RandomNumberGenerator & Sendable
    private(set) var logs: RealmLogs
    /// Receives events as they happen; must not block.
    let report: @Sendable (RealmClientEvent) -> Void

    nonisolated let store: RealmStore
    var session: ClientSession?
    /// Work on the file that the session waits for.
    var queue = RealmWorkQueue()
    /// A download was not integrated: those behind it are not either, until the session binds again.
    var isStalled = false
    let workAdded = Signal()
    let workParsable = Signal()
    /// Raised when the server is to learn what was integrated. That can wait for more of it, or for local writes: each
    /// message of its own costs both ends a transaction that waits for the disk (`Benchmarks/latency.py`).
    let acknowledgement = Signal()
    private static let acknowledgementDelay = Duration.milliseconds(200)
    var outgoing = Outgoing.none
    var phase = SessionPhase.offline(.notTried) {
        didSet { if phase != oldValue { reportPhase() } }
    }
    /// A copy for a client reset: it only downloads.
    private let isFreshCopy: Bool
    var resets = ResetWatch()
    /// The server demands a reset of the realm.
    package nonisolated let resetWanted = Signal()
    var lastConnected: Int64?
    var lastUploaded: Int64?
    var lastDownloaded: Int64?
    var waiters = SyncWaiters()
    private(set) var isClosed = false
    /// The server has served the session since it was bound or suspended.
    var isAccepted = false
    var capturing = CaptureState.notTried
    /// The newest version with local writes, as far as that is known; a later one if it is not.
    var lastWrite: ClientVersion

    /// The message whose turn to be sent is next.
    enum Outgoing {
        case none
        /// An upload waits until the file is durable.
        case preparing(turn: Int)
        case ready(ClientMessage)
    }
    var lastTurn = 0

    var transfers: TransferObservers
    var commits = CommitClock()
    /// Before the first DOWNLOAD it is unknown whether the server has changes for us.
    var hasDownloaded = false
    /// Everything that the server had at some moment is here.
    var hasCompletedDownload = false
    private let openedAt: Duration
    /// The share of the running bootstrap that has come; nil if there is none.
    var bootstrapEstimate: Double?
    /// As last reported to the session and the owner; nil unless the realm uses flexible sync.
    var reportedSets: SubscriptionSets?
    var subscriptionWaiters: [SubscriptionWaiter] = []

    let resumption = Signal()
    /// Uptime at which the backing-off session binds again; nil if it does not do so automatically.
    var resumeAt: Duration?
    /// The reason why the realm cannot stay open; ends `run()`.
    private(set) var failure: LocalRealmError?
    let ending = Signal()
    private var connection: Connection?
    /// The session that begins once the file is ready for it.
    private var joining: SessionIdent?

    /// A realm's means to wake its connection.
    struct Connection: Sendable {
        let session: SessionIdent
        /// Takes the session's requests for a turn to send.
        let turns: SendTurns
        /// Raised when there may be a message to send, or a connection is needed.
        let attention: Signal
        /// A request to connect now, regardless of the back-off.
        let retryRequest: RetryRequest
        /// Raised when the realm takes messages again.
        let room: Signal

        /// There may be a message to send.
        func wake() {
            turns.add(session)
            attention.raise()
        }
    }

    /// Opens the realm file, and creates it if there is none.
    ///
    /// - Parameter migratedPartition: that of the realm of which this is the fresh copy, after a change to
    ///   flexible sync.
    package static func open(
        _ configuration: LocalRealmConfiguration,
        name: String,
        captureDelay: Duration,
        isFreshCopy: Bool = false,
        migratedPartition: Text? = nil,
        time: SyncTime,
        now: @escaping @Sendable () -> Int64,
        environment: RealmEnvironment = .process,
        logs: RealmLogs,
        report: @escaping @Sendable (RealmClientEvent) -> Void = { _ in }
    ) async throws(LocalRealmError) -> RealmClient {
        var configuration = configuration
        configuration.vfs = environment.vfs
        let store = try await RealmStore.open(
            configuration,
            on: environment.executor("realm \(name)"),
            now: now,
            random: environment.random()
        )
        let file = store.standing.status
        return RealmClient(
            store: store,
            environment: environment,
            name: name,
            binding: SessionBinding(
                file.scope,
                isFreshCopy: isFreshCopy,
                migratedPartition: file.migration?.partition ?? migratedPartition
            ),
            captureDelay: captureDelay,
            isFreshCopy: isFreshCopy,
            time: time,
            now: now,
            logs: logs,
            report: report
        )
    }

    private init(
        store: RealmStore,
        environment: RealmEnvironment,
        name: String,
        binding: SessionBinding,
        captureDelay: Duration,
        isFreshCopy: Bool,
        time: SyncTime,
        now: @escaping @Sendable () -> Int64,
        logs: RealmLogs,
        report: @escaping @Sendable (RealmClientEvent) -> Void
    ) {
        self.store = store
        self.transfers = TransferObservers(store.standing.status)
        self.openedAt = time.uptime()
        self.lastWrite = store.standing.status.localVersion
        self.environment = environment
        self.random = environment.random()
        self.name = name
        self.mode = binding.mode
        self.binding = binding
        self.reportedSets = store.standing.status.subscriptions
        self.captureDelay = captureDelay
        self.isFreshCopy = isFreshCopy
        self.time = time
        self.now = now
        self.logs = logs
        self.report = report
    }

    /// Closes the file; nothing may be asked of the client after that.
    package func close() async {
        isClosed = true
        finishWaiters(.offline(reason: "the realm is closed"))
        transfers.finish()
        await store.close()
    }

    /// Publishes the phase and the download progress.
    package func reportPhase() {
        report(.phase(phase, standing))
    }

    private var standing: DownloadStatus {
        DownloadStatus(
            isFirstFinished: status.isFirstDownloadFinished,
            hasCompleted: hasCompletedDownload,
            age: time.uptime() - openedAt
        )
    }

    /// The newest version of the file, once it survives a power cut; nil while a full disk or
    /// another program's lock prevents that.
    package func durableVersion() async -> ClientVersion? {
        await store.durableVersion()
    }

    /// Raised after the file's version has changed; one task may wait for it.
    package nonisolated var hasNewVersion: Signal { store.hasNewVersion }

    /// Of the session.
    var logger: Logger { logs.session }

    /// The status of the file after the last completed work on it.
    var status: LocalRealmStatus { store.standing.status }

    nonisolated var path: String { store.path }

    /// Progress of the work on the file, if any is running.
    package nonisolated var workload: WorkMeter.Reading { store.workload }

    /// The client's status; available at once, even while the file is busy.
    package func snapshot() -> RealmClientStatus {
        RealmClientStatus(
            phase: phase,
            file: status,
            acknowledgedVersion: store.standing.acknowledged.rawValue,
            standing: standing,
            lastConnected: lastConnected,
            lastUploaded: lastUploaded,
            lastDownloaded: lastDownloaded,
            bootstrapEstimate: bootstrapEstimate
        )
    }
}

// MARK: Life

extension RealmClient {
    /// Becomes part of a connection under a session ident that no other realm of it has had.
    func join(_ connection: Connection) async {
        let ident = connection.session
        self.connection = connection
        joining = ident
        // Work of an earlier session must have ended: the new one starts from the file's state.
        queue.removeAll()
        let file = await store.settled()
        guard joining == ident else { return }
        joining = nil
        isStalled = false
        logs[metadataKey: "session"] = "\(ident.rawValue)"
        isAccepted = false
        phase = .offline(.notTried)
        session = ClientSession(
            ident: ident,
            path: binding.path,
            fileIdent: file.status.fileIdent,
            progress: file.status.progress,
            localVersion: file.status.localVersion,
            uploadActivation: isFreshCopy
                ? .never : file.isJustReset ? .immediate : .afterDownload,
            subscriptions: file.status.subscriptions.map { SessionSubscriptions($0) }
        )
        bootstrapEstimate = nil
        expectProof()
        requestAwaitedSync()
    }

    /// Ends the session; returns the UNBIND to send, if one is due.
    func leave() -> ClientMessage? {
        joining = nil
        var farewell: ClientMessage?
        if case .ready(let message) = outgoing, case .unbind = message { farewell = message }
        session?.deactivate()
        if case .send(let message)? = session?.nextStep() { farewell = message }
        if let farewell { logger.sent(farewell) }
        session = nil
        connection = nil
        logs[metadataKey: "session"] = nil
        outgoing = .none
        resumeAt = nil
        phase = .detached
        queue.removeAll()
        // They keep waiting until after the reset.
        if !resets.isSessionDetached, !resets.isRequested {
            finishWaiters(.offline(reason: "the realm does not sync now"))
        }
        return farewell
    }

    /// Captures local writes until the task is cancelled.
    ///
    /// - Throws: the error of the file, if it cannot stay open.
    func run() async throws(LocalRealmError) {
        let captures = try environment.captures(path, store.ownWrites).get()
        let checkpoints = PeriodicCheckpoints(
            path: path,
            environment: environment,
            label: "checkpoints of \(name)",
            logger: logs.storage,
            activity: store.hasWorked
        )
        let duties = Duties(
            [
                Duty(on: workParsable) { [self] _ in
                    await parseAhead()
                    return .onSignal
                },
                Duty(on: resumption, isConcurrent: true) { [self] _ in
                    await resumeWhenDue()
                    return .onSignal
                },
                Duty(on: acknowledgement, after: Self.acknowledgementDelay) { [self] _ in
                    await reportLocalVersion()
                    return .onSignal
                },
                checkpoints.duty,
                PeriodicRest(store: store).duty,
            ],
            time
        )
        await withDiscardingTaskGroup { group in
            group.addTask { await self.captureWrites(captures) }
            group.addTask { await self.doWork() }
            group.addTask { await duties.carryOut() }
            await ending.wait()
            group.cancelAll()
        }
        if let failure { throw failure }
    }

    /// The realm cannot stay open: end, so that it is opened again once the error may have cleared.
    func fail(_ error: LocalRealmError) {
        failure = failure ?? error
        report(.failed(error))
        finishWaiters(.refused(SessionIssue(error)))
        ending.raise()
    }

    /// The connection has something to do for this realm.
    func wakeConnection() {
        connection?.wake()
    }

    /// There is room in the queue again.
    func takeMessagesAgain() {
        connection?.room.raise()
    }

    func wantConnectionNow() {
        connection?.retryRequest.make()
        connection?.wake()
    }
}
