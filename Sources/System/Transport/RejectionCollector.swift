import NIOCore
import NIOHTTP1

/// Collects the response of a server that does not upgrade, up to a bound, then ends the
/// connection.
final class RejectionCollector: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart

    /// Larger bodies are cut: they are only read in the log.
    private static let maximumBodySizeInBytes = 8192

    private let promise: EventLoopPromise<TransportError.Rejection>
    private var status: Int?
    private var body: [UInt8] = []

    var rejection: EventLoopFuture<TransportError.Rejection> { promise.futureResult }

    init(eventLoop: any EventLoop) {
        self.promise = eventLoop.makePromise()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            status = Int(head.status.code)
        case .body(let part):
            body += part.readableBytesView.prefix(Self.maximumBodySizeInBytes - body.count)
        case .end:
            finish(context)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        finish(context)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        promise.fail(TransportError.notWebSocket(reason: "\(error)"))
        context.close(promise: nil)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        promise.fail(TransportError.lost(reason: "the peer is gone"))
    }

    private func finish(_ context: ChannelHandlerContext) {
        if let status {
            promise.succeed(.init(status: status, body: String(decoding: body, as: UTF8.self)))
        } else {
            promise.fail(TransportError.lost(reason: "the peer is gone"))
        }
        context.close(promise: nil)
    }
}
