import NIOCore
import NIOHTTPTypes

/// Closes a connection whose client does not finish a request in time. A slow body must not occupy
/// the server for longer.
final class RequestDeadline: ChannelInboundHandler {
    typealias InboundIn = HTTPRequestPart

    private let timeout: Duration
    private var timer: Scheduled<Void>?

    init(_ timeout: Duration) {
        self.timeout = timeout
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head:
            let channel = context.channel
            timer = context.eventLoop.scheduleTask(in: TimeAmount(timeout)) {
                channel.close(promise: nil)
            }
        case .body: break
        case .end: stop()
        }
        context.fireChannelRead(data)
    }

    func channelInactive(context: ChannelHandlerContext) {
        stop()
        context.fireChannelInactive()
    }

    private func stop() {
        timer?.cancel()
        timer = nil
    }
}
