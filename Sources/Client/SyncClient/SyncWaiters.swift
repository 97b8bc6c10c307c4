import Coordination
import LocalRealm
import Versions

/// A wait until everything is up, or down, or both.
struct SyncWaiter {
    let outcome = Promise<SyncOutcome>()
    /// Everything up to here must be acknowledged; nil if uploads are not waited for.
    let uploadTarget: ClientVersion?
    var needsDownload: Bool
    /// Keeps waiting while the server cannot be reached.
    let toleratesOffline: Bool
}

/// The waits for a sync that have not finished.
struct SyncWaiters {
    private var waiters: [SyncWaiter] = []

    var isEmpty: Bool { waiters.isEmpty }

    /// A waiter needs everything that the server has.
    var needDownload: Bool { waiters.contains(where: \.needsDownload) }

    /// A waiter does not wait until the next attempt to connect.
    var needConnectionNow: Bool { waiters.contains { !$0.toleratesOffline } }

    mutating func append(_ waiter: SyncWaiter) {
        waiters.append(waiter)
    }

    mutating func remove(_ waiter: SyncWaiter) {
        waiters.removeAll { $0.outcome === waiter.outcome }
    }

    mutating func downloadCompleted() {
        for index in waiters.indices { waiters[index].needsDownload = false }
    }

    /// Finishes the waiters whose condition holds.
    mutating func finishDone(acknowledged: ClientVersion) {
        finish(.done) { !$0.needsDownload && $0.uploadTarget ?? .zero <= acknowledged }
    }

    /// Finishes all waiters, or only those that do not wait out disconnections.
    mutating func finish(_ outcome: SyncOutcome, includingTolerant: Bool) {
        finish(outcome) { includingTolerant || !$0.toleratesOffline }
    }

    private mutating func finish(_ outcome: SyncOutcome, where isFinished: (SyncWaiter) -> Bool) {
        let finished = waiters.filter(isFinished)
        waiters.removeAll(where: isFinished)
        for waiter in finished { waiter.outcome.keep(outcome) }
    }
}
