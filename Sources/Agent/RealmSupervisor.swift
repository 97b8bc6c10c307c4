import AppServices
import ClientReset
import Config
import Control
import Coordination
import LocalRealm
import Logging
import Platform
import Plugins
import SQLite
import SyncClient
import SyncProtocol

/// Brings one configured realm up, and up again: log-in, file, session (interfaces, 5).
///
/// What time can heal is tried again with growing pauses; `attempt()` cuts a pause short.
actor RealmSupervisor {
    enum Stage {
        case starting
        /// The user is not logged in, or its file is not open; the outcome of the last attempt.
        case failed(Failure)
        case running(RealmClient)
        /// Never to run again.
        case stopped
    }

    /// Why there is no session yet.
    struct Failure: Error, Sendable, Equatable {
        let state: RealmState
        let cause: String
        let detail: String
        let outcome: SyncReport.Outcome
    }

    nonisolated let configuration: RealmConfiguration
    let user: UserSession
    let connection: UserConnection
    let opener: RealmOpener
    let surroundings: ResetSurroundings
    let register: any RealmRegister
    let time: SyncTime
    /// Milliseconds since 1970.
    let now: @Sendable () -> Int64
    let events: AgentEvents
    /// Nil where nobody handles anything.
    let handlers: HandlerRunner?
    let handlerNews = HandlerQueue()
    let logger: Logger
    private var pauses: AttemptPauses
    private(set) var stage = Stage.starting
    private(set) var userID: String?
    private var lastReported: Failure?
    /// When the realm is brought up next, as the uptime goes.
    private var nextAttempt: Duration?
    /// Waits for the end of an attempt; true says that it has come, false that the time is over.
    var attemptWaits: [Promise<Bool>] = []
    let attemptNow = Signal()

    var permission = SyncPermission.run
    var suspension: Suspension?
    /// How many asked for a sync now, whatever the permission says.
    var urgentSyncs = 0
    /// The agent is about to end: nothing joins a connection any more.
    private(set) var isFinishing = false
    let permissionChanged = Signal()
    let onceWanted = Signal()
    /// The schedule has to be looked at: what it allowed once has ended, or it has changed itself.
    nonisolated let scheduleAttention = Signal()

    var resets = ResetState()
    /// How many need the file closed; it is not opened while there are any.
    private var closers = 0
    private let closing = Signal()
    /// Kept when the file is closed; nil while it is.
    private var fileClosing: Promise<Void>?

    init(
        _ configuration: RealmConfiguration,
        user: UserSession,
        connection: UserConnection,
        opener: RealmOpener,
        resets: ResetSurroundings,
        register: any RealmRegister,
        pauses: AttemptPauses,
        time: SyncTime,
        now: @escaping @Sendable () -> Int64,
        events: AgentEvents = AgentEvents(),
        handlers: HandlerRunner? = nil,
        logger: Logger
    ) {
        self.configuration = configuration
        self.user = user
        self.connection = connection
        self.opener = opener
        self.surroundings = resets
        self.register = register
        self.pauses = pauses
        self.time = time
        self.now = now
        self.events = events
        self.handlers = handlers
        var logger = logger
        logger[metadataKey: "realm"] = "\(configuration.name)"
        self.logger = logger
    }

    /// Runs until the task is cancelled.
    func run() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.consultHandlers() }
            await keepUp()
            group.cancelAll()
        }
    }

    private func keepUp() async {
        await recallSuspension()
        await carryOutFileActionOfEarlierRun()
        while !Task.isCancelled {
            do throws(Failure) {
                try await run(bringUp())
            } catch {
                // What fails because we stop is no news.
                if Task.isCancelled { break }
                report(error)
                let pause = pauses.next()
                nextAttempt = time.uptime() + pause
                settle(.failed(error))
                _ = await attemptNow.wait(atMost: pause, time)
                nextAttempt = nil
            }
            if closers == 0, !Task.isCancelled, case .running = stage { settle(.starting) }
        }
        settle(.stopped)
    }

    private func account() async throws(Failure) -> Account {
        do throws(UserSession.Failure) {
            if let cached = try await user.cachedAccount() { return cached }
            // Without an account there is no file either: nothing to do but to wait.
            while !isAllowed, !Task.isCancelled { await waitForPermission() }
            // An attempt that fails like the one before is no event.
            if lastReported == nil {
                let fact = StateFact(state: .waitingForUser)
                events.publish(AgentEvent(realm: configuration.name, .state(fact)))
            }
            return try await user.logIn()
        } catch {
            throw Failure(error)
        }
    }

    private func bringUp() async throws(Failure) -> RealmClient {
        var account = try await account()
        userID = account.userID
        // A realm that was deleted and suspended is not to come back by itself.
        while closers > 0 || (!isAllowed && !opener.hasFile(configuration)) {
            if Task.isCancelled { throw .stopping }
            await waitForPermission()
            // The user may have been logged out meanwhile, or be another one.
            account = try await self.account()
            userID = account.userID
        }
        fileClosing = fileClosing ?? Promise()
        do throws(RealmOpener.Failure) {
            return try await opener.open(
                configuration,
                userID: account.userID,
                report: { [events, handlerNews, configuration] news in
                    events.publish(news, realm: configuration.name, configuration.opening)
                    HandlerNews(news).map(handlerNews.add)
                }
            )
        } catch {
            fileIsClosed()
            throw Failure(error)
        }
    }

    private func fileIsClosed() {
        fileClosing?.keep()
        fileClosing = nil
    }

    /// Runs the work while the file is closed and stays so; the realm is brought up anew after it.
    func whileClosed<Result: Sendable>(
        _ work: @escaping @Sendable () async -> Result
    ) async -> Result {
        closers += 1
        closing.raise()
        await fileClosing?.value
        let result = await work()
        closers -= 1
        permissionChanged.raise()
        return result
    }

    func stopFollowing() {
        isFinishing = true
    }

    /// Runs the realm until the task is cancelled; the file is closed in any case.
    private func run(_ client: RealmClient) async throws(Failure) {
        // What was asked before the file was open has been answered by opening it.
        if closers == 0 { closing.lower() }
        settle(.running(client))
        // Shown where the log says that it was not.
        logger.info("realm is open")
        lastReported = nil
        if let cause = await causeOfRestoredFile(client) {
            resets.standing = cause
            await client.wantReset(cause)
        } else {
            await remember(client)
        }
        let start = time.uptime()
        if case .once = permission { onceWanted.raise() }
        let result = await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.followPermission(client) }
            group.addTask { await self.syncOnceWhenWanted(client) }
            group.addTask { await self.followResets(client) }
            group.addTask { await self.tellLateness(client) }
            group.addTask { await self.keepRemembering(client) }
            defer { group.cancelAll() }
            return await runUntilClosing(client)
        }
        await connection.leave(client)
        await remember(client)
        await client.close()
        await startOverIfWanted()
        fileIsClosed()
        do throws(LocalRealmError) {
            try result.get()
        } catch {
            pauses.wasOpen(time.uptime() - start)
            throw Failure(.realm(error))
        }
    }

    private func runUntilClosing(_ client: RealmClient) async -> Result<Void, LocalRealmError> {
        await withTaskGroup(of: Result<Void, LocalRealmError>.self) { group in
            group.addTask { [connection] in
                do throws(LocalRealmError) {
                    return .success(try await connection.run(client, joins: false))
                } catch {
                    return .failure(error)
                }
            }
            group.addTask { [closing] in
                await closing.wait()
                return .success(())
            }
            defer { group.cancelAll() }
            return await group.next() ?? .success(())
        }
    }

    private func settle(_ stage: Stage) {
        self.stage = stage
        for wait in attemptWaits { wait.keep(true) }
        attemptWaits = []
    }

    /// One message for one fact: the same failure again is no news.
    private func report(_ failure: Failure) {
        let isNews = failure.cause != lastReported?.cause || failure.detail != lastReported?.detail
        lastReported = failure
        events.publish(failure, realm: configuration.name)
        if isNews { handlerNews.add(.error(SyncErrorReport(failure))) }
        logger.log(
            level: isNews ? .warning : .debug,
            "realm is not open",
            metadata: ["cause": "\(failure.cause)", "detail": "\(failure.detail)"]
        )
    }
}

