import Coordination
import LocalRealm
import SyncProtocol
import Versions

/// A wait until everything is up, or down, or both.
struct SyncWaiter {
    let outcome = Promise<SyncOutcome>()
    /// Everything up to here must be acknowledged; nil if uploads are not waited for.
    let uploadTarget: ClientVersion?
    var needsDownload: Bool
    /// Goes on waiting while the server cannot be reached.
    let isPatient: Bool
}

extension RealmClient {
    /// Returns when every local write committed so far is acknowledged and everything the server has
    /// by now is here; or when that is not going to happen soon.
    package func sync(timeout: Duration?, _ time: SyncTime) async -> SyncOutcome {
        await wait(for: TransferDirection.allCases, isPatient: false, timeout: timeout, time)
    }

    /// The same for some directions, across reconnects and as long as it takes: only what time does
    /// not heal ends it (sync history, 9.3). Without pending writes, waiting for uploads needs no
    /// network.
    package func wait(
        for directions: [TransferDirection],
        timeout: Duration?,
        _ time: SyncTime
    ) async -> SyncOutcome {
        await wait(for: directions, isPatient: true, timeout: timeout, time)
    }

    private func wait(
        for directions: [TransferDirection],
        isPatient: Bool,
        timeout: Duration?,
        _ time: SyncTime
    ) async -> SyncOutcome {
        guard !isClosed else { return .offline(reason: "the realm is closed") }
        guard await capture() else { return .failed(reason: blockedReason) }
        // Nothing ends the waits of a realm that has ended meanwhile.
        guard !isClosed else { return .offline(reason: "the realm is closed") }
        if let failure { return .refused(SessionIssue(failure)) }
        switch phase {
        case .inactive(let issue): return .refused(issue)
        // As for a wait that began before the log-in was refused.
        case .offline(.loginRequired(let reason)) where isPatient:
            return .loginRequired(reason: reason)
        case .backingOff where !isPatient: resumeNow()
        case .backingOff, .offline, .detached, .connecting, .bound: break
        }
        let waiter = SyncWaiter(
            uploadTarget: directions.contains(.upload) ? status.localVersion : nil,
            needsDownload: directions.contains(.download),
            isPatient: isPatient
        )
        waiters.append(waiter)
        checkWaiters()
        requestAwaitedSync()
        return await withTaskGroup { group in
            group.addTask {
                guard let timeout, (try? await time.sleep(timeout)) != nil else { return }
                waiter.outcome.keep(.timedOut)
            }
            // A cancelled task waits for nothing: its session may be gone, and with it all that ends a wait.
            let outcome = await withTaskCancellationHandler {
                await waiter.outcome.value
            } onCancel: {
                waiter.outcome.keep(.offline(reason: "the wait was cancelled"))
            }
            group.cancelAll()
            waiters.removeAll { $0.outcome === waiter.outcome }
            return outcome
        }
    }

    /// Whether the server lacks anything that was written here; also if that cannot be told.
    package func hasPendingUploads() async -> Bool {
        guard !isClosed, await capture() else { return true }
        return mayBeUploading
    }

    private var blockedReason: String {
        "another program keeps the file locked; look for a write transaction that stays open "
            + "[\(LocalRealmError.Kind.busy.rawValue)]"
    }

    /// Asks for what those who wait are waiting for. Before the realm has joined its connection there
    /// is nobody to ask: joining does it then.
    func requestAwaitedSync() {
        guard !waiters.isEmpty, session != nil else { return }
        if waiters.contains(where: \.needsDownload) { session?.requestDownloadCompletion() }
        if waiters.contains(where: { !$0.isPatient }) { wantConnectionNow() }
        wakeConnection()
    }

    /// Lets go whoever has what it waits for.
    func checkWaiters() {
        guard !waiters.isEmpty else { return }
        let acknowledged = store.standing.acknowledged
        finish(where: { !$0.needsDownload && $0.uploadTarget ?? .zero <= acknowledged }, .done)
    }

    /// Lets go everybody, or only those who are not patient.
    func finishWaiters(_ outcome: SyncOutcome, patient: Bool = true) {
        finish(where: { patient || !$0.isPatient }, outcome)
    }

    private func finish(where isFinished: (SyncWaiter) -> Bool, _ outcome: SyncOutcome) {
        let finished = waiters.filter(isFinished)
        waiters.removeAll(where: isFinished)
        for waiter in finished { waiter.outcome.keep(outcome) }
    }
}
