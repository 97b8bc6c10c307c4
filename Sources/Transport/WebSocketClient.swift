import NIOCore
import NIOHTTP1
import NIOPosix
package import NIOSSL
import NIOWebSocket
import Synchronization

/// Opens WebSocket connections (wire protocol, 2).
package struct WebSocketClient: Sendable {
    private let tls: NIOSSLContext
    private let connectTimeout: Duration
    private let maximumMessageSizeInBytes: Int
    private let clock: any Clock<Duration>

    /// - Parameters:
    ///   - tls: how servers are verified; used for `wss` only.
    ///   - connectTimeout: for name, TCP, TLS and upgrade together.
    package init(
        tls: TLSConfiguration,
        connectTimeout: Duration,
        maximumMessageSizeInBytes: Int,
        clock: any Clock<Duration> = ContinuousClock()
    ) throws {
        self.tls = try NIOSSLContext(configuration: tls)
        self.connectTimeout = connectTimeout
        self.maximumMessageSizeInBytes = maximumMessageSizeInBytes
        self.clock = clock
    }

    /// What the opening request says beside the URL.
    package struct Opening: Sendable {
        /// Without the question mark; holds the token, so it appears in no error and no log.
        package let query: String?
        /// The offered sub-protocols, the best first.
        package let subProtocols: [String]
        package let headers: [(name: String, value: String)]

        package init(
            query: String?,
            subProtocols: [String],
            headers: [(name: String, value: String)] = []
        ) {
            self.query = query
            self.subProtocols = subProtocols
            self.headers = headers
        }
    }

    /// Connects, lends the stream to the body, and ends the connection after it.
    package func withConnection<Result: Sendable>(
        to url: String,
        _ opening: Opening,
        _ body: @escaping @Sendable (any MessageStream) async throws -> Result
    ) async throws -> Result {
        guard let target = WebSocketURL(url) else { throw TransportError.badURL(url) }
        let (channel, subProtocol) = try await connect(to: target, opening)
        return try await WebSocketStream.with(
            channel,
            role: .client,
            subProtocol: subProtocol
        ) { stream in
            try await body(stream)
        }
    }
}

// MARK: Connecting

extension WebSocketClient {
    private enum Upgrade: Sendable {
        case webSocket(WebSocketStream.Channel, subProtocol: String?)
        case rejected(EventLoopFuture<TransportError.Rejection>)
    }

    private func connect(
        to target: WebSocketURL,
        _ opening: Opening
    ) async throws(TransportError) -> (WebSocketStream.Channel, String?) {
        let result = await withTaskGroup(
            of: Swift.Result<(WebSocketStream.Channel, String?), TransportError>.self
        ) { group in
            group.addTask {
                do throws(TransportError) {
                    return .success(try await self.upgrade(target, opening))
                } catch {
                    return .failure(error)
                }
            }
            group.addTask {
                try? await clock.sleep(for: connectTimeout)
                return .failure(.connectTimeout)
            }
            let first = await group.next() ?? .failure(.connectTimeout)
            group.cancelAll()
            // A connection that comes just after its time is not left open.
            while let late = await group.next() {
                if case .success(let (channel, _)) = late {
                    channel.channel.close(promise: nil)
                }
            }
            return first
        }
        return try result.get()
    }

    private func upgrade(
        _ target: WebSocketURL,
        _ opening: Opening
    ) async throws(TransportError) -> (WebSocketStream.Channel, String?) {
        let channel = ChannelBox()
        do {
            return try await withTaskCancellationHandler {
                let upgrade = try await open(target, opening, channel)
                switch try await upgrade.get() {
                case .webSocket(let channel, let subProtocol):
                    return (channel, subProtocol)
                case .rejected(let rejection):
                    throw TransportError.rejected(try await rejection.get())
                }
            } onCancel: {
                channel.close()
            }
        } catch let error as TransportError {
            throw error
        } catch let error as NIOConnectionError {
            throw .unreachable(reason: "\(target.host):\(target.port): \(Self.reason(error))")
        } catch let error as NIOSSLError {
            throw .tls(reason: "\(target.host): \(error)")
        } catch let error as IOError {
            throw .unreachable(reason: "\(target.host):\(target.port): \(error.description)")
        } catch {
            throw .notWebSocket(reason: "\(target.host):\(target.port): \(error)")
        }
    }

