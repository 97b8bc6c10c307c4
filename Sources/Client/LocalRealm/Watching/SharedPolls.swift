/// Polls that many watches share: those of one interval wake the process once for all of them.
///
/// Everything runs on the thread of all watches, which makes it safe to share.
final class SharedPolls: @unchecked Sendable {
    private let thread: WatchThread
    /// By interval; its polls end with the last of them.
    private var takers: [Duration: [UInt64: () -> Void]] = [:]
    private var lastNumber: UInt64 = 0

    /// Identifies a taker until its end.
    struct Participation {
        fileprivate let interval: Duration
        fileprivate let number: UInt64
    }

    init(on thread: WatchThread) {
        self.thread = thread
    }

    /// Calls the closure, on the thread, once in each interval. Call it on the thread.
    func take(every interval: Duration, _ look: @escaping () -> Void) -> Participation {
        lastNumber += 1
        if takers[interval] == nil { plan(interval) }
        takers[interval, default: [:]][lastNumber] = look
        return Participation(interval: interval, number: lastNumber)
    }

    /// Ends a participation. Call it on the thread.
    func end(_ participation: Participation) {
        takers[participation.interval]?[participation.number] = nil
    }

    private func plan(_ interval: Duration) {
        thread.run(after: interval) { [weak self] in self?.poll(interval) }
    }

    private func poll(_ interval: Duration) {
        guard let current = takers[interval], !current.isEmpty else {
            takers[interval] = nil
            return
        }
        for look in current.values { look() }
        plan(interval)
    }
}
