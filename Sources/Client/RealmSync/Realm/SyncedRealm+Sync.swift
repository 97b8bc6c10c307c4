import ClientReset
import Coordination
import LocalRealm
public import SyncClient

/// Upload or download.
public typealias TransferDirection = SyncClient.TransferDirection
/// Progress of a transfer, in bytes.
public typealias TransferProgress = SyncClient.TransferProgress
/// Whether an observer gets reports on all transfers, or on those pending when it was added.
public typealias ProgressMode = ProgressNotifier.Mode

/// Syncs on request, and waits.
extension SyncedRealm {
    /// Transfers all pending changes in both directions, regardless of the schedule. Returns when
    /// that is done, or cannot be done soon.
    ///
    /// - Parameter timeout: maximum time to wait; nil for no limit.
    public func sync(timeout: Duration? = nil) async -> SyncResult {
        let deadline = timeout.map { context.time.uptime() + $0 }
        if let currentSuspension {
            return SyncResult(
                .offline,
                detail:
                    "the realm is suspended (\(currentSuspension.cause.rawValue)); resume it first"
            )
        }
        let reset = resets.current
        if reset.standing != nil, let failure = reset.failure {
            return Self.result(of: failure)
        }
        // A caller's request outweighs the schedule.
        conditions.urgentSyncs += 1
        conditionsChanged.raise()
        defer {
            conditions.urgentSyncs -= 1
            conditionsChanged.raise()
        }
        let client: RealmClient
        do throws(RealmFailure) {
            client = try await running(until: deadline)
        } catch {
            return error.result
        }
        let before = await client.snapshot()
        let rest = deadline.map { max(.zero, $0 - context.time.uptime()) }
        let outcome = await client.sync(timeout: rest, context.time)
        let after = await client.snapshot()
        if case .refused(let issue) = outcome, issue.kind == .clientReset,
            let failure = resets.current.failure
        {
            return Self.result(of: failure)
        }
        return SyncResult(
            outcome,
            uploadedBytes: after.file.uploadedBytes &- before.file.uploadedBytes,
            downloadedBytes: after.file.downloadedBytes &- before.file.downloadedBytes
        )
    }

    /// Waits until the server acknowledges what was committed before the call, or until the changes that
    /// the server has by now are integrated, or both. The wait survives reconnects, restarts of the
    /// session and log-ins that may still succeed; it does not change the schedule.
    ///
    /// - Parameters:
    ///   - directions: uploads, downloads or both.
    ///   - timeout: maximum time to wait; nil for no limit.
    public func wait(
        for directions: [TransferDirection] = TransferDirection.allCases,
        timeout: Duration? = nil
    ) async -> SyncResult {
        let deadline = timeout.map { context.time.uptime() + $0 }
        while true {
            if let currentSuspension {
                return SyncResult(
                    .offline,
                    detail: "the realm is suspended (\(currentSuspension.cause.rawValue))"
                )
            }
            let client: RealmClient
            do throws(RealmFailure) {
                client = try await running(until: deadline, toleratesOffline: true)
            } catch {
                guard error.outcome == .offline, error != .stopping else { return error.result }
                continue
            }
            let rest = deadline.map { max(.zero, $0 - context.time.uptime()) }
            let outcome = await client.wait(for: directions, timeout: rest, context.time)
            // Neither a pause by schedule nor a file that is opened again ends a wait (sync history, 9.3).
            if case .offline = outcome, currentSuspension == nil, !conditions.isFinishing,
                !Task.isCancelled
            {
                guard (try? await context.time.sleep(Self.poll)) != nil else {
                    return Self.stopping
                }
                continue
            }
            if case .refused(let issue) = outcome, issue.kind == .clientReset,
                let failure = resets.current.failure
            {
                return Self.result(of: failure)
            }
            return SyncResult(outcome)
        }
    }

    /// The reset that was left to the owner says more than the server's request for it.
    private static func result(of failure: ResetFailure) -> SyncResult {
        SyncResult(.resetRequired, detail: "\(failure) [\(failure.code)]", code: failure.code)
    }

    /// Waits until the realm is open, as ``RealmOptions/open`` requires, or an error prevents it that
    /// retrying does not clear.
    ///
    /// - Parameter timeout: maximum time to wait; nil for no limit.
    public func waitUntilOpen(timeout: Duration? = nil) async -> SyncResult {
        let deadline = timeout.map { context.time.uptime() + $0 }
        while true {
            let client: RealmClient
            do throws(RealmFailure) {
                client = try await running(until: deadline, toleratesOffline: true)
            } catch {
                guard error.outcome == .offline, error != .stopping else { return error.result }
                continue
            }
            let snapshot = await client.snapshot()
            let requirement = OpenRequirement(context.options.open, snapshot)
            switch requirement.verdict {
            case .open: return SyncResult(.done)
            case .timedOut(let limit):
                return SyncResult(
                    requirement.isOffline ? .offline : .timedOut,
                    detail: "not downloaded within \(limit.forPeople) (open.timeout)"
                )
            case .waiting: break
            }
            if case .inactive(let issue) = snapshot.phase { return SyncResult(.refused(issue)) }
            if let deadline, context.time.uptime() >= deadline {
                return SyncResult(.timedOut, detail: "the realm was not open within the timeout")
            }
            guard (try? await context.time.sleep(Self.poll)) != nil else { return Self.stopping }
        }
    }

    /// Progress of one direction, until the stream is dropped or, with
    /// ``ProgressMode/outstanding``, everything is transferred; nil if the realm is not open.
    public func progress(
        _ direction: TransferDirection,
        _ mode: ProgressMode = .indefinite
    ) async -> AsyncStream<TransferProgress>? {
        await client?.progress(direction, mode)
    }

    /// Whether any local write is not acknowledged; nil if the realm is not open.
    public func hasPendingUploads() async -> Bool? {
        await client?.hasPendingUploads()
    }

    private static let poll = Duration.milliseconds(50)
    private static let stopping = SyncResult(.offline, detail: "the agent is stopping")

    /// The running client, after one more attempt to open if necessary.
    func running(
        until deadline: Duration?,
        toleratesOffline: Bool = false
    ) async throws(RealmFailure) -> RealmClient {
        switch stage {
        case .running(let client): return client
        case .stopped: throw .stopping
        case .failed(let failure):
            if !toleratesOffline {
                attemptNow.raise()
            } else if failure.outcome != .offline {
                throw failure
            }
        case .starting: break
        }
        guard await attempt(until: deadline) else { throw .timedOut }
        switch stage {
        case .running(let client): return client
        case .failed(let failure): throw failure
        case .starting, .stopped: throw .stopping
        }
    }

    /// Waits until a realm that is being opened is open or has failed, at most for the limit: a command right
    /// after the start of the agent finds it open.
    package func waitWhileStarting(atMost limit: Duration) async {
        guard case .starting = stage else { return }
        _ = await attempt(until: context.time.uptime() + limit)
    }

    /// Waits until the attempt in progress has ended; false if the deadline passes first.
    private func attempt(until deadline: Duration?) async -> Bool {
        let wait = Promise<Bool>()
        attemptWaits.append(wait)
        return await withTaskGroup { group in
            group.addTask { [context] in
                guard let deadline else { return }
                let rest = deadline - context.time.uptime()
                guard (try? await context.time.sleep(rest)) != nil else { return }
                wait.keep(false)
            }
            let hasEnded = await wait.value
            group.cancelAll()
            attemptWaits.removeAll { $0 === wait }
            return hasEnded
        }
    }
}
