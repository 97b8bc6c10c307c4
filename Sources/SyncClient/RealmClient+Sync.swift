import LocalRealm
import SyncProtocol
import Versions

/// Somebody who waits until everything is up and down.
struct SyncWaiter {
    let id: Int
    /// Everything up to here must be acknowledged.
    let uploadTarget: ClientVersion
    var needsDownload = true
    let continuation: CheckedContinuation<SyncOutcome, Never>
}

extension RealmClient {
    /// Returns when every local write committed so far is acknowledged and everything the server has
    /// by now is here; or when that is not going to happen soon.
    package func sync(timeout: Duration?, _ time: SyncTime) async -> SyncOutcome {
        guard !isClosed else { return .offline(reason: "the realm is closed") }
        guard capture() else { return .failed(reason: blockedReason) }
        switch phase {
        case .refused(let issue): return .refused(issue)
        case .suspended: resumeNow()
        case .offline, .detached, .connecting, .bound: break
        }
        let id = nextWaiterID
        nextWaiterID += 1
        return await withTaskGroup { group in
            group.addTask {
                guard let timeout, (try? await time.sleep(timeout)) != nil else { return }
                await self.finishWaiter(id, .timedOut)
            }
            let outcome = await wait(id)
            group.cancelAll()
            return outcome
        }
    }

    private var blockedReason: String {
        "another program keeps the file locked; look for a write transaction that stays open "
            + "[\(LocalRealmError.Kind.busy.rawValue)]"
    }

    private func wait(_ id: Int) async -> SyncOutcome {
        await withCheckedContinuation { continuation in
            waiters.append(
                SyncWaiter(
                    id: id,
                    uploadTarget: realm.status.localVersion,
                    continuation: continuation
                )
            )
            pursueSync()
        }
    }

    /// Asks for what those who wait are waiting for. Before the realm has joined its connection there
    /// is nobody to ask: joining does it then.
    func pursueSync() {
        guard !waiters.isEmpty, session != nil else { return }
        session?.requestDownloadCompletion()
        wantConnectionNow()
    }

    /// Lets go whoever has what it waits for.
    func checkWaiters() {
        guard !waiters.isEmpty else { return }
        do throws(LocalRealmError) {
            let acknowledged = try realm.acknowledgedVersion()
            finish(where: { !$0.needsDownload && $0.uploadTarget <= acknowledged }, .done)
        } catch {
            fail(error)
        }
    }

    func finishWaiters(_ outcome: SyncOutcome) {
        finish(where: { _ in true }, outcome)
    }

    private func finishWaiter(_ id: Int, _ outcome: SyncOutcome) {
        finish(where: { $0.id == id }, outcome)
    }

    private func finish(where isFinished: (SyncWaiter) -> Bool, _ outcome: SyncOutcome) {
        let finished = waiters.filter(isFinished)
        waiters.removeAll(where: isFinished)
        for waiter in finished { waiter.continuation.resume(returning: outcome) }
    }
}
