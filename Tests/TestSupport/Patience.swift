/// Waits of tests for what other tasks, threads and processes do.
///
/// A test must not depend on how fast the machine is. So the limit is far above what a busy one needs,
/// and is only reached by what never happens; a condition that holds is noticed within a millisecond.
package enum Patience {
    package static let limit = Duration.seconds(180)
}

/// A test's condition did not become true in time.
package struct NeverHappened: Error, CustomStringConvertible {
    package let description: String
}

/// Waits until the condition holds; false if the limit passes first, or the task is cancelled.
package func eventually(
    within limit: Duration = Patience.limit,
    _ condition: () async throws -> Bool
) async rethrows -> Bool {
    let clock = ContinuousClock()
    let start = clock.now
    while true {
        if try await condition() { return true }
        let elapsed = clock.now - start
        guard elapsed < limit, !Task.isCancelled else { return false }
        // What happens in this process mostly needs a few turns of its tasks, not time.
        if elapsed < .milliseconds(5) {
            await Task.yield()
        } else {
            try? await clock.sleep(for: min(max(elapsed / 20, .milliseconds(1)), .milliseconds(20)))
        }
    }
}

/// Waits until the condition holds, and throws if it never does.
package func until(
    fileID: StaticString = #fileID,
    line: UInt = #line,
    _ condition: () async throws -> Bool
) async throws {
    guard try await !eventually(condition) else { return }
    try Task.checkCancellation()
    throw NeverHappened(
        description: "\(fileID):\(line): it did not happen within \(Patience.limit)"
    )
}
