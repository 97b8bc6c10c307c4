import ClientReset
import Coordination
import LocalRealm
public import SyncClient

/// One way of a transfer.
public typealias TransferDirection = SyncClient.TransferDirection
/// How far a transfer is, in bytes.
public typealias TransferProgress = SyncClient.TransferProgress
/// Whether an observer of a transfer hears of everything, or of what was to be done when it came.
public typealias ProgressMode = ProgressNotifier.Mode

/// Sync now, and hear how it went.
extension SyncedRealm {
    /// Transfers everything in both directions, whatever the schedule says, and returns when that is
    /// done or cannot be done soon.
    ///
    /// - Parameter timeout: nil for as long as it takes.
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
            return SyncResult(.resetRequired, detail: "\(failure) [\(failure.code)]")
        }
        // A caller's request outweighs the schedule.
        gate.urgentSyncs += 1
        gateChanged.raise()
        defer {
            gate.urgentSyncs -= 1
            gateChanged.raise()
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
        return SyncResult(
            outcome,
            uploadedBytes: after.file.uploadedBytes &- before.file.uploadedBytes,
            downloadedBytes: after.file.downloadedBytes &- before.file.downloadedBytes
        )
    }

    /// Returns when what was committed so far is acknowledged, or what the server has by now is here, or
    /// both: across reconnects, restarts of the session and log-ins that may still succeed.
    ///
    /// - Parameter timeout: nil for as long as it takes.
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
                client = try await running(until: deadline, isPatient: true)
            } catch {
                guard error.outcome == .offline, error != .stopping else { return error.result }
                continue
            }
            let rest = deadline.map { max(.zero, $0 - context.time.uptime()) }
            let outcome = await client.wait(for: directions, timeout: rest, context.time)
            // Neither a schedule's pause nor a file that is opened again ends a wait (sync history, 9.3).
            if case .offline = outcome, currentSuspension == nil, !gate.isFinishing,
                !Task.isCancelled
            {
                guard (try? await context.time.sleep(Self.poll)) != nil else {
                    return Self.stopping
                }
                continue
            }
            return SyncResult(outcome)
        }
    }

    /// Returns when the realm counts as open (``RealmOptions/open``), or an error that retrying does not
    /// clear keeps it from that.
    ///
    /// - Parameter timeout: nil for as long as it takes.
    public func waitUntilOpen(timeout: Duration? = nil) async -> SyncResult {
        let deadline = timeout.map { context.time.uptime() + $0 }
        while true {
            let client: RealmClient
            do throws(RealmFailure) {
                client = try await running(until: deadline, isPatient: true)
            } catch {
                guard error.outcome == .offline, error != .stopping else { return error.result }
                continue
            }
            let snapshot = await client.snapshot()
            let requirement = OpenRequirement(
                context.options.open,
                snapshot.standing,
                snapshot.phase
            )
            switch requirement.verdict {
            case .open: return SyncResult(.done)
            case .late(let limit):
                return SyncResult(
                    requirement.isOffline ? .offline : .timedOut,
                    detail: "not downloaded within \(limit.forPeople), as open.timeout has it"
                )
            case .waiting: break
            }
            if case .inactive(let issue) = snapshot.phase { return SyncResult(.refused(issue)) }
            if let deadline, context.time.uptime() >= deadline {
                return SyncResult(.timedOut, detail: "the realm was not open in the time given")
            }
            guard (try? await context.time.sleep(Self.poll)) != nil else { return Self.stopping }
        }
    }

    /// How one direction gets on, until the stream is dropped or, with ``ProgressMode/outstanding``,
    /// everything is transferred; nil if the realm is not open.
    public func progress(
        _ direction: TransferDirection,
        _ mode: ProgressMode = .indefinite
    ) async -> AsyncStream<TransferProgress>? {
        await client?.progress(direction, mode)
    }

    /// Whether the server lacks anything that was written here; nil if the realm is not open.
    public func hasPendingUploads() async -> Bool? {
        await client?.hasPendingUploads()
    }

    private static let poll = Duration.milliseconds(50)
    private static let stopping = SyncResult(.offline, detail: "the agent is stopping")

    /// The running client, after one more attempt if need be.
    private func running(
        until deadline: Duration?,
        isPatient: Bool = false
    ) async throws(RealmFailure) -> RealmClient {
        switch stage {
        case .running(let client): return client
        case .stopped: throw .stopping
        case .failed(let failure):
            if !isPatient {
                attemptNow.raise()
            } else if failure.outcome != .offline {
                throw failure
            }
        case .starting: break
        }
        guard await attempt(until: deadline) else { throw .late }
        switch stage {
        case .running(let client): return client
        case .failed(let failure): throw failure
        case .starting, .stopped: throw .stopping
        }
    }

    /// Waits until the attempt under way has ended; false if the time is over first.
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
