import Synchronization

/// Hands the events of one realm to those who listen.
final class RealmEvents: Sendable {
    private struct Listeners {
        var next = 0
        var hasEnded = false
        var streams: [Int: AsyncStream<RealmEvent>.Continuation] = [:]
    }

    private let report: @Sendable (RealmEvent) -> Void
    private let listeners = Mutex(Listeners())

    /// - Parameter report: receives every event as it happens; must not block.
    init(_ report: @escaping @Sendable (RealmEvent) -> Void) {
        self.report = report
    }

    func publish(_ event: RealmEvent) {
        report(event)
        for stream in listeners.withLock({ Array($0.streams.values) }) { stream.yield(event) }
    }

    /// The events from now on. A listener that is slower than the events loses the oldest beyond
    /// `capacity`.
    func stream(capacity: Int) -> AsyncStream<RealmEvent> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: RealmEvent.self,
            bufferingPolicy: .bufferingNewest(capacity)
        )
        let number = listeners.withLock { listeners -> Int? in
            guard !listeners.hasEnded else { return nil }
            listeners.next += 1
            listeners.streams[listeners.next] = continuation
            return listeners.next
        }
        guard let number else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in
            self?.listeners.withLock { $0.streams[number] = nil }
        }
        return stream
    }

    /// No event comes any more.
    func finish() {
        let streams = listeners.withLock { listeners in
            listeners.hasEnded = true
            return Array(listeners.streams.values)
        }
        for stream in streams { stream.finish() }
    }
}
