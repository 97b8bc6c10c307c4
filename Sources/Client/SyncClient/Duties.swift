import Coordination
import Synchronization

/// Several duties, all of which one task awaits; each has a task only while its work is done.
///
/// A task that waits keeps the memory that its deepest call needed: with a task for each duty, each silent realm took
/// 50 KiB more of the heap.
package final class Duties: Sendable {
    private let duties: [Duty]
    private let time: SyncTime
    private let turns: Mutex<[Turn]>
    /// Raised when a duty may be due earlier than any was before.
    private let attention = Signal()

    private enum Turn {
        /// For the signal, or for the time.
        case waiting(until: Duration?)
        case due(at: Duration, Duty.Occasion)
        case running(isWantedAgain: Bool)

        /// When something is to be done; nil if that is not known yet.
        var moment: Duration? {
            switch self {
            case .waiting(let moment): moment
            case .due(let moment, _): moment
            case .running: nil
            }
        }
    }

    package init(_ duties: [Duty], _ time: SyncTime) {
        let now = time.uptime()
        self.duties = duties
        self.time = time
        self.turns = Mutex(
            duties.map {
                $0.isDueAtOnce ? .due(at: now + $0.delay, .beginning) : .waiting(until: nil)
            }
        )
    }

    /// Carries them out until the task is cancelled, and returns once all work has ended. Call it once.
    ///
    /// The duties follow their signals meanwhile. What was raised too late is not done.
    package func carryOut() async {
        for (number, duty) in duties.enumerated() {
            duty.signal.follow { self.raised(number) }
        }
        await withDiscardingTaskGroup { group in
            while !Task.isCancelled {
                for (number, occasion) in takeDue(at: time.uptime()) {
                    group.addTask {
                        self.done(number, await self.duties[number].work(occasion))
                    }
                }
                await wait()
            }
        }
        for duty in duties { duty.signal.unfollow() }
    }

    private func wait() async {
        let moment = turns.withLock { turns in turns.compactMap(\.moment).min() }
        if let moment {
            _ = await attention.wait(atMost: max(.zero, moment - time.uptime()), time)
        } else {
            await attention.wait()
        }
    }

    // MARK: Turns

    private func raised(_ number: Int) {
        let isNewlyDue = turns.withLock { turns in
            switch turns[number] {
            case .waiting:
                turns[number] = .due(at: time.uptime() + duties[number].delay, .signal)
                return true
            case .due:
                return false
            case .running:
                turns[number] = .running(isWantedAgain: true)
                return false
            }
        }
        if isNewlyDue { attention.raise() }
    }

    private func takeDue(at now: Duration) -> [(number: Int, occasion: Duty.Occasion)] {
        turns.withLock { turns in
            var due: [(Int, Duty.Occasion)] = []
            for number in turns.indices {
                guard let moment = turns[number].moment, moment <= now else { continue }
                if case .due(_, let occasion) = turns[number] {
                    due.append((number, occasion))
                } else {
                    due.append((number, .time))
                }
                turns[number] =
                    duties[number].isConcurrent
                    ? .waiting(until: nil) : .running(isWantedAgain: false)
            }
            return due
        }
    }

    private func done(_ number: Int, _ next: Duty.Next) {
        let now = time.uptime()
        let needsAttention = turns.withLock { turns in
            guard case .running(let isWantedAgain) = turns[number] else { return false }
            turns[number] =
                switch next {
                case .onSignal where !isWantedAgain: .waiting(until: nil)
                case .within(let pause) where !isWantedAgain: .waiting(until: now + pause)
                case .onSignal, .within, .again: .due(at: now + duties[number].delay, .signal)
                }
            return turns[number].moment != nil
        }
        if needsAttention { attention.raise() }
    }
}
