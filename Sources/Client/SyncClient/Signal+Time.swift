package import Coordination

extension Signal {
    /// Waits for the signal, but no longer than the duration; true if it was raised in time.
    package func wait(atMost duration: Duration, _ time: SyncTime) async -> Bool {
        await wait { try await time.sleep(duration) }
    }
}
