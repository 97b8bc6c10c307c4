import NIOCore
import NIOWebSocket

/// Refuses frames with the wrong masking (a client must mask, a server must not), and frames of
/// extensions, since none was offered (wire protocol, 2.6).
final class FrameCheck: ChannelInboundHandler {
    typealias InboundIn = WebSocketFrame
    typealias InboundOut = WebSocketFrame

    enum Failure: Error {
        case wrongMask
        case reservedBit
    }

    private let isMaskExpected: Bool

    init(role: WebSocketStream.Role) {
        self.isMaskExpected = role == .server
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = unwrapInboundIn(data)
        guard (frame.maskKey != nil) == isMaskExpected else {
            context.fireErrorCaught(Failure.wrongMask)
            return
        }
        guard !frame.rsv1, !frame.rsv2, !frame.rsv3 else {
            context.fireErrorCaught(Failure.reservedBit)
            return
        }
        context.fireChannelRead(data)
    }
}
