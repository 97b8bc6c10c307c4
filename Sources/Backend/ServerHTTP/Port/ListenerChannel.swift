import Coordination
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1
import NIOWebSocket
import Surroundings
import SyncProtocol
import Transport

/// Serves each incoming connection: its first request either becomes a WebSocket, or starts a
/// series of HTTP requests. Both use one port, so that a client needs only one URL (app services,
/// 3.3).
struct ListenerChannel: ServerChildChannel, HTTPChannelHandler {
    enum Upgraded: Sendable {
        case webSocket(SyncSocket)
        case http(NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>)
        case rejected(UpgradeRejection)
    }

    struct Value: ServerChildChannelValue {
        let channel: any Channel
        let result: EventLoopFuture<Upgraded>
    }

    let responder: HTTPChannelHandler.Responder
    let gate: SyncGate
    /// Sync connections, to be served elsewhere.
    let sockets: Mailbox<SyncSocket>
    let tls: ServerTLS?
    let timeouts: HTTPTimeouts
    let limits: Limits
    let proxies: TrustedProxies
    let census: ConnectionCensus
    let incoming: IncomingBudget
    let clock: WallClock

    /// A connection keeps its buffer: most send little.
    private static let receiveBuffers = AdaptiveRecvByteBufferAllocator(
        minimum: 256,
        initial: 1024,
        maximum: 65536
    )

    /// The limits allow no further connection.
    private struct TooMany: Error {}

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        let peer = channel.remoteAddress?.ipAddress
        // Behind a proxy, sync connections are counted at their upgrade, which names the client.
        let address: [ConnectionCensus.Place] =
            proxies.isProxy(peer) ? [] : [.address(proxies.limitKey(of: peer, forwarded: []))]
        guard census.admit([.any] + address, until: channel) else {
            // Without a response: one would have to wait for the request, and for TLS.
            channel.close(promise: nil)
            return channel.eventLoop.makeSucceededFuture(
                Value(channel: channel, result: channel.eventLoop.makeFailedFuture(TooMany()))
            )
        }
        return channel.eventLoop.makeCompletedFuture {
            try channel.syncOptions?.setOption(.recvAllocator, value: Self.receiveBuffers)
            // Keeps small what is read without room.
            try channel.syncOptions?.setOption(.maxMessagesPerRead, value: 1)
            if let tls { try channel.pipeline.syncOperations.addHandler(tls.handler()) }
            let upgrader = SyncUpgrader(
                gate: gate,
                limits: limits,
                proxies: proxies,
                census: census,
                incoming: incoming,
                clock: clock
            )
            var configuration = NIOUpgradableHTTPServerPipelineConfiguration(
                upgradeConfiguration: NIOTypedHTTPServerUpgradeConfiguration(
                    upgraders: [upgrader],
                    notUpgradingCompletionHandler: { channel in
                        channel.eventLoop.makeCompletedFuture {
                            try finishWithoutUpgrade(channel, upgrader.rejection, logger)
                        }
                    }
                )
            )
            // Requests of one connection are served in order anyway. Hummingbird responds to
            // errors. The types of headers make them valid.
            configuration.enablePipelining = false
            configuration.enableErrorHandling = false
            configuration.enableResponseHeaderValidation = false
            let result = try channel.pipeline.syncOperations
                .configureUpgradableHTTPServerPipeline(configuration: configuration)
            try channel.pipeline.syncOperations.addHandler(
                FirstRequestGuard(timeout: timeouts.request, clock: clock),
                name: FirstRequestGuard.name
            )
            return Value(
                channel: channel,
                result: result.map { upgraded in
                    channel.pipeline.removeHandler(name: FirstRequestGuard.name, promise: nil)
                    return upgraded
                }
            )
        }
    }

    private func finishWithoutUpgrade(
        _ channel: any Channel,
        _ rejection: UpgradeRejection?,
        _ logger: Logger
    ) throws -> Upgraded {
        guard let rejection else {
            let pipeline = channel.pipeline.syncOperations
            try pipeline.addHandler(HTTP1ToHTTPServerCodec(secure: tls != nil))
            try pipeline.addHandler(RequestDeadline(timeouts.request))
            try pipeline.addHandler(
                HTTPConnectionStateHandler(idleTimeout: timeouts.idle, logger: logger)
            )
            return .http(
                try NIOAsyncChannel(
                    wrappingChannelSynchronously: channel,
                    configuration: .init(isOutboundHalfClosureEnabled: true)
                )
            )
        }
        // NIO has removed the request from the pipeline: this code must respond.
        rejection.send(on: channel, at: clock)
        return .rejected(rejection)
    }

    func handle(value: Value, logger: Logger) async {
        do {
            switch try await value.result.get() {
            case .http(let channel):
                await handleHTTP(asyncChannel: channel, logger: logger)
            case .webSocket(let socket):
                if !sockets.put(socket) { try await value.channel.close() }
            case .rejected(let rejection):
                logger.debug(
                    "sync connection refused",
                    metadata: ["status": "\(rejection.status)", "reason": "\(rejection.text)"]
                )
                try await value.channel.closeFuture.get()
            }
        } catch {
            logger.debug("connection ended early", metadata: ["error": "\(error)"])
            try? await value.channel.close()
        }
    }
}

/// Timeouts of a connection (wire protocol, 11).
package struct HTTPTimeouts: Hashable, Sendable {
    /// For the first request to arrive, and for the body of each.
    package var request: Duration
    /// Between requests.
    package var idle: Duration

    package init(request: Duration = .seconds(30), idle: Duration = .seconds(60)) {
        self.request = request
        self.idle = idle
    }
}
