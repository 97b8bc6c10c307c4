import Coordination
package import Logging
package import Programs

/// Delivers the lines of a spool to a program, batch by batch.
///
/// The program reads JSON lines on its standard input, and has taken them when it ends with status 0.
/// Otherwise it gets the same lines again, after a growing delay.
package struct SinkDelivery<Time: Clock>: Sendable where Time.Duration == Duration {
    private let spool: Spool
    private let clock: Time
    private let logger: Logger
    private let deliver: @Sendable ([UInt8]) async throws(ProgramFailure) -> Void

    /// Before the second attempt; doubled before each further one.
    private static var firstDelay: Duration { .seconds(1) }
    private static var longestDelay: Duration { .seconds(300) }

    package init(
        _ spool: Spool,
        clock: Time,
        logger: Logger,
        deliver: @escaping @Sendable ([UInt8]) async throws(ProgramFailure) -> Void
    ) {
        self.spool = spool
        self.clock = clock
        self.logger = logger
        self.deliver = deliver
    }

    package init(_ spool: Spool, to program: Program, clock: Time, logger: Logger) {
        self.init(spool, clock: clock, logger: logger) { lines throws(ProgramFailure) in
            _ = try await program.output(input: lines)
        }
    }

    /// Returns when the task is cancelled. A batch whose program is stopped by that is delivered again
    /// at the next start.
    package func run() async {
        var delay = Self.firstDelay
        while !Task.isCancelled {
            do {
                guard try await deliverNext() else {
                    await spool.content.wait()
                    continue
                }
                delay = Self.firstDelay
            } catch {
                if Task.isCancelled { return }
                report(error, retryIn: delay)
                try? await clock.sleep(for: delay)
                delay = min(delay * 2, Self.longestDelay)
            }
        }
    }

    /// False if there is nothing to deliver.
    private func deliverNext() async throws -> Bool {
        let spool = spool
        let batch = try await BlockingCall.run(label: "spool") { () throws(SpoolError) in
            try spool.nextBatch()
        }
        guard let batch else { return false }
        if batch.tornBytes > 0 {
            logger.notice(
                "spool ended in a torn line",
                metadata: ["bytes": "\(batch.tornBytes)"]
            )
        }
        try await deliver(batch.lines)
        try await BlockingCall.run(label: "spool") { () throws(SpoolError) in
            try spool.remove(batch)
        }
        return true
    }

    private func report(_ error: any Error, retryIn delay: Duration) {
        logger.error(
            "delivery to the sink of asymmetric classes failed",
            metadata: [
                "code": "server.sink", "reason": "\(error)", "bytes": "\(spool.size)",
                "retry_in": "\(delay)",
            ]
        )
    }
}
