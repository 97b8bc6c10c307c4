import SyncClient
import Synchronization
import TestSupport
import Testing

/// A clock that stands still until a test moves it.
final class VirtualTime: Sendable {
    private struct State {
        var now = Duration.zero
        var sleepers: [UInt64: (until: Duration, wake: CheckedContinuation<Void, any Error>)] = [:]
        var nextID: UInt64 = 0
    }

    private let state = Mutex(State())

    var now: Duration { state.withLock { $0.now } }

    var time: SyncTime {
        SyncTime(uptime: { self.now }, sleep: { try await self.sleep($0) })
    }

    private func sleep(_ duration: Duration) async throws {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isOver = state.withLock { state in
                    guard !Task.isCancelled else { return true }
                    state.sleepers[id] = (state.now + duration, continuation)
                    return false
                }
                if isOver { continuation.resume(throwing: CancellationError()) }
            }
        } onCancel: {
            let sleeper = state.withLock { $0.sleepers.removeValue(forKey: id) }
            sleeper?.wake.resume(throwing: CancellationError())
        }
    }

    /// Lets time pass, at once.
    func advance(by duration: Duration) {
        let due = state.withLock { state in
            state.now += duration
            let due = state.sleepers.filter { $0.value.until <= state.now }
            for id in due.keys { state.sleepers[id] = nil }
            return due.values.map(\.wake)
        }
        for sleeper in due { sleeper.resume() }
    }

    /// Waits until somebody sleeps for a while in this range from now, and lets it pass.
    ///
    /// - Returns: how long that was.
    @discardableResult
    func pass(_ range: ClosedRange<Duration>) async -> Duration {
        let rest = await sleeper(range)
        advance(by: rest)
        return rest
    }

    /// Waits until somebody sleeps for a while in this range from now, and says how long.
    @discardableResult
    func sleeper(_ range: ClosedRange<Duration>) async -> Duration {
        var rest: Duration?
        let isThere = await eventually {
            rest = state.withLock { state in
                state.sleepers.values.map { $0.until - state.now }.filter(range.contains).min()
            }
            return rest != nil
        }
        #expect(isThere, "nobody sleeps for \(range)")
        return rest ?? range.lowerBound
    }
}
