import Logging
import ServiceLifecycle

extension Service {
    /// Runs until the task is cancelled, then stops in order. NIO traps if an accepted connection
    /// is not handled. So stop accepting first, then close the open connections.
    func runUntilCancelled(logger: Logger) async throws {
        var configuration = ServiceGroupConfiguration(
            services: [.init(service: self)],
            logger: logger
        )
        // Do not wait for clients that have sent half a request.
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