    private static func reason(_ error: NIOConnectionError) -> String {
        if let failure = error.connectionErrors.first { return "\(failure.error)" }
        return "the name cannot be resolved"
    }

    private func open(
        _ target: WebSocketURL,
        _ opening: Opening,
        _ box: ChannelBox
    ) async throws -> EventLoopFuture<Upgrade> {
        // The watchdog bounds the whole; the bootstrap's own limit must not be shorter.
        let bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connectTimeout(TimeAmount(connectTimeout) + .seconds(1))
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
        return try await bootstrap.connect(host: target.host, port: target.port) { channel in
            box.keep(channel)
            return channel.eventLoop.makeCompletedFuture {
                if target.isSecure {
                    try channel.pipeline.syncOperations.addHandler(
                        NIOSSLClientHandler(context: tls, serverHostname: Self.tlsName(target.host))
                    )
                }
                var pipeline = NIOUpgradableHTTPClientPipelineConfiguration(
                    upgradeConfiguration: configuration(target, opening)
                )
                // A server speaks first: its message may come in one piece with its answer.
                pipeline.leftOverBytesStrategy = .forwardBytes
                return try channel.pipeline.syncOperations.configureUpgradableHTTPClientPipeline(
                    configuration: pipeline
                )
            }
        }
    }

    /// Addresses are verified as they are, not by name.
    private static func tlsName(_ host: String) -> String? {
        (try? SocketAddress(ipAddress: host, port: 0)) == nil ? host : nil
    }

    private func configuration(
        _ target: WebSocketURL,
        _ opening: Opening
    ) -> NIOTypedHTTPClientUpgradeConfiguration<Upgrade> {
        let limit = maximumMessageSizeInBytes
        let upgrader = NIOTypedWebSocketClientUpgrader<Upgrade>(
            maxFrameSize: limit,
            upgradePipelineHandler: { channel, response in
                channel.eventLoop.makeCompletedFuture {
                    .webSocket(
                        try WebSocketStream.wrap(
                            channel,
                            role: .client,
                            maximumMessageSizeInBytes: limit
                        ),
                        subProtocol: response.headers.first(name: "sec-websocket-protocol")
                    )
                }
            }
        )
        return NIOTypedHTTPClientUpgradeConfiguration(
            upgradeRequestHead: requestHead(target, opening),
            upgraders: [upgrader],
            notUpgradingCompletionHandler: { channel in
                channel.eventLoop.makeCompletedFuture {
                    let collector = RejectionCollector(eventLoop: channel.eventLoop)
                    try channel.pipeline.syncOperations.addHandler(collector)
                    return .rejected(collector.rejection)
                }
            }
        )
    }

    private func requestHead(_ target: WebSocketURL, _ opening: Opening) -> HTTPRequestHead {
        var headers = HTTPHeaders()
        headers.add(name: "Host", value: target.hostHeader)
        if !opening.subProtocols.isEmpty {
            headers.add(
                name: "Sec-WebSocket-Protocol",
                value: opening.subProtocols.joined(separator: ", ")
            )
        }
        for header in opening.headers {
            headers.add(name: header.name, value: header.value)
        }
        return HTTPRequestHead(
            version: .http1_1,
            method: .GET,
            uri: target.path + (opening.query.map { "?\($0)" } ?? ""),
            headers: headers
        )
    }
}

/// Lets a cancellation end a connection whose opening nobody waits for any more.
private final class ChannelBox: Sendable {
    private struct State {
        var channel: (any Channel)?
        var isClosed = false
    }

    private let state = Mutex(State())

    func keep(_ channel: any Channel) {
        let isClosed = state.withLock { state in
            state.channel = channel
            return state.isClosed
        }
        if isClosed { channel.close(promise: nil) }
    }

    func close() {
        let channel = state.withLock { state in
            state.isClosed = true
            return state.channel
        }
        channel?.close(promise: nil)
    }
}
