import SyncClient
import Synchronization
import TestSupport
import Testing

/// Time that passes only when a test says so, and then wakes whoever slept until then.
final class ManualTime: Sendable {
    private struct State {
        var now = Duration.zero
        var sleepers: [Int: (end: Duration, continuation: CheckedContinuation<Void, Never>)] = [:]
        var cancelled: Set<Int> = []
        var nextID = 0
    }

    private let state = Mutex(State())

    var now: Duration { state.withLock(\.now) }

    var syncTime: SyncTime {
        SyncTime(uptime: { self.now }, sleep: { try await self.sleep($0) })
    }

    /// Returns when so many tasks sleep: what they had to do is done.
    func settle(asleep count: Int = 1) async {
        #expect(await eventually { state.withLock { $0.sleepers.count } >= count })
    }

    /// Lets time pass, once so many tasks sleep.
    func pass(_ duration: Duration, whenAsleep count: Int = 1) async {
        await settle(asleep: count)
        let due = state.withLock { state in
            state.now += duration
            let due = state.sleepers.filter { $0.value.end <= state.now }
            for id in due.keys { state.sleepers[id] = nil }
            return due.values.map(\.continuation)
        }
        for continuation in due { continuation.resume() }
    }

    private func sleep(_ duration: Duration) async throws {
        let id = state.withLock { state in
            defer { state.nextID += 1 }
            return state.nextID
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if duration <= .zero || state.cancelled.remove(id) != nil { return true }
                    state.sleepers[id] = (state.now + duration, continuation)
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            let sleeper = state.withLock { state in
                let sleeper = state.sleepers.removeValue(forKey: id)
                if sleeper == nil { state.cancelled.insert(id) }
                return sleeper
            }
            sleeper?.continuation.resume()
        }
        try Task.checkCancellation()
    }
}
