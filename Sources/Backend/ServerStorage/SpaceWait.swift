import Logging
import Platform
import ServerStore

/// Repeats the opening of a store while its disk is full: a server may start meanwhile.
struct SpaceWait: Sendable {
    private let clock: any Clock<Duration>
    private let logger: Logger

    init(clock: any Clock<Duration> = ContinuousClock(), logger: Logger) {
        self.clock = clock
        self.logger = logger
    }

    /// Throws `StoreError` of another kind, and `CancellationError` if the wait is cancelled.
    func run<Outcome>(_ body: () async throws -> Outcome) async throws -> Outcome {
        var hasLogged = false
        while true {
            do {
                return try await body()
            } catch let error as StoreError where error.kind == .diskFull {
                if !hasLogged {
                    logger.error(
                        "waiting for space on the disk",
                        metadata: ["code": "\(error.code)", "reason": "\(error)"]
                    )
                }
                hasLogged = true
                ServiceManager().reportWaiting("waiting for space on the disk")
                try await clock.sleep(for: .seconds(1))
            }
        }
    }
}
