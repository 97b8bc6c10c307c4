import HTTPTypes
import HummingbirdCore
import Logging
import NIOCore
import NIOPosix
import ServerStore
import ServiceLifecycle
package import Settings

/// Serves metrics and health, without authentication, at an address of their own.
package struct MonitoringListener: Sendable {
    private let address: ListenAddress
    private let monitoring: Monitoring
    private let onListening: @Sendable (ListenAddress) async -> Void

    /// The address cannot be listened on.
    package struct BindError: CodedError, CustomStringConvertible {
        let address: ListenAddress
        let reason: String

        package let code = "server.metrics_address"

        package var description: String { "cannot serve metrics on \(address): \(reason)" }
    }

    /// `onListening` receives the real port.
    package init(
        address: ListenAddress,
        monitoring: Monitoring,
        onListening: @escaping @Sendable (ListenAddress) async -> Void = { _ in }
    ) {
        self.address = address
        self.monitoring = monitoring
        self.onListening = onListening
    }

    /// Serves until a graceful shutdown or the task's cancellation.
    package func run() async throws {
        let server = try HTTPServerBuilder.http1(configuration: .init(idleTimeout: .seconds(60)))
            .buildServer(
                configuration: HummingbirdCore.ServerConfiguration(
                    address: .hostname(address.host, port: address.port)
                ),
                eventLoopGroup: MultiThreadedEventLoopGroup.singleton,
                logger: Logger(label: "Monitoring") { _ in SwiftLogNoOpLogHandler() },
                responder: { [monitoring] request, writer, _ in
                    let response = await Self.response(to: request, monitoring)
                    try await writer.write(response: response.head, body: response.body)
                },
                onServerRunning: { [address, onListening] channel in
                    let port = channel.localAddress?.port ?? address.port
                    await onListening(ListenAddress(host: address.host, port: port))
                }
            )
        do {
            try await server.run()
        } catch let error as IOError {
            throw BindError(address: address, reason: error.description)
        }
    }

    private static func response(
        to request: Request,
        _ monitoring: Monitoring
    ) async -> Response {
        let outcome =
            switch (request.method, request.head.path?.prefix { $0 != "?" }) {
            case (.get, "/metrics"): await monitoring.metricsResponse
            case (.get, "/healthz"): await monitoring.healthResponse
            case (.get, "/readyz"): await monitoring.readinessResponse
            default: ClientAPIResponse(.routeNotFound)
            }
        var fields = HTTPFields()
        fields[.contentType] = outcome.contentType
        return Response(
            status: HTTPResponse.Status(code: outcome.status),
            headers: fields,
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: outcome.body ?? []))
        )
    }
}
