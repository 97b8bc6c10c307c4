import NIOCore
import NIOHTTP1
import Outbound

/// Asks a proxy for a tunnel (RFC 9110, 9.3.6), and leaves a channel that behaves as if connected
/// to the server itself.
struct ProxyTunnel: Sendable {
    let proxy: ProxyServer
    let host: String
    let port: Int

    /// Adds the handlers that request the tunnel once the channel is connected; all of them are
    /// removed when the tunnel is open.
    ///
    /// The caller sets the timeout.
    func open(on channel: any Channel) throws -> EventLoopFuture<Void> {
        let encoder = HTTPRequestEncoder()
        let decoder = ByteToMessageHandler(HTTPResponseDecoder(leftOverBytesStrategy: .dropBytes))
        let tunnel = channel.eventLoop.makePromise(of: Void.self)
        let request = TunnelRequest(head: head, tunnel: tunnel)
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandlers([encoder, decoder, request])
        let handlers = NIOLoopBound((encoder, decoder, request), eventLoop: channel.eventLoop)
        return tunnel.futureResult.flatMapErrorThrowing { [proxy] error in
            let failure = error as? ProxyFailure ?? .unreachable(reason: "\(error)")
            throw TransportError.proxy(reason: failure.sentence(about: proxy))
        }.flatMap {
            let (encoder, decoder, request) = handlers.value
            let pipeline = channel.pipeline.syncOperations
            return pipeline.removeHandler(request)
                .and(pipeline.removeHandler(decoder))
                .and(pipeline.removeHandler(encoder))
                .map { _ in }
        }
    }

    private var head: HTTPRequestHead {
        let target = (host.contains(":") ? "[\(host)]" : host) + ":\(port)"
        var headers: HTTPHeaders = ["Host": target]
        if let credentials = proxy.credentials {
            headers.add(name: "Proxy-Authorization", value: credentials.authorization)
        }
        return HTTPRequestHead(version: .http1_1, method: .CONNECT, uri: target, headers: headers)
    }
}

/// Sends CONNECT and waits for the response.
private final class TunnelRequest: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundOut = HTTPClientRequestPart

    private let head: HTTPRequestHead
    private let tunnel: EventLoopPromise<Void>

    init(head: HTTPRequestHead, tunnel: EventLoopPromise<Void>) {
        self.head = head
        self.tunnel = tunnel
    }

    func channelActive(context: ChannelHandlerContext) {
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        context.fireChannelActive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head) where 200..<300 ~= head.status.code: break
        case .head(let head):
            let isUnauthorized = head.status == .proxyAuthenticationRequired
            tunnel.fail(
                isUnauthorized
                    ? ProxyFailure.unauthorized : .refused(status: Int(head.status.code))
            )
            context.close(promise: nil)
        case .body: break
        case .end: tunnel.succeed()
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        tunnel.fail(ProxyFailure.unreachable(reason: "it ends the connection"))
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        tunnel.fail(ProxyFailure.unreachable(reason: "it does not speak HTTP"))
        context.close(promise: nil)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        tunnel.fail(ProxyFailure.unreachable(reason: "it ends the connection"))
    }
}
