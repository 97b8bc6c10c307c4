import ClientReset
import Config
import Control
import Coordination
import LocalRealm
import SyncClient

/// Sync now, and hear how it went.
extension RealmSupervisor {
    /// Everything up and down, or the reason why not.
    func sync(timeout: Duration?) async -> SyncReport {
        let deadline = timeout.map { time.uptime() + $0 }
        if let currentSuspension {
            return SyncReport(
                realm: configuration.name,
                outcome: .offline,
                detail: "the realm is suspended (\(currentSuspension.cause.word)); resume it first"
            )
        }
        if resets.standing != nil, let failure = resets.failure {
            return report(.resetRequired, "\(failure) [\(failure.code)]")
        }
        // Somebody asked for it: that weighs more than the schedule.
        urgentSyncs += 1
        permissionChanged.raise()
        defer {
            urgentSyncs -= 1
            permissionChanged.raise()
        }
        let client: RealmClient
        do throws(Failure) {
            client = try await running(until: deadline)
        } catch {
            return SyncReport(
                realm: configuration.name,
                outcome: error.outcome,
                detail: error.detail
            )
        }
        let before = await client.snapshot()
        let rest = deadline.map { max(.zero, $0 - time.uptime()) }
        let outcome = await client.sync(timeout: rest, time)
        let after = await client.snapshot()
        return SyncReport(
            realm: configuration.name,
            outcome: outcome,
            uploadedBytes: after.file.uploadedBytes &- before.file.uploadedBytes,
            downloadedBytes: after.file.downloadedBytes &- before.file.downloadedBytes
        )
    }

    /// The running client, after one more attempt if need be.
    func running(
        until deadline: Duration?,
        isPatient: Bool = false
    ) async throws(Failure) -> RealmClient {
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

    /// Waits until the attempt under way has come to something; false if the time is over first.
    private func attempt(until deadline: Duration?) async -> Bool {
        let wait = Promise<Bool>()
        attemptWaits.append(wait)
        return await withTaskGroup { group in
            group.addTask { [time] in
                guard let deadline else { return }
                guard (try? await time.sleep(deadline - time.uptime())) != nil else { return }
                wait.keep(false)
            }
            let hasCome = await wait.value
            group.cancelAll()
            attemptWaits.removeAll { $0 === wait }
            return hasCome
        }
    }
}

extension RealmSupervisor.Failure {
    static let stopping = Self(
        state: .offline,
        cause: "by-user",
        detail: "the agent is stopping",
        outcome: .offline
    )

    fileprivate static let late = Self(
        state: .waitingForUser,
        cause: "backoff",
        detail: "the realm was not open in the time given",
        outcome: .timedOut
    )
}

/// Waiting, and watching.
extension RealmSupervisor {
    /// Until what was committed so far is up, or what the server has by now is here, or both: across
    /// reconnects, restarts of the session and log-ins that time can heal.
    func wait(for directions: [TransferDirection], timeout: Duration?) async -> SyncReport {
        let deadline = timeout.map { time.uptime() + $0 }
        while true {
            if let currentSuspension {
                return report(.offline, "the realm is suspended (\(currentSuspension.cause.word))")
            }
            let client: RealmClient
            do throws(Failure) {
                client = try await running(until: deadline, isPatient: true)
            } catch {
                guard error.outcome == .offline, error != .stopping else {
                    return report(error.outcome, error.detail)
                }
                continue
            }
            let rest = deadline.map { max(.zero, $0 - time.uptime()) }
            let outcome = await client.wait(for: directions, timeout: rest, time)
            // A schedule's pause and a file that is opened anew end no wait (sync history, 9.3).
            if case .offline = outcome, currentSuspension == nil, !isFinishing, !Task.isCancelled {
                guard (try? await time.sleep(.milliseconds(50))) != nil else {
                    return report(.offline, "the agent is stopping")
                }
                continue
            }
            return SyncReport(
                realm: configuration.name,
                outcome: outcome,
                uploadedBytes: 0,
                downloadedBytes: 0
            )
        }
    }

    /// How one direction goes; nil if the realm is not open.
    func progress(
        _ direction: TransferDirection,
        _ mode: ProgressNotifier.Mode
    ) async -> AsyncStream<TransferProgress>? {
        guard case .running(let client) = stage else { return nil }
        return await client.progress(direction, mode)
    }

    private func report(_ outcome: SyncReport.Outcome, _ detail: String) -> SyncReport {
        SyncReport(realm: configuration.name, outcome: outcome, detail: detail)
    }
}
