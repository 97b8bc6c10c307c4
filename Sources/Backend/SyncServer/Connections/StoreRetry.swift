import Logging
import ServerStore

/// Repeats work of a connection while the store is away.
enum StoreRetry {
    /// Retries, with a pause before each attempt, while it is not the client's fault that the store
    /// cannot be used: as long as another program keeps it locked, and for a while if its server is out of
    /// reach.
    static func run<Result>(
        on connection: isolated SyncConnection,
        _ body: () async throws -> Result
    ) async throws -> Result {
        var pause = Duration.milliseconds(50)
        var waited = Duration.zero
        while true {
            do {
                return try await body()
            } catch let error as StoreError where mayRetry(after: error, waited, connection) {
                connection.logger.notice(
                    "the store is away",
                    metadata: ["code": "\(error.code)", "reason": "\(error)"]
                )
                try await connection.service.timing.clock.sleep(for: pause)
                waited += pause
                pause = min(pause * 2, .seconds(2))
            } catch let failure as SinkFailure where failure.kind == .full && !connection.hasEnded {
                // Its program decides how long that takes. The session hears of a long wait like of one
                // for the store.
                connection.logger.notice(
                    "the sink of asymmetric classes is full",
                    metadata: ["code": "\(failure.code)", "reason": "\(failure)"]
                )
                try await connection.service.timing.clock.sleep(for: pause)
                pause = min(pause * 2, .seconds(2))
            }
        }
    }

    private static func mayRetry(
        after error: StoreError,
        _ waited: Duration,
        _ connection: isolated SyncConnection
    ) -> Bool {
        guard !connection.hasEnded else { return false }
        return switch error.kind {
        case .locked: true
        case .unreachable: waited < connection.service.timing.storeTimeout
        case .unusable, .diskFull, .replaced, .failed, .changed, .unacceptable: false
        }
    }
}
