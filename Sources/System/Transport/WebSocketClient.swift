import NIOCore
import NIOHTTP1
import NIOPosix
package import NIOSSL
import NIOWebSocket
package import Outbound
import Synchronization

/// Opens WebSocket connections (wire protocol, 2).
package struct WebSocketClient: Sendable {
    private let tls: NIOSSLContext
    private let proxies: ProxyRules
    private let connectTimeout: Duration
    private let maximumMessageSizeInBytes: Int
    private let clock: any Clock<Duration>

    /// - Parameters:
    ///   - tls: how servers are verified; used for `wss` only.
    ///   - proxies: which proxy leads to a server; it carries `ws`, too, through a tunnel.
    ///   - connectTimeout: for name, TCP, proxy, TLS and upgrade together.
    package init(
        tls: TLSConfiguration,
        proxies: ProxyRules = .direct,
        connectTimeout: Duration,
        maximumMessageSizeInBytes: Int,
        clock: any Clock<Duration> = ContinuousClock()
    ) throws {
        self.tls = try NIOSSLContext(configuration: tls)
        self.proxies = proxies
        self.connectTimeout = connectTimeout
        self.maximumMessageSizeInBytes = maximumMessageSizeInBytes
        self.clock = clock
    }

    /// The upgrade request besides the URL.
    package struct UpgradeRequest: Sendable {
        /// Without the question mark; contains the token, so it appears in no error and no log.
        package let query: String?
        /// The offered sub-protocols, in order of preference.
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
        _ request: UpgradeRequest,
        _ body: @escaping @Sendable (any MessageStream) async throws -> Result
    ) async throws -> Result {
        guard let target = WebSocketURL(url) else { throw TransportError.badURL(url) }
        let (channel, subProtocol) = try await connect(to: try way(to: target), request)
        return try await WebSocketStream.with(
            channel,
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

    /// The target address, and the proxy on the way.
    private struct Way: Sendable {
        let target: WebSocketURL
        let proxy: ProxyServer?
        let channel = ChannelBox()

        /// The error for a timeout.
        var timeout: TransportError {
            guard let proxy, !channel.isThrough else { return .connectTimeout }
            return .proxy(reason: ProxyFailure.silent.sentence(about: proxy))
        }
    }

    private func way(to target: WebSocketURL) throws(TransportError) -> Way {
        let end = ProxyTarget(host: target.host, port: target.port, isSecure: target.isSecure)
        do throws(ProxyVariableProblem) {
            return Way(target: target, proxy: try proxies.proxy(to: end))
        } catch {
            throw .proxy(reason: error.description)
        }
    }

    private func connect(
        to way: Way,
        _ request: UpgradeRequest
    ) async throws(TransportError) -> (WebSocketStream.Channel, String?) {
        let result = await withTaskGroup(
            of: Swift.Result<(WebSocketStream.Channel, String?), TransportError>.self
        ) { group in
            group.addTask {
                do throws(TransportError) {
                    return .success(try await self.upgrade(way, request))
                } catch {
                    return .failure(error)
                }
            }
            group.addTask {
                try? await clock.sleep(for: connectTimeout)
                return .failure(way.timeout)
            }
            let first = await group.next() ?? .failure(way.timeout)
            group.cancelAll()
            // A connection that opens just after the timeout is not left open.
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
        _ way: Way,
        _ request: UpgradeRequest
    ) async throws(TransportError) -> (WebSocketStream.Channel, String?) {
        do {
            return try await withTaskCancellationHandler {
                let upgrade = try await open(way, request)
                switch try await upgrade.get() {
                case .webSocket(let channel, let subProtocol):
                    return (channel, subProtocol)
                case .rejected(let rejection):
                    throw TransportError.rejected(try await rejection.get())
                }
            } onCancel: {
                way.channel.close()
            }
        } catch {
            let isPlain = error is TransportError
            throw Self.failure(isPlain ? error : way.channel.failure ?? error, of: way)
        }
    }

    private static func failure(_ error: any Error, of way: Way) -> TransportError {
        if let error = error as? TransportError { return error }
        let target = way.target
        if let reason = TLSFailure.sentence(for: error) {
            return .tls(reason: "\(target.host): \(reason)")
        }
        guard let reason = ConnectionFailure.sentence(for: error) else {
            return .notWebSocket(reason: "\(target.host):\(target.port): \(error)")
        }
        if let proxy = way.proxy, !way.channel.isThrough {
            return .proxy(reason: ProxyFailure.unreachable(reason: reason).sentence(about: proxy))
        }
        return .unreachable(reason: "\(target.host):\(target.port): \(reason)")
    }

    private func open(
        _ way: Way,
        _ request: UpgradeRequest
    ) async throws -> EventLoopFuture<Upgrade> {
        // The watchdog bounds the whole; the bootstrap's own limit must not be shorter.
        let bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connectTimeout(TimeAmount(connectTimeout) + .seconds(1))
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
        let target = way.target
        let (host, port) = way.proxy.map { ($0.host, $0.port) } ?? (target.host, target.port)
        return try await bootstrap.connect(host: host, port: port) { channel in
            way.channel.keep(channel)
            return channel.eventLoop.makeCompletedFuture { () throws -> EventLoopFuture<Upgrade> in
                guard let proxy = way.proxy else {
                    return try addHandlers(of: way, request, to: channel)
                }
                let tunnel = ProxyTunnel(proxy: proxy, host: target.host, port: target.port)
                return try tunnel.open(on: channel).flatMap {
                    way.channel.isThrough = true
                    return channel.eventLoop.makeCompletedFuture {
                        try addHandlers(of: way, request, to: channel)
                    }.flatMap { $0 }
                }
            }
        }
    }

    /// TLS and the upgrade, on a channel that is connected to the server or about to be.
    private func addHandlers(
        of way: Way,
        _ request: UpgradeRequest,
        to channel: any Channel
    ) throws -> EventLoopFuture<Upgrade> {
        let handlers = channel.pipeline.syncOperations
        if way.target.isSecure {
            let name = Self.tlsName(way.target.host)
            try handlers.addHandler(NIOSSLClientHandler(context: tls, serverHostname: name))
            try handlers.addHandler(HandshakeWatch(way.channel))
        }
        var pipeline = NIOUpgradableHTTPClientPipelineConfiguration(
            upgradeConfiguration: configuration(way.target, request)
        )
        // A server speaks first: its message may arrive together with its response.
        pipeline.leftOverBytesStrategy = .forwardBytes
        return try handlers.configureUpgradableHTTPClientPipeline(configuration: pipeline)
    }

    /// IP addresses are verified as such, not by name.
    private static func tlsName(_ host: String) -> String? {
        (try? SocketAddress(ipAddress: host, port: 0)) == nil ? host : nil
    }

    private func configuration(
        _ target: WebSocketURL,
        _ request: UpgradeRequest
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
            upgradeRequestHead: requestHead(target, request),
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

    private func requestHead(_ target: WebSocketURL, _ request: UpgradeRequest) -> HTTPRequestHead {
        var headers = HTTPHeaders()
        headers.add(name: "Host", value: target.hostHeader)
        if !request.subProtocols.isEmpty {
            headers.add(
                name: "Sec-WebSocket-Protocol",
                value: request.subProtocols.joined(separator: ", ")
            )
        }
        for header in request.headers {
            headers.add(name: header.name, value: header.value)
        }
        return HTTPRequestHead(
            version: .http1_1,
            method: .GET,
            uri: target.path + (request.query.map { "?\($0)" } ?? ""),
            headers: headers
        )
    }
}
