import Coordination
import HummingbirdCore
package import Logging
import NIOCore
import NIOPosix
import ServerConfig
import ServerStore
import ServiceLifecycle
package import Settings
package import Surroundings
import SyncProtocol
package import Transport

/// Listens on one port for both HTTP and WebSocket, until it is shut down.
package struct HTTPListener: Sendable {
    let address: ListenAddress
    let services: ClientAPI
    let gate: SyncGate
    let serve: @Sendable (SyncSocket) async -> Void
    var tls: ServerTLS?
    let proxies: TrustedProxies
    var timeouts = HTTPTimeouts()
    var limits = Limits.server
    var census = ConnectionCensus()
    /// Room for incoming bodies of requests.
    var bodies = BodyBudget(limitInBytes: ServerLimits().bodyBytes)
    /// Room for incoming messages.
    var incoming = IncomingBudget(limitInBytes: ServerLimits().incomingBytes)
    let clock: WallClock
    let logger: Logger

    /// The address cannot be listened on.
    package struct BindError: CodedError, CustomStringConvertible {
        let address: ListenAddress
        let reason: String

        package let code = "server.cannot_listen"

        package var description: String { "cannot listen on \(address): \(reason)" }
    }

    /// Calls `onListening` with the real port as soon as clients can connect.
    package func run(onListening: @escaping @Sendable (ListenAddress) async -> Void) async throws {
        let responder = HTTPResponder(
            services: services,
            proxies: proxies,
            bodies: bodies,
            clock: clock
        )
        let sockets = Mailbox<SyncSocket>()
        let builder = HTTPServerBuilder { responder in
            ListenerChannel(
                responder: responder,
                gate: gate,
                sockets: sockets,
                tls: tls,
                timeouts: timeouts,
                limits: limits,
                proxies: proxies,
                census: census,
                incoming: incoming,
                clock: clock
            )
        }
        let server = try builder.buildServer(
            configuration: HummingbirdCore.ServerConfiguration(
                address: .hostname(address.host, port: address.port),
                availableConnectionsDelegate: .maximum(census.acceptable, logger: logger)
            ),
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton,
            logger: logger,
            responder: { request, writer, channel in
                let response = await responder.response(to: request, from: channel)
                try await writer.write(response: response.head, body: response.body)
            },
            onServerRunning: { channel in
                let port = channel.localAddress?.port ?? address.port
                await onListening(ListenAddress(host: address.host, port: port))
            }
        )
        // A sync connection has a task of its own: that of its upgrade has the memory of all calls that
        // led to it, and would keep it.
        try await withThrowingDiscardingTaskGroup { [serve] group in
            group.addTask {
                defer { sockets.finish() }
                do {
                    try await server.run()
                } catch let error as IOError {
                    throw BindError(address: address, reason: error.description)
                }
            }
            while case let upgraded = await sockets.takeAll(), !upgraded.isEmpty {
                for socket in upgraded { group.addTask { await serve(socket) } }
            }
        }
    }
}

extension HTTPListener {
    /// `serve` runs a sync connection to its end.
    package init(
        address: ListenAddress,
        services: ClientAPI,
        gate: SyncGate,
        serve: @escaping @Sendable (SyncSocket) async -> Void,
        tls: ServerTLS?,
        proxies: TrustedProxies,
        census: ConnectionCensus,
        bodies: BodyBudget,
        incoming: IncomingBudget,
        clock: WallClock,
        logger: Logger
    ) {
        self.address = address
        self.services = services
        self.gate = gate
        self.serve = serve
        self.tls = tls
        self.proxies = proxies
        self.census = census
        self.bodies = bodies
        self.incoming = incoming
        self.clock = clock
        self.logger = logger
    }
}
