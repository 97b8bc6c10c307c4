import SQLite
import SyncClient
import Synchronization
import TestSupport

/// The time and the threads of a simulated world: one thread does all ready work, in an order that
/// the seed decides. If there is none, time jumps to the next moment that a task waits for.
///
/// Everything inside is a task that prefers this executor, or blocking work on one of its lanes, so
/// a seed repeats all events and their times.
final class VirtualTime: TaskExecutor, Sendable {
    fileprivate typealias Work = @Sendable () -> Void

    fileprivate struct Timer {
        let number: Int
        let moment: Duration
        /// A waiting task, rather than an event.
        let isSleeper: Bool
        let work: Work
    }

    fileprivate struct State {
        var now = Duration.zero
        var ready: [Work] = []
        var timers: [Timer] = []
        var nextTimer = 1
        var steps = 0
        var isOver = false
        var followers: [@Sendable (Duration) -> Void] = []
        var random: SplitMix64
    }

    enum Failure: Error, CustomStringConvertible {
        /// Tasks wait for each other, or for something outside the simulation.
        case stuck(at: Duration)
        /// Tasks keep each other busy without end.
        case endless(at: Duration)

        var description: String {
            switch self {
            case .stuck(let moment): "at \(moment) all tasks wait, and nothing is due"
            case .endless(let moment): "at \(moment) there is still no end"
            }
        }
    }

    private static let stepLimit = 3_000_000

    private let state: Mutex<State>

    init(seed: UInt64) {
        state = Mutex(State(random: SplitMix64(seed: seed)))
    }

    var now: Duration { state.withLock { $0.now } }

    /// The number of sleeping tasks.
    var sleeperCount: Int { state.withLock { $0.timers.count(where: \.isSleeper) } }

    /// Learns of every step of the time; must not wait.
    func follow(_ follower: @escaping @Sendable (Duration) -> Void) {
        state.withLock { $0.followers.append(follower) }
    }

    // MARK: Work

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        add { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }

    private func add(_ work: @escaping Work) {
        state.withLock { $0.ready.append(work) }
    }

    /// Runs all work caused by the body, and nothing else, until it returns.
    func run<Result: Sendable>(
        _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        let task = Task(executorPreference: self) {
            defer { self.state.withLock { $0.isOver = true } }
            return try await body()
        }
        let thread = DatabaseExecutor(label: "simulation")
        if let failure = await thread.perform({ self.work() }) { throw failure }
        return try await task.value
    }

    private func work() -> Failure? {
        while true {
            let next = state.withLock { state -> (work: Work?, failure: Failure?) in
                state.steps += 1
                guard state.steps < Self.stepLimit else { return (nil, .endless(at: state.now)) }
                if !state.ready.isEmpty {
                    let index = Int.random(in: 0..<state.ready.count, using: &state.random)
                    state.ready.swapAt(index, state.ready.count - 1)
                    return (state.ready.removeLast(), nil)
                }
                if state.isOver { return (nil, nil) }
                guard let timer = state.takeNextTimer() else {
                    return (nil, .stuck(at: state.now))
                }
                let isLater = timer.moment > state.now
                state.now = max(state.now, timer.moment)
                if isLater { for follower in state.followers { follower(state.now) } }
                return (timer.work, nil)
            }
            guard let work = next.work else { return next.failure }
            work()
        }
    }

    // MARK: Waiting

    /// Throws when the task is cancelled.
    func sleep(_ duration: Duration) async throws {
        let ticket = Ticket()
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation {
                (continuation: CheckedContinuation<Void, any Error>) in
                guard !Task.isCancelled else {
                    return continuation.resume(throwing: CancellationError())
                }
                ticket.keep(continuation)
                ticket.keep(
                    number: add(now + duration, isSleeper: true) { ticket.take()?.resume() }
                )
            }
        } onCancel: {
            guard let sleeper = ticket.take() else { return }
            forget(ticket.number)
            sleeper.resume(throwing: CancellationError())
        }
    }

    /// Does the work at the given moment, which may be now.
    func at(_ moment: Duration, _ work: @escaping @Sendable () -> Void) {
        _ = add(moment, isSleeper: false, work)
    }

    private func add(
        _ moment: Duration,
        isSleeper: Bool,
        _ work: @escaping Work
    ) -> Int {
        state.withLock { state in
            let number = state.nextTimer
            state.nextTimer += 1
            state.timers.append(
                Timer(number: number, moment: moment, isSleeper: isSleeper, work: work)
            )
            return number
        }
    }

    private func forget(_ number: Int) {
        state.withLock { $0.timers.removeAll { $0.number == number } }
    }

    /// The first of timer and cancellation takes the sleeper.
    private final class Ticket: Sendable {
        private let sleeper = Mutex<CheckedContinuation<Void, any Error>?>(nil)
        private let timer = Mutex(0)

        var number: Int { timer.withLock { $0 } }

        func keep(_ continuation: CheckedContinuation<Void, any Error>) {
            sleeper.withLock { $0 = continuation }
        }

        func keep(number: Int) {
            timer.withLock { $0 = number }
        }

        func take() -> CheckedContinuation<Void, any Error>? {
            sleeper.withLock { sleeper in
                defer { sleeper = nil }
                return sleeper
            }
        }
    }
}

extension VirtualTime.State {
    fileprivate mutating func takeNextTimer() -> VirtualTime.Timer? {
        let next = timers.indices.min {
            (timers[$0].moment, timers[$0].number) < (timers[$1].moment, timers[$1].number)
        }
        return next.map { timers.remove(at: $0) }
    }
}

// MARK: Views of this time

extension VirtualTime {
    /// For the sync client.
    var syncTime: SyncTime {
        SyncTime(uptime: { self.now }, sleep: { try await self.sleep($0) })
    }

    /// For the server.
    var clock: VirtualClock { VirtualClock(time: self) }

    /// A lane for blocking work, done in order as on a thread of its own; now and then it is slow.
    func lane() -> DatabaseExecutor {
        let lane = WorkLane()
        return DatabaseExecutor { work in
            if lane.append(work) { self.runNext(in: lane) }
        }
    }

    private func runNext(in lane: WorkLane) {
        let delay = state.withLock { state in
            Int.random(in: 0..<4, using: &state.random) > 0
                ? 0 : Int.random(in: 1...20, using: &state.random)
        }
        let work: Work = {
            if lane.runNext() { self.runNext(in: lane) }
        }
        if delay == 0 { add(work) } else { at(now + .milliseconds(delay), work) }
    }
}

/// A clock that does not move while any task has work to do.
struct VirtualClock: Clock {
    let time: VirtualTime

    var now: VirtualInstant { VirtualInstant(offset: time.now) }
    var minimumResolution: Duration { .nanoseconds(1) }

    func sleep(until deadline: VirtualInstant, tolerance: Duration?) async throws {
        try await time.sleep(deadline.offset - time.now)
    }
}
