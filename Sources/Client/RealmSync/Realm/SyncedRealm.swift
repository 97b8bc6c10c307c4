import AppServices
import ClientReset
package import Coordination
import LocalRealm
import Logging
package import SQLite
import Scopes
import SyncClient

/// One local realm, kept in sync: logs its user in, opens the file, runs the session, and repeats these
/// steps after a failure (interfaces, 5).
///
/// Nothing happens before ``run()`` is called. Transient failures are retried with a growing back-off;
/// ``reconnect()`` ends the back-off early. All methods may be called from any task.
public actor SyncedRealm {
    enum Stage {
        case starting
        /// The user is not logged in, or the file is not open; the error of the last attempt.
        case failed(RealmFailure)
        case running(RealmClient)
        /// `run()` has returned.
        case stopped
    }

    package nonisolated let context: RealmContext
    private var pauses: AttemptPauses
    /// The delays between sessions that handlers request after refusals.
    var retries: RetryPauses
    /// A handler requests another session in place of the one that the server refused.
    var wantsNewSession = false
    private(set) var stage = Stage.starting
    package private(set) var userID: String?
    private var lastReported: RealmFailure?
    /// The failure that closed the file, until the file that is open again has proven sound.
    private(set) var unhealed: RealmFailure?
    /// The last transfers that the realm's record knows of, kept while the file is open: the status of five
    /// hundred realms must not cost as many queries.
    private var transfersInRecord: SyncedRealmStatus.LastTransfers?
    /// The uptime of the next attempt to open the realm.
    private(set) var nextAttempt: Duration?
    /// Waits for the end of an attempt: true if it has ended, false if the deadline has passed.
    var attemptWaits: [Promise<Bool>] = []
    let attemptNow = Signal()

    var conditions = SyncConditions()
    nonisolated let conditionsChanged: Signal
    let onceWanted = Signal()
    /// Raised when the schedule must decide again: a refresh has ended, or the schedule has changed.
    package nonisolated let scheduleAttention = Signal()

    nonisolated let resets: RealmResets
    /// Whether this process has put the initial subscriptions into the set.
    var hasPutInitialSubscriptions = false
    var declaredSubscriptions: DeclaredSubscriptionSource?
    private nonisolated let openWork = OpenRealmWork<RealmClient>()
    /// Number of callers that need the file closed; the realm is not opened while there are any.
    private var closers = 0
    private let closing = Signal()
    /// Kept when the file is closed; nil while it is.
    private(set) var fileClosing: Promise<Void>?

    package init(_ context: RealmContext, pauses: AttemptPauses) {
        let conditionsChanged = Signal()
        self.context = context
        self.pauses = pauses
        self.retries = RetryPauses(pauses)
        self.conditionsChanged = conditionsChanged
        self.resets = RealmResets(context, conditionsChanged: conditionsChanged)
        self.declaredSubscriptions = context.options.declaredSubscriptions
    }

    /// The realm's name; see ``RealmOptions/name``.
    public nonisolated var name: String { context.options.name }

    /// The path of the SQLite file, which any program may read and write with SQL.
    public nonisolated var path: String { context.options.path }

    /// Keeps the realm in sync until the task is cancelled, then closes the file and returns. Call it once.
    public func run() async {
        await inTaskOfItsOwn { await self.recollect() }
        while !Task.isCancelled {
            do throws(RealmFailure) {
                try await run(inTaskOfItsOwn { await self.attemptToBringUp() }.get())
            } catch {
                // Failures caused by stopping are not reported.
                if Task.isCancelled { break }
                report(error)
                let pause = pauses.next()
                nextAttempt = context.time.uptime() + pause
                settle(.failed(error))
                _ = await attemptNow.wait(atMost: pause, context.time)
                nextAttempt = nil
            }
            if closers == 0, !Task.isCancelled, case .running = stage { settle(.starting) }
        }
        settle(.stopped)
        context.events.finish()
    }

    /// A stream of the events from now on; any number of streams can be open. It keeps at most 1 024
    /// unread events and drops the oldest, and it ends when ``run()`` returns.
    public nonisolated func events() -> AsyncStream<RealmEvent> {
        context.events.stream(capacity: 1024)
    }

    // MARK: Opening

    private func recollect() async {
        conditions.suspension = await memory.suspension()
        await locateFileOfEarlierRun()
        await resets.carryOutFileActionOfEarlierRun()
    }

    private func attemptToBringUp() async -> Result<RealmClient, RealmFailure> {
        do throws(RealmFailure) { return .success(try await bringUp()) } catch {
            return .failure(error)
        }
    }

    private func account() async throws(RealmFailure) -> Account {
        do throws(UserSession.Failure) {
            if let cached = try await context.user.cachedAccount() { return cached }
            // Without an account there is no file to capture either: only wait.
            while !isAllowed, !Task.isCancelled { await waitForPermission() }
            // Report only the first of several equal failures.
            if lastReported == nil {
                context.events.publish(.activity(RealmActivity(.waitingForUser)))
            }
            return try await context.user.logIn()
        } catch {
            throw RealmFailure(error)
        }
    }

    private func bringUp() async throws(RealmFailure) -> RealmClient {
        var account = try await account()
        try settle(on: account)
        // A realm that was deleted and suspended must not be created again automatically.
        while closers > 0 || (!isAllowed && !context.opener.hasFile(context.options)) {
            if Task.isCancelled { throw .stopping }
            await waitForPermission()
            // The user may have been logged out, or have changed.
            account = try await self.account()
            try settle(on: account)
        }
        fileClosing = fileClosing ?? Promise()
        do throws(RealmOpener.Failure) {
            return try await context.opener.open(
                context.options,
                appID: context.appID,
                userID: account.userID,
                report: { [context] news in
                    for event in RealmEvent.events(of: news, context.options.open) {
                        context.events.publish(event)
                    }
                }
            )
        } catch {
            fileIsClosed()
            throw RealmFailure(error)
        }
    }

    private func settle(on account: Account) throws(RealmFailure) {
        userID = account.userID
        do throws(UnusableScope) {
            try context.options.location.locate(userID: account.userID)
        } catch {
            throw RealmFailure(.scope(error.reason))
        }
    }

    /// A pending action of an earlier process on the file does not wait for a log-in.
    private func locateFileOfEarlierRun() async {
        guard let record = try? await context.register.record(), !record.userID.isEmpty else {
            return
        }
        try? context.options.location.locate(userID: record.userID)
    }

    private func fileIsClosed() {
        fileClosing?.keep()
        fileClosing = nil
    }

    // MARK: Running

    /// Runs the realm until the task is cancelled; the file is closed in any case.
    private func run(_ client: RealmClient) async throws(RealmFailure) {
        await inTaskOfItsOwn { await self.settle(with: client) }
        let start = context.time.uptime()
        let duties = duties(for: client)
        let result = await withDiscardingTaskGroup { group in
            if unhealed != nil { group.addTask { await self.reportHealing(client) } }
            if context.options.open.timeout != nil {
                group.addTask { await self.reportOpenTimeout(client) }
            }
            group.addTask { await duties.carryOut() }
            defer { group.cancelAll() }
            return await runUntilClosing(client)
        }
        openWork.close()
        await inTaskOfItsOwn { await self.part(from: client) }
        do throws(LocalRealmError) {
            try result.get()
        } catch {
            pauses.wasOpen(context.time.uptime() - start)
            let failure = RealmFailure(.realm(error))
            unhealed = error.isTransient ? failure : nil
            throw failure
        }
    }

    private func settle(with client: RealmClient) async {
        // Opening the file has satisfied earlier requests to close it.
        if closers == 0 { closing.lower() }
        openWork.open()
        settle(.running(client))
        if unhealed == nil { reportOpening() }
        if let cause = await memory.causeOfRestoredFile(client) {
            resets.update { $0.standing = cause }
            await client.wantReset(cause)
        } else {
            await remember(client)
        }
        await putInitialSubscriptions(client)
        if case .once = conditions.permission { onceWanted.raise() }
    }

    private func part(from client: RealmClient) async {
        await context.connection(of: client).leave(client)
        await remember(client)
        await client.close()
        await resets.startOverIfWanted()
        fileIsClosed()
    }

    private func duties(for client: RealmClient) -> Duties {
        Duties(
            [
                Duty(on: conditionsChanged, isDueAtOnce: true) { [self] _ in
                    await followPermission(client)
                },
                Duty(on: onceWanted) { [self] _ in
                    await syncOnce(client)
                    return .onSignal
                },
                Duty(on: client.resetWanted, isDueAtOnce: true) { [self] occasion in
                    if case .beginning = occasion { await resets.begin(with: client, self) }
                    await resets.follow(client, self)
                    return .onSignal
                },
                openWork.duty(with: client),
                // So that a file restored from a backup is recognised.
                Duty(on: client.hasNewVersion, after: .seconds(5)) { [self] _ in
                    await remember(client)
                    return .onSignal
                },
                Duty(on: closing) { _ in
                    await client.end()
                    return .onSignal
                },
            ],
            context.time
        )
    }

    private func runUntilClosing(_ client: RealmClient) async -> Result<Void, LocalRealmError> {
        do throws(LocalRealmError) {
            return .success(try await context.connection(of: client).run(client, joins: false))
        } catch {
            return .failure(error)
        }
    }

    /// Publishes the phase when `open.timeout` passes, since no other event may occur then.
    private func reportOpenTimeout(_ client: RealmClient) async {
        guard let timeout = context.options.open.timeout else { return }
        let age = await client.snapshot().standing.age
        guard (try? await context.time.sleep(max(.zero, timeout - age))) != nil else { return }
        await client.reportPhase()
    }

    /// A full disk lets the file be opened, and fails its next write: that is still the same failure.
    private func reportHealing(_ client: RealmClient) async {
        let start = context.time.uptime()
        let proof = HealingProof(since: await client.snapshot())
        while await !proof.isGiven(by: client.snapshot(), after: context.time.uptime() - start) {
            guard (try? await context.time.sleep(.milliseconds(100))) != nil else { return }
        }
        unhealed = nil
        reportOpening()
    }

    /// The counterpart of "realm is not open".
    private func reportOpening() {
        context.logger.info("realm is open")
        lastReported = nil
    }

    private func settle(_ stage: Stage) {
        self.stage = stage
        for wait in attemptWaits { wait.keep(true) }
        attemptWaits = []
    }

    /// Reports a failure; a repetition of the same one is not reported.
    private func report(_ failure: RealmFailure) {
        let isNew = failure.cause != lastReported?.cause || failure.detail != lastReported?.detail
        lastReported = failure
        context.events.publish(.activity(failure.activity))
        if isNew { context.events.publish(.error(failure.error)) }
        context.logger.log(
            level: isNew ? .warning : .debug,
            "realm is not open",
            metadata: [
                "cause": "\(failure.cause.rawValue)", "code": "\(failure.code)",
                "detail": "\(failure.detail)",
            ]
        )
    }

    /// Nil if the file is not open.
    var client: RealmClient? {
        if case .running(let client) = stage { client } else { nil }
    }
}

