/// Patience with another process that has what this one needs.
struct Turn {
    private let start = ContinuousClock.now
    private let patience: Duration
    /// Between two looks.
    private static let pause = Duration.milliseconds(100)

    init(patience: Duration) {
        self.patience = patience
    }

    /// Waits until it is time to look again; false if that has been done for long enough.
    func wait() async -> Bool {
        guard ContinuousClock.now - start < patience else { return false }
        return (try? await Task.sleep(for: Self.pause)) != nil
    }

    /// What is left of a time-out that began with the turn.
    func rest(of timeout: Duration?) -> Duration? {
        timeout.map { max(.zero, $0 - (ContinuousClock.now - start)) }
    }
}
