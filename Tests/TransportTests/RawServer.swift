import NIOCore
import NIOPosix

/// A TCP server that sends the same bytes to every client and closes; with nil it stays silent.
enum RawServer {
    static func with(answer: [UInt8]?, _ body: (Int) async throws -> Void) async throws {
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Answerer(answer: answer))
                }
            }
            .bind(host: "127.0.0.1", port: 0)
            .get()
        try await body(channel.localAddress?.port ?? 0)
        try await channel.close()
    }

    private final class Answerer: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        let answer: [UInt8]?

        init(answer: [UInt8]?) {
            self.answer = answer
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            guard let answer else { return }
            let buffer = context.channel.allocator.buffer(bytes: answer)
            let channel = context.channel
            channel.writeAndFlush(buffer).whenComplete { _ in channel.close(promise: nil) }
        }
    }
}
