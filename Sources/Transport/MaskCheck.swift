import NIOCore
import NIOWebSocket

/// Refuses frames with the wrong masking: a client's must have it, a server's must not.
final class MaskCheck: ChannelInboundHandler {
    typealias InboundIn = WebSocketFrame
    typealias InboundOut = WebSocketFrame

    struct WrongMask: Error {}

    private let isMaskExpected: Bool

    init(role: WebSocketStream.Role) {
        self.isMaskExpected = role == .server
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard (unwrapInboundIn(data).maskKey != nil) == isMaskExpected else {
            context.fireErrorCaught(WrongMask())
            return
        }
        context.fireChannelRead(data)
    }
}
