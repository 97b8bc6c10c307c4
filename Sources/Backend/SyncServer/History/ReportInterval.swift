/// Tells when long work should be reported again.
struct ReportInterval: Sendable {
    private typealias Question = @Sendable () -> Bool

    /// Returns a question whose answer is true once the interval has passed.
    private let begin: @Sendable () -> Question
    private var hasPassed: Question

    init(of interval: Duration, on clock: some Clock<Duration>) {
        let begin: @Sendable () -> Question = {
            let end = clock.now.advanced(by: interval)
            return { clock.now >= end }
        }
        self.begin = begin
        self.hasPassed = begin()
    }

    /// Whether the interval has passed since this was true last, or since the beginning.
    mutating func isDue() -> Bool {
        guard hasPassed() else { return false }
        hasPassed = begin()
        return true
    }
}
