import Coordination
import Dispatch
import Synchronization

/// A bounded pool of threads for blocking work, shared by any number of executors.
///
/// Each executor does its work in order and one piece at a time, on any free thread. A thread that
/// waits for a slow disk or another program's lock does not delay the others. Threads start when
/// needed and end after some idle time.
package final class DatabaseThreads: Sendable {
    private struct State {
        /// Lanes with work that no thread does yet, in order of arrival.
        var ready: [WorkLane] = []
        var threads = 0
        /// Threads that wait and have not been woken.
        var idle = 0
    }

    private enum Call {
        case none
        case wake
        case start
    }

    private let limit: Int
    private let idleTime: DispatchTimeInterval
    private let state = Mutex(State())
    private let wakes = DispatchSemaphore(value: 0)

    /// - Parameter limit: the largest number of threads.
    package init(limit: Int, idleTimeInSeconds: Int = 10) {
        precondition(limit > 0, "work needs a thread")
        self.limit = limit
        self.idleTime = .seconds(idleTimeInSeconds)
    }

    /// The threads for the realms of this process: more than cores, since most of them wait for
    /// disks and locks.
    package static let shared = DatabaseThreads(limit: 32)

    /// The current number of threads.
    package var count: Int { state.withLock { $0.threads } }

    /// An executor on these threads.
    package func executor() -> DatabaseExecutor {
        let lane = WorkLane()
        return DatabaseExecutor { piece in
            if lane.append(piece) { self.submit(lane) }
        }
    }

    private func submit(_ lane: WorkLane) {
        let call = state.withLock { state -> Call in
            state.ready.append(lane)
            if state.idle > 0 {
                state.idle -= 1
                return .wake
            }
            guard state.threads < limit else { return .none }
            state.threads += 1
            return .start
        }
        switch call {
        case .none: break
        case .wake: wakes.signal()
        case .start: start()
        }
    }

    // MARK: One thread

    private func start() {
        // Otherwise another one does the work, or the next call tries again.
        guard !OwnThread.start({ self.work() }) else { return }
        state.withLock { $0.threads -= 1 }
        if count == 0 { DispatchQueue.global().async { self.borrow() } }
    }

    /// Works on a thread of the caller.
    private func borrow() {
        state.withLock { $0.threads += 1 }
        work()
    }

    private func work() {
        while true {
            if let lane = takeWorkLane() {
                if lane.runNext() { state.withLock { $0.ready.append(lane) } }
            } else if wakes.wait(timeout: .now() + idleTime) == .timedOut, leave() {
                return
            }
        }
    }

    /// If there is none, the thread counts as idle from now on.
    private func takeWorkLane() -> WorkLane? {
        state.withLock { state in
            guard state.ready.isEmpty else { return state.ready.removeFirst() }
            state.idle += 1
            return nil
        }
    }

    /// False if the thread was woken at the very end of its idle time.
    private func leave() -> Bool {
        let isIdle = state.withLock { state in
            guard state.idle > 0 else { return false }
            state.idle -= 1
            state.threads -= 1
            return true
        }
        // The wake-up for this thread is on its way.
        if !isIdle { wakes.wait() }
        return isIdle
    }
}
