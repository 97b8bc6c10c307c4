import NIOCore
import NIOHTTP1
import Surroundings

/// Guards a connection until its first request: closes it if the request is late or malformed, or
/// when the server stops.
///
/// It follows the parser in the pipeline, and is removed when the request has arrived.
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
        // Refused upgrades arrive as errors too, and have a response of their own.
        guard error is HTTPParserError else { return context.fireErrorCaught(error) }
        UpgradeRejection(status: 400, text: "malformed request")
            .send(on: context.channel, at: clock)
    }
}
