import Changesets
import ClientReset
package import Coordination
package import LocalRealm
package import Logging
import SQLite
import SyncProtocol
import Synchronization
package import Versions

/// One open realm and its half of the sync session: local writes go up, the server's come down.
///
/// Owns the realm file, and blocks on it, on a thread of its own. The connection asks it what to send
/// and hands it what arrives; whoever waits for a sync waits here.
package actor RealmClient {
    package nonisolated let name: String
    private nonisolated let executor: DatabaseExecutor
    nonisolated let surroundings: RealmSurroundings
    let path: String
    private let partition: Text
    /// How long writes that follow each other closely are gathered (local realm, 6).
    let captureDelay: Duration
    let time: SyncTime
    /// Milliseconds since 1970.
    let now: @Sendable () -> Int64
    var random: any RandomNumberGenerator & Sendable
    private(set) var logger: Logger
    /// Hears what happens, as it happens; must not wait.
    let report: @Sendable (RealmNews) -> Void

    let realm: RealmFile
    var session: ClientSession?
    var phase = SessionPhase.offline(.notTried) {
        didSet { if phase != oldValue { reportPhase() } }
    }
    /// A copy for a client reset: it only downloads.
    private let isFreshCopy: Bool
    var resets = ResetWatch()
    /// The server wants a reset of the realm.
    package nonisolated let resetWanted = Signal()
    var lastConnected: Int64?
    var lastUploaded: Int64?
    var lastDownloaded: Int64?
    var waiters: [SyncWaiter] = []
    var nextWaiterID = 1
    private(set) var isClosed = false
    /// The server has served the session since it was bound or suspended.
    var isAccepted = false
    /// The last attempt to capture met another program's long transaction.
    var isBlocked = false
    /// The last attempt to capture succeeded.
    var isCapturing = false

    /// An upload that waits until the file is durable, and who asks for its turn.
    var heldUpload: ClientMessage?
    let uploadHeld = Signal()

    var observers: [Int: ProgressObserver] = [:]
    nonisolated let observersThatLeft = Mutex<Set<Int>>([])
    var nextObserverID = 1
    var transfers: TransferEstimator
    var lastTransfer: TransferReport?
    var commits = CommitClock()
    /// What the server has for us is not known before its first DOWNLOAD.
    var hasDownloaded = false
    /// Everything that the server had at some moment is here.
    var hasCompletedDownload = false
    private let openedAt: Duration
    /// The rows of refused writes as they were before the server's undoing of them came.
    var rowsBeforeUndoing: [ServerVersion: [String?]] = [:]

    let resumption = Signal()
    /// When the suspended session binds again, as the uptime goes; nil if it does not by itself.
    var resumeAt: Duration?
    /// Why the realm cannot stay open; ends `run()`.
    private var failure: LocalRealmError?
    let ending = Signal()
    private var connection: Connection?

    /// How a realm tells its connection that there is something to do.
    struct Connection: Sendable {
        /// There may be something to send, or a connection is wanted.
        let attention: Signal
        /// A connection is wanted now, whatever the back-off says.
        let wish: RetryWish
    }

    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    /// Opens the realm file, and creates it if there is none.
    package static func open(
        _ configuration: LocalRealmConfiguration,
        name: String,
        partition: String,
        captureDelay: Duration,
        isFreshCopy: Bool = false,
        time: SyncTime,
        now: @escaping @Sendable () -> Int64,
        surroundings: RealmSurroundings = .process,
        logger: Logger,
        report: @escaping @Sendable (RealmNews) -> Void = { _ in }
    ) async throws(LocalRealmError) -> RealmClient {
        let executor = surroundings.executor("realm \(name)")
        var configuration = configuration
        configuration.vfs = surroundings.vfs
        let result = await executor.perform {
            [configuration] () -> Result<RealmClient, LocalRealmError> in
            do throws(LocalRealmError) {
                var random = surroundings.random()
                let realm = try RealmFile.open(configuration, clock: now, random: &random)
                return .success(
                    RealmClient(
                        realm: realm,
                        executor: executor,
                        surroundings: surroundings,
                        name: name,
                        path: configuration.path,
                        partition: partition,
                        captureDelay: captureDelay,
                        isFreshCopy: isFreshCopy,
                        time: time,
                        now: now,
                        random: random,
                        logger: logger,
                        report: report
                    )
                )
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    private init(
        realm: sending RealmFile,
        executor: DatabaseExecutor,
        surroundings: RealmSurroundings,
        name: String,
        path: String,
        partition: String,
        captureDelay: Duration,
        isFreshCopy: Bool,
        time: SyncTime,
        now: @escaping @Sendable () -> Int64,
        random: any RandomNumberGenerator & Sendable,
        logger: Logger,
        report: @escaping @Sendable (RealmNews) -> Void
    ) {
        self.transfers = TransferEstimator(realm.status)
        self.openedAt = time.uptime()
        self.realm = realm
        self.executor = executor
        self.surroundings = surroundings
        self.name = name
        self.path = path
        self.partition = Text(partition)
        self.captureDelay = captureDelay
        self.isFreshCopy = isFreshCopy
        self.time = time
        self.now = now
        self.random = random
        self.logger = logger
        self.report = report
    }

    /// Closes the file; nothing may be asked of the client after that.
    package func close() {
        isClosed = true
        finishWaiters(.offline(reason: "the realm is closed"))
        finishObservers()
        realm.close()
    }

    /// Tells the phase, and how far the realm is downloaded by now.
    package func reportPhase() {
        report(.phase(phase, standing))
    }

    private var standing: DownloadStanding {
        DownloadStanding(
            isFirstFinished: realm.status.isFirstDownloadFinished,
            hasCompleted: hasCompletedDownload,
            age: time.uptime() - openedAt
        )
    }

    /// The newest version of the file, after nothing can take it back, not even a power cut; nil while a
    /// disk or another program is in the way.
    package func durableVersion() -> ClientVersion? {
        do throws(LocalRealmError) {
            try realm.makeDurable()
            return realm.status.localVersion
        } catch {
            return nil
        }
    }

    package func snapshot() -> RealmSnapshot {
        RealmSnapshot(
            phase: phase,
            file: realm.status,
            acknowledgedVersion: (try? realm.acknowledgedVersion().rawValue) ?? 0,
            standing: standing,
            lastConnected: lastConnected,
            lastUploaded: lastUploaded,
            lastDownloaded: lastDownloaded
        )
    }
}

// MARK: Life

extension RealmClient {
    /// Becomes part of a connection under a session ident that no other realm of it has had.
    func join(_ ident: SessionIdent, _ connection: Connection) {
        self.connection = connection
        logger[metadataKey: "session"] = "\(ident.rawValue)"
        isAccepted = false
        phase = .offline(.notTried)
        let status = realm.status
        session = ClientSession(
            ident: ident,
            path: partition,
            fileIdent: status.fileIdent,
            progress: status.progress,
            localVersion: status.localVersion,
            uploadActivation: isFreshCopy ? .never : isJustReset ? .immediate : .afterDownload
        )
        expectProof()
        pursueSync()
    }

    /// Ends the session; the message, if there is one, says so to the server.
    func leave() -> ClientMessage? {
        session?.deactivate()
        let farewell = session?.nextStep()
        session = nil
        connection = nil
        logger[metadataKey: "session"] = nil
        heldUpload = nil
        resumeAt = nil
        phase = .detached
        // After a reset they go on waiting.
        if !resets.isUnderway { finishWaiters(.offline(reason: "the realm does not sync now")) }
        guard case .send(let message) = farewell else { return nil }
        return message
    }

    /// Captures local writes until the task is cancelled.
    ///
    /// - Throws: what is wrong with the file, if it cannot stay open as it is.
    func run() async throws(LocalRealmError) {
        let captures = try surroundings.captures(path).get()
        await withTaskGroup { group in
            group.addTask { await self.captureWrites(captures) }
            group.addTask { await self.resumeWhenDue() }
            group.addTask { await self.checkpoint() }
            group.addTask { await self.pressHeldUpload() }
            group.addTask { await self.ending.wait() }
            await group.next()
            group.cancelAll()
        }
        if let failure { throw failure }
    }

    /// The realm cannot stay open as it is: end, so that it is opened anew when time has helped.
    func fail(_ error: LocalRealmError) {
        failure = failure ?? error
        report(.failed(error))
        finishWaiters(.refused(SessionIssue(error)))
        ending.raise()
    }

    /// The connection has something to do for this realm.
    func callAttention() {
        connection?.attention.raise()
    }

    func wantConnectionNow() {
        connection?.wish.make()
        connection?.attention.raise()
    }
}
