import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import NIOWebSocket

@testable import Transport

/// A WebSocket server on loopback that runs a body for each connection.
struct LoopbackServer {
    let port: Int

    /// Serves while the body runs.
    static func with(
        messageLimit: Int = 1 << 20,
        subProtocol: String? = "test#2",
        tls: NIOSSLContext? = nil,
        role: WebSocketStream.Role = .server,
        serve: @escaping @Sendable (WebSocketStream) async throws -> Void,
        _ body: (LoopbackServer) async throws -> Void
    ) async throws {
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(host: "127.0.0.1", port: 0) { channel in
                channel.eventLoop.makeCompletedFuture {
                    if let tls {
                        let handler = NIOSSLServerHandler(context: tls)
                        try channel.pipeline.syncOperations.addHandler(handler)
                    }
                    return try configure(channel, messageLimit, subProtocol)
                }
            }
        let port = server.channel.localAddress?.port ?? 0
        try await withThrowingTaskGroup { group in
            group.addTask {
                try await server.executeThenClose { connections in
                    try await withThrowingDiscardingTaskGroup { group in
                        for try await connection in connections {
                            group.addTask {
                                guard let channel = try? await connection.get() else { return }
                                try? await WebSocketStream.with(
                                    channel,
                                    role: role,
                                    subProtocol: subProtocol
                                ) { stream in
                                    try await serve(stream)
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
        _ limit: Int,
        _ subProtocol: String?
    ) throws -> EventLoopFuture<WebSocketStream.Channel> {
        let upgrader = NIOTypedWebSocketServerUpgrader<WebSocketStream.Channel>(
            maxFrameSize: limit,
            shouldUpgrade: { channel, _ in
                let headers = subProtocol.map { ["Sec-WebSocket-Protocol": $0] as HTTPHeaders }
                return channel.eventLoop.makeSucceededFuture(headers ?? [:])
            },
            upgradePipelineHandler: { channel, _ in
                channel.eventLoop.makeCompletedFuture {
                    try WebSocketStream.wrap(
                        channel,
                        role: .server,
                        maximumMessageSizeInBytes: limit
                    )
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

    func client(limit: Int = 1 << 20) throws -> WebSocketClient {
        try WebSocketClient(
            tls: .makeClientConfiguration(),
            connectTimeout: .seconds(20),
            maximumMessageSizeInBytes: limit
        )
    }

    var url: String { "ws://127.0.0.1:\(port)/path" }
}
