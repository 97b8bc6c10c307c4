import LocalRealm
import Synchronization
import Versions

/// An observer of uploads or downloads.
struct ProgressObserver {
    var notifier: ProgressNotifier
    let continuation: AsyncStream<TransferProgress>.Continuation
}

extension RealmClient {
    /// Reports of one direction; the stream ends with the work in the mode that does, or with the
    /// realm. A slow reader gets the newest reports.
    package func progress(
        _ direction: TransferDirection,
        _ mode: ProgressNotifier.Mode
    ) async -> AsyncStream<TransferProgress> {
        // Include the writes made before this call.
        await capture()
        let (stream, continuation) = AsyncStream.makeStream(
            of: TransferProgress.self,
            bufferingPolicy: .bufferingNewest(16)
        )
        guard !isClosed else {
            continuation.finish()
            return stream
        }
        forgetObserversThatLeft()
        let id = nextObserverID
        nextObserverID += 1
        observers[id] = ProgressObserver(
            notifier: ProgressNotifier(
                direction,
                mode,
                localVersion: status.localVersion.rawValue
            ),
            continuation: continuation
        )
        continuation.onTermination = { [weak self] _ in
            self?.observersThatLeft.withLock { _ = $0.insert(id) }
        }
        if let lastTransfer { notify(id, lastTransfer) }
        return stream
    }

    /// Reports the progress to the observers, if it is known and has changed.
    func reportTransfer() {
        forgetObserversThatLeft()
        guard hasDownloaded else { return }
        let report = transfers.report(status)
        guard report != lastTransfer else { return }
        lastTransfer = report
        for id in observers.keys.sorted() { notify(id, report) }
    }

    private func notify(_ id: Int, _ report: TransferReport) {
        guard var observer = observers[id] else { return }
        if let progress = observer.notifier.receive(report) {
            observer.continuation.yield(progress)
        }
        if observer.notifier.isExpired {
            observers[id] = nil
            observer.continuation.finish()
        } else {
            observers[id] = observer
        }
    }

    func finishObservers() {
        for observer in observers.values { observer.continuation.finish() }
        observers = [:]
    }

    private func forgetObserversThatLeft() {
        let ids = observersThatLeft.withLock { ids in
            defer { ids = [] }
            return ids
        }
        for id in ids { observers[id] = nil }
    }
}
