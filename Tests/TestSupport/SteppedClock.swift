import Synchronization

/// A moment on a clock of a test, counted from the clock's beginning.
package struct VirtualInstant: InstantProtocol {
    package let offset: Duration

    package init(offset: Duration) {
        self.offset = offset
    }

    package func advanced(by duration: Duration) -> VirtualInstant {
        VirtualInstant(offset: offset + duration)
    }

    package func duration(to other: VirtualInstant) -> Duration {
        other.offset - offset
    }

    package static func < (left: VirtualInstant, right: VirtualInstant) -> Bool {
        left.offset < right.offset
    }
}

/// A clock that moves only when a test moves it, and then wakes the tasks that slept until that time.
package final class SteppedClock: Clock {
    private struct State {
        var now = Duration.zero
        /// In the order in which they went to sleep.
        var sleepers: [(id: Int, end: Duration, continuation: CheckedContinuation<Void, Never>)] =
            []
        var nextID = 0

        mutating func remove(_ id: Int) -> CheckedContinuation<Void, Never>? {
            sleepers.firstIndex { $0.id == id }.map { sleepers.remove(at: $0).continuation }
        }
    }

    private let state = Mutex(State())

    package init() {}

    package var now: VirtualInstant { VirtualInstant(offset: uptime) }
    package var minimumResolution: Duration { .zero }

    /// The time that has passed on this clock.
    package var uptime: Duration { state.withLock { $0.now } }

    package func sleep(until deadline: VirtualInstant, tolerance: Duration?) async throws {
        let id = state.withLock { state in
            defer { state.nextID += 1 }
            return state.nextID
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    // A cancellation before this line finds no sleeper; one after it does.
                    if deadline.offset <= state.now || Task.isCancelled { return true }
                    state.sleepers.append((id, deadline.offset, continuation))
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.remove(id) }?.resume()
        }
        try Task.checkCancellation()
    }

    /// Lets time pass, at once.
    package func advance(by duration: Duration) {
        let woken = state.withLock { state in
            state.now += duration
            let due = state.sleepers.filter { $0.end <= state.now }
            state.sleepers.removeAll { $0.end <= state.now }
            return due
        }
        for sleeper in woken { sleeper.continuation.resume() }
    }

    /// Returns when so many tasks sleep: what they had to do is done.
    package func settle(
        asleep count: Int = 1,
        fileID: StaticString = #fileID,
        line: UInt = #line
    ) async throws {
        try await until(fileID: fileID, line: line) {
            state.withLock { $0.sleepers.count } >= count
        }
    }

    /// Lets time pass, once so many tasks sleep.
    package func pass(
        _ duration: Duration,
        whenAsleep count: Int = 1,
        fileID: StaticString = #fileID,
        line: UInt = #line
    ) async throws {
        try await settle(asleep: count, fileID: fileID, line: line)
        advance(by: duration)
    }

    /// Waits until a task sleeps for a while in this range from now, and lets it pass.
    ///
    /// - Returns: how long that was.
    @discardableResult
    package func pass(
        _ range: ClosedRange<Duration>,
        fileID: StaticString = #fileID,
        line: UInt = #line
    ) async throws -> Duration {
        let rest = try await sleeper(range, fileID: fileID, line: line)
        advance(by: rest)
        return rest
    }

    /// Waits until a task sleeps for a while in this range from now, and says how long.
    @discardableResult
    package func sleeper(
        _ range: ClosedRange<Duration>,
        fileID: StaticString = #fileID,
        line: UInt = #line
    ) async throws -> Duration {
        var rest = range.lowerBound
        try await until(fileID: fileID, line: line) {
            let shortest = state.withLock { state in
                state.sleepers.map { $0.end - state.now }.filter(range.contains).min()
            }
            rest = shortest ?? rest
            return shortest != nil
        }
        return rest
    }
}
