import LocalRealm
import Synchronization
import Versions

/// Observers of uploads and downloads, and the last report they got.
struct TransferObservers: Sendable {
    private var observers: [Int: Observer] = [:]
    private let departures = Departures()
    private var nextID = 1
    private var estimator: TransferEstimator
    private var lastReport: TransferReport?

    private struct Observer {
        var notifier: ProgressNotifier
        let continuation: AsyncStream<TransferProgress>.Continuation
    }

    /// Observers whose readers have left.
    private final class Departures: Sendable {
        let ids = Mutex<Set<Int>>([])
    }

    init(_ status: LocalRealmStatus) {
        self.estimator = TransferEstimator(status)
    }

    /// Reports of one direction; the stream ends with the work in the mode that does, or with
    /// `finish`. A slow reader gets the newest reports.
    mutating func observe(
        _ direction: TransferDirection,
        _ mode: ProgressNotifier.Mode,
        _ status: LocalRealmStatus
    ) -> AsyncStream<TransferProgress> {
        forgetDeparted()
        let (stream, continuation) = AsyncStream.makeStream(
            of: TransferProgress.self,
            bufferingPolicy: .bufferingNewest(16)
        )
        let id = nextID
        nextID += 1
        observers[id] = Observer(
            notifier: ProgressNotifier(
                direction,
                mode,
                localVersion: status.localVersion.rawValue
            ),
            continuation: continuation
        )
        continuation.onTermination = { [departures] _ in
            departures.ids.withLock { _ = $0.insert(id) }
        }
        if let lastReport { notify(id, lastReport) }
        return stream
    }

    /// Reports the progress if it has changed.
    mutating func report(_ status: LocalRealmStatus, bootstrapEstimate: Double? = nil) {
        forgetDeparted()
        let report = estimator.report(status, bootstrapEstimate: bootstrapEstimate)
        guard report != lastReport else { return }
        lastReport = report
        for id in observers.keys.sorted() { notify(id, report) }
    }

    mutating func finish() {
        for observer in observers.values { observer.continuation.finish() }
        observers = [:]
    }

    private mutating func notify(_ id: Int, _ report: TransferReport) {
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

    private mutating func forgetDeparted() {
        let ids = departures.ids.withLock { ids in
            defer { ids = [] }
            return ids
        }
        for id in ids { observers[id] = nil }
    }
}
