import Glibc
import Hummingbird
import Logging
import MetricsFormat
import NIOCore
import NIOHTTP1
import NIOPosix

/// Serves metrics and health, without authentication, at a TCP address.
package struct MetricsServer: Sendable {
    private let host: String
    private let port: Int
    private let metrics: @Sendable () async -> AgentMetrics
    private let readiness: @Sendable () async -> ReadinessReport
    private let onListening: @Sendable (_ port: Int) async -> Void

    /// `onListening` receives the port, which the system chooses if it is given as 0.
    package init(
        host: String,
        port: Int,
        metrics: @escaping @Sendable () async -> AgentMetrics,
        readiness: @escaping @Sendable () async -> ReadinessReport,
        onListening: @escaping @Sendable (_ port: Int) async -> Void = { _ in }
    ) {
        self.host = host
        self.port = port
        self.metrics = metrics
        self.readiness = readiness
        self.onListening = onListening
    }

    /// Runs until the task is cancelled.
    package func run() async throws {
        let router = Router()
        let metrics = metrics
        router.get("metrics") { _, _ in
            Response.text(await metrics().openMetrics, type: OpenMetrics.contentType)
        }
        router.get("healthz") { _, _ in try Response.json(["status": "ok"]) }
        let readiness = readiness
        router.get("readyz") { _, _ in try Response.readiness(await readiness()) }
        let logger = Logger(label: "Control") { _ in SwiftLogNoOpLogHandler() }
        let onListening = onListening
        let application = Application(
            router: router,
            server: .http1(configuration: .init(idleTimeout: .seconds(60))),
            configuration: .init(address: .hostname(host, port: port)),
            onServerRunning: { await onListening($0.localAddress?.port ?? 0) },
            logger: logger
        )
        do {
            try await application.runUntilCancelled(logger: logger)
        } catch let error as IOError {
            throw ControlServer.Unservable(reason: String(cString: strerror(error.errnoCode)))
        }
    }
}