// MARK: The file

extension SyncedRealm: ResetHost {
    nonisolated var memory: RealmMemory { resets.memory }

    nonisolated func whileOpen<Result: Sendable>(
        _ work: @escaping @Sendable (RealmClient) async -> Result
    ) async -> Result? {
        await openWork.perform(work)
    }

    /// Closes the file, runs the work, and opens the realm again.
    package func whileClosed<Result: Sendable>(
        _ work: @escaping @Sendable () async -> Result
    ) async -> Result {
        closers += 1
        closing.raise()
        await fileClosing?.value
        let result = await work()
        closers -= 1
        conditionsChanged.raise()
        return result
    }

    func remember(_ client: RealmClient) async {
        // Until it is reset, an older state of the file must stay recognisable as such.
        guard resets.current.standing?.origin != .restoredFile else { return }
        await memory.remember(client, userID: userID ?? "", partition: partition)
        transfersInRecord = nil
    }

    /// The last transfers that the realm's record knows of; none if it cannot be read.
    func recordedTransfers() async -> SyncedRealmStatus.LastTransfers {
        if client != nil, let transfersInRecord { return transfersInRecord }
        transfersInRecord = await memory.lastTransfers()
        return transfersInRecord ?? .init()
    }

    /// Canonical Extended JSON; empty while it depends on a user that never logged in, and for realms with
    /// subscriptions.
    var partition: String {
        switch try? context.options.scope(userID ?? "") {
        case .partition(let partition)?: partition.canonicalText
        case .subscriptions?, .unsynced?, nil: ""
        }
    }

    /// Progress of the work on the file; nil while it is closed.
    package var workload: WorkMeter.Reading? { client?.workload }
}
