import NIOCore
import NIOHTTP1

/// Watches over a connection until its first request is there: one that does not bring it in time, or
/// brings something else, is closed, and so is every one when the server stops.
///
/// It stands behind the parser, and is removed when the request is there.
final class FirstRequestGuard: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = NIOAny

    /// Finds the handler in its pipeline.
    static let name = "first-request-guard"

    private let timeout: Duration
    private let clock: WallClock
    private var timer: Scheduled<Void>?

    init(timeout: Duration, clock: WallClock) {
        self.timeout = timeout
        self.clock = clock
    }

    func handlerAdded(context: ChannelHandlerContext) {
        let channel = context.channel
        timer = context.eventLoop.scheduleTask(in: TimeAmount(timeout)) {
            channel.close(promise: nil)
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        timer?.cancel()
        timer = nil
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is ChannelShouldQuiesceEvent {
            context.close(promise: nil)
        } else {
            context.fireUserInboundEventTriggered(event)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // Refused upgrades come by as errors too, and have an answer of their own.
        guard error is HTTPParserError else { return context.fireErrorCaught(error) }
        UpgradeRejection(status: 400, text: "malformed request")
            .send(on: context.channel, at: clock)
    }
}
