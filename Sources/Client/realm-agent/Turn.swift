/// A bounded wait for another process to release a resource.
struct Turn {
    private let start = ContinuousClock.now
    private let timeout: Duration
    /// The interval between two checks.
    private static let pause = Duration.milliseconds(100)

    init(timeout: Duration) {
        self.timeout = timeout
    }

    /// Waits until the next check; returns false if the timeout has passed.
    func wait() async -> Bool {
        guard ContinuousClock.now - start < timeout else { return false }
        return (try? await Task.sleep(for: Self.pause)) != nil
    }

    /// The rest of a timeout that began with the turn.
    func rest(of timeout: Duration?) -> Duration? {
        timeout.map { max(.zero, $0 - (ContinuousClock.now - start)) }
    }
}
