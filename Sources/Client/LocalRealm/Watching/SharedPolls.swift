internal import Dispatch

/// Timers that many watches share: one for each interval wakes the process once for all of them.
///
/// Everything runs on the queue of all watches, which makes it safe to share.
final class SharedPolls: @unchecked Sendable {
    private let queue: DispatchQueue
    private var polls: [Duration: Poll] = [:]
    private var lastNumber: UInt64 = 0

    private struct Poll {
        let timer: any DispatchSourceTimer
        var takers: [UInt64: () -> Void] = [:]
    }

    /// Identifies a taker until its end.
    struct Participation {
        fileprivate let interval: Duration
        fileprivate let number: UInt64
    }

    init(on queue: DispatchQueue) {
        self.queue = queue
    }

    /// Calls the closure, on the queue, once in each interval. Call it on the queue.
    func take(every interval: Duration, _ look: @escaping () -> Void) -> Participation {
        lastNumber += 1
        polls[interval, default: Poll(timer: start(interval))].takers[lastNumber] = look
        return Participation(interval: interval, number: lastNumber)
    }

    /// Ends a participation. Call it on the queue.
    func end(_ participation: Participation) {
        let interval = participation.interval
        polls[interval]?.takers[participation.number] = nil
        guard let poll = polls[interval], poll.takers.isEmpty else { return }
        poll.timer.cancel()
        polls[interval] = nil
    }

    private func start(_ interval: Duration) -> any DispatchSourceTimer {
        let timer = DispatchSource.makeTimerSource(queue: queue)
        let time = interval.dispatchInterval
        timer.schedule(deadline: .now() + time, repeating: time, leeway: .milliseconds(100))
        timer.setEventHandler { [weak self] in
            guard let takers = self?.polls[interval]?.takers else { return }
            for look in takers.values { look() }
        }
        timer.activate()
        return timer
    }
}
