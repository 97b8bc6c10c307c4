import NIOCore
import NIOHTTP1
import NIOPosix
package import NIOSSL
import NIOWebSocket
package import Transport

/// A WebSocket server on loopback that runs a body for each connection.
package struct LoopbackServer {
    package let port: Int

    /// An upgraded connection, and what was asked for: path and query.
    private typealias Upgraded = (channel: WebSocketStream.Channel, uri: String)

    /// Serves while the body runs.
    package static func with(
        messageLimit: Int = 1 << 20,
        subProtocol: String? = "test#2",
        tls: NIOSSLContext? = nil,
        role: WebSocketStream.Role = .server,
        serve: @escaping @Sendable (WebSocketStream) async throws -> Void,
        _ body: (LoopbackServer) async throws -> Void
    ) async throws {
        try await with(
            messageLimit: messageLimit,
            subProtocol: subProtocol,
            tls: tls,
            role: role,
            serveURI: { stream, _ in try await serve(stream) },
            body
        )
    }

    /// Serves while the body runs; the server's closure gets the path and query of the request.
    package static func with(
        messageLimit: Int = 1 << 20,
        subProtocol: String? = "test#2",
        tls: NIOSSLContext? = nil,
        role: WebSocketStream.Role = .server,
        serveURI serve: @escaping @Sendable (WebSocketStream, _ uri: String) async throws -> Void,
        _ body: (LoopbackServer) async throws -> Void
    ) async throws {
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(host: "127.0.0.1", port: 0) { channel in
                channel.eventLoop.makeCompletedFuture {
                    if let tls {
                        let handler = NIOSSLServerHandler(context: tls)
                        try channel.pipeline.syncOperations.addHandler(handler)
                    }
                    return try configure(channel, role, messageLimit, subProtocol)
                }
            }
        let port = server.channel.localAddress?.port ?? 0
        try await withThrowingTaskGroup { group in
            group.addTask {
                try await server.executeThenClose { connections in
                    try await withThrowingDiscardingTaskGroup { group in
                        for try await connection in connections {
                            group.addTask {
                                guard let (channel, uri) = try? await connection.get() else {
                                    return
                                }
                                try? await WebSocketStream.with(
                                    channel,
                                    subProtocol: subProtocol
                                ) { stream in
                                    try await serve(stream, uri)
                                }
                            }
                        }
                    }
                }
            }
            try await body(LoopbackServer(port: port))
            group.cancelAll()
        }
    }

    private static func configure(
        _ channel: any Channel,
        _ role: WebSocketStream.Role,
        _ limit: Int,
        _ subProtocol: String?
    ) throws -> EventLoopFuture<Upgraded> {
        let upgrader = NIOTypedWebSocketServerUpgrader<Upgraded>(
            maxFrameSize: limit,
            shouldUpgrade: { channel, _ in
                let headers = subProtocol.map { ["Sec-WebSocket-Protocol": $0] as HTTPHeaders }
                return channel.eventLoop.makeSucceededFuture(headers ?? [:])
            },
            upgradePipelineHandler: { channel, head in
                channel.eventLoop.makeCompletedFuture {
                    let stream = try WebSocketStream.wrap(
                        channel,
                        role: role,
                        maximumMessageSizeInBytes: limit
                    )
                    return (stream, head.uri)
                }
            }
        )
        return try channel.pipeline.syncOperations.configureUpgradableHTTPServerPipeline(
            configuration: .init(
                upgradeConfiguration: .init(
                    upgraders: [upgrader],
                    notUpgradingCompletionHandler: { channel in
                        channel.close().flatMapThrowing { throw TransportError.badURL("") }
                    }
                )
            )
        )
    }

    package func client(limit: Int = 1 << 20) throws -> WebSocketClient {
        try WebSocketClient(
            tls: .makeClientConfiguration(),
            connectTimeout: .seconds(20),
            maximumMessageSizeInBytes: limit
        )
    }

    package var url: String { "ws://127.0.0.1:\(port)/path" }
}
