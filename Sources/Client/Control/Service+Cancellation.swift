import Logging
import ServiceLifecycle

extension Service {
    /// Runs until the task is cancelled, and then stops in order: a connection that was accepted must
    /// be taken up, or NIO traps, so nobody can come any more before those who are there are sent away.
    func runUntilCancelled(logger: Logger) async throws {
        var configuration = ServiceGroupConfiguration(
            services: [.init(service: self)],
            logger: logger
        )
        // Whoever has sent half a request by then is not waited for.
        configuration.maximumGracefulShutdownDuration = .seconds(1)
        let group = ServiceGroup(configuration: configuration)
        let running = Task { try await group.run() }
        try await withTaskCancellationHandler {
            try await running.value
        } onCancel: {
            Task { await group.triggerGracefulShutdown() }
        }
    }
}
