/// The sync client's source of time: uptime and sleeping. A simulation supplies its own.
package struct SyncTime: Sendable {
    /// Since some fixed point; never goes back.
    package let uptime: @Sendable () -> Duration
    /// Throws when the task is cancelled.
    package let sleep: @Sendable (Duration) async throws -> Void

    package init(
        uptime: @escaping @Sendable () -> Duration,
        sleep: @escaping @Sendable (Duration) async throws -> Void
    ) {
        self.uptime = uptime
        self.sleep = sleep
    }

    /// The time of this machine.
    package static let continuous: SyncTime = {
        let start = ContinuousClock.now
        return SyncTime(
            uptime: { ContinuousClock.now - start },
            sleep: { try await Task.sleep(for: $0) }
        )
    }()
}