// MARK: Status

extension RealmSupervisor {
    func status() async -> RealmStatus {
        var status = RealmStatus(
            name: configuration.name,
            path: configuration.path,
            app: configuration.user.app.name,
            user: configuration.user.name,
            partition: partition,
            state: .waitingForUser
        )
        switch stage {
        case .starting, .stopped:
            break
        case .failed(let failure):
            status.state = failure.state
            status.cause = failure.cause
            status.detail = failure.detail
            if failure.state != .waitingForUser { status.error = StatusError(failure) }
            status.describe(nextAttemptIn: nextAttempt.map { $0 - time.uptime() }, now: now())
        // It has been closed for good, and its file may be gone.
        case .running where fileClosing == nil:
            break
        case .running(let client):
            let snapshot = await client.snapshot()
            status.describe(snapshot)
            status.describe(snapshot.phase, snapshot.standing, configuration.opening)
            if status.state == .offline {
                status.describe(nextAttemptIn: await connection.timeToNextAttempt, now: now())
            }
        }
        if resets.isUnderway {
            (status.state, status.cause) = (.resetting, "client-reset")
            status.detail = resets.step?.description
        } else if let failure = resets.failure,
            status.state == .needsReset || resets.standing != nil
        {
            (status.state, status.cause) = (.needsReset, "client-reset")
            status.detail = "\(failure) [\(failure.code)]"
        }
        if let pauseCause {
            status.state = currentSuspension == nil ? .paused : .suspended
            status.cause = pauseCause.word
            status.describe(nextAttemptIn: nil, now: now())
            status.detail = pauseDetail
        }
        return status
    }

    /// How the work on the file gets on; nil while it is closed.
    var workload: WorkMeter.Reading? {
        guard case .running(let client) = stage else { return nil }
        return client.workload
    }

    /// Whether programs can use the file, downloaded as far as its owner wants it first.
    var isReady: Bool {
        get async {
            guard case .running(let client) = stage else { return false }
            return await opening(client.snapshot()) == .open
        }
    }

    /// The partition as BIND carries it; empty while it depends on a user who never logged in, and
    /// of realms with subscriptions.
    var partition: String {
        guard case .partition(let setting) = configuration.scope,
            let value = try? setting.value(userID: userID ?? "")
        else { return "" }
        return value.canonicalExtendedJSON
    }

    /// How far the opening is that the configuration asks for.
    func opening(_ snapshot: RealmSnapshot) -> OpeningState.Verdict {
        OpeningState(configuration.opening, snapshot.standing, snapshot.phase).verdict
    }
}
