import Coordination
import LocalRealm
import SyncProtocol
import Versions

/// Waits until a realm is in sync.
extension RealmClient {
    /// Returns when every local write committed so far is acknowledged and all changes that the
    /// server has by now are integrated, or when that cannot happen soon.
    package func sync(timeout: Duration?, _ time: SyncTime) async -> SyncOutcome {
        await wait(for: TransferDirection.allCases, toleratesOffline: false, timeout: timeout, time)
    }

    /// The same for the given directions, across reconnects. Only a permanent error or the timeout
    /// ends the wait early (sync history, 9.3). Without pending writes, waiting for uploads needs
    /// no network.
    package func wait(
        for directions: [TransferDirection],
        timeout: Duration?,
        _ time: SyncTime
    ) async -> SyncOutcome {
        await wait(for: directions, toleratesOffline: true, timeout: timeout, time)
    }

    private func wait(
        for directions: [TransferDirection],
        toleratesOffline: Bool,
        timeout: Duration?,
        _ time: SyncTime
    ) async -> SyncOutcome {
        guard !isClosed else { return .offline(reason: "the realm is closed") }
        guard await capture() else { return .failed(reason: blockedReason) }
        // A wait would never end if the realm has closed during the capture.
        guard !isClosed else { return .offline(reason: "the realm is closed") }
        if let failure { return .refused(SessionIssue(failure)) }
        switch phase {
        // A client reset that is about to begin brings the session back.
        case .inactive where resets.isRequested: break
        case .inactive(let issue): return .refused(issue)
        // Same outcome as for a wait that began before the log-in was refused.
        case .offline(.loginRequired(let reason, let code)) where toleratesOffline:
            return .loginRequired(reason: reason, code: code)
        case .backingOff where !toleratesOffline: resumeNow()
        case .backingOff, .offline, .detached, .connecting, .bound: break
        }
        let waiter = SyncWaiter(
            uploadTarget: directions.contains(.upload) ? status.localVersion : nil,
            needsDownload: directions.contains(.download),
            toleratesOffline: toleratesOffline
        )
        waiters.append(waiter)
        checkWaiters()
        requestAwaitedSync()
        return await withTaskGroup { group in
            group.addTask {
                guard let timeout, (try? await time.sleep(timeout)) != nil else { return }
                waiter.outcome.keep(.timedOut())
            }
            // A cancelled task waits for nothing: its session may be gone, and with it all that ends a wait.
            let outcome = await withTaskCancellationHandler {
                await waiter.outcome.value
            } onCancel: {
                waiter.outcome.keep(.offline(reason: "the wait was cancelled"))
            }
            group.cancelAll()
            waiters.remove(waiter)
            if case .timedOut = outcome { return .timedOut(phase.offlineCause) }
            return outcome
        }
    }

    /// Whether any local write is not acknowledged; true if that is unknown.
    package func hasPendingUploads() async -> Bool {
        guard !isClosed, await capture() else { return true }
        return mayBeUploading
    }

    private var blockedReason: String {
        "another program keeps the file locked; look for a write transaction that stays open "
            + "[\(LocalRealmError.Kind.busy.rawValue)]"
    }

    /// Requests what the waiters need. Before the realm has joined its connection this does
    /// nothing: joining repeats it.
    func requestAwaitedSync() {
        guard !waiters.isEmpty, session != nil else { return }
        if waiters.needDownload { session?.requestDownloadCompletion() }
        if waiters.needConnectionNow { wantConnectionNow() }
        wakeConnection()
    }

    /// Finishes the waiters whose condition holds.
    func checkWaiters() {
        guard !waiters.isEmpty else { return }
        waiters.finishDone(acknowledged: store.standing.acknowledged)
    }

    /// Finishes all waiters, or only those that do not wait out disconnections.
    func finishWaiters(_ outcome: SyncOutcome, includingTolerant: Bool = true) {
        waiters.finish(outcome, includingTolerant: includingTolerant)
        if includingTolerant { finishSubscriptionWaiters(.interrupted(outcome)) }
    }
}
