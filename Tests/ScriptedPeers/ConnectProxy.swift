internal import NIOCore
internal import NIOPosix
internal import Synchronization

/// A proxy on loopback that understands CONNECT and nothing else. It connects to this machine under
/// every requested name.
package final class ConnectProxy: Sendable {
    package enum Behaviour: Sendable {
        case tunnel
        /// Answers with these bytes, and closes.
        case answer(String)
        /// Never answers.
        case silence
    }

    package let port: Int
    private let log: RequestLog

    private init(port: Int, log: RequestLog) {
        self.port = port
        self.log = log
    }

    /// The request lines so far.
    package var requests: [String] { log.requests }

    /// Serves while the body runs; with credentials (`user:password` in base64), only those who have
    /// them.
    package static func with<Result>(
        _ behaviour: Behaviour = .tunnel,
        credentials: String? = nil,
        on address: String = "127.0.0.1",
        _ body: (ConnectProxy) async throws -> Result
    ) async throws -> Result {
        let log = RequestLog()
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(
                        ConnectHandler(behaviour, credentials: credentials, log)
                    )
                }
            }
            .bind(host: address, port: 0)
            .get()
        do {
            let proxy = ConnectProxy(port: channel.localAddress?.port ?? 0, log: log)
            let result = try await body(proxy)
            try await channel.close()
            return result
        } catch {
            try await channel.close()
            throw error
        }
    }
}

private final class RequestLog: Sendable {
    private let lines = Mutex<[String]>([])

    var requests: [String] { lines.withLock { $0 } }

    func add(_ line: String) {
        lines.withLock { $0.append(line) }
    }
}

/// Reads the head of one request, then does what it is to do.
private final class ConnectHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer

    private let behaviour: ConnectProxy.Behaviour
    private let credentials: String?
    private let log: RequestLog
    private var head = ""

    init(_ behaviour: ConnectProxy.Behaviour, credentials: String?, _ log: RequestLog) {
        self.behaviour = behaviour
        self.credentials = credentials
        self.log = log
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        head += String(buffer: unwrapInboundIn(data))
        guard head.hasSuffix("\r\n\r\n") else { return }
        let lines = head.split(separator: "\r\n").map(String.init)
        let words = lines[0].split(separator: " ")
        log.add(lines[0])
        let isWelcome =
            credentials.map { expected in
                lines.contains { $0.lowercased().hasPrefix("proxy-authorization: basic ") }
                    && lines.contains { $0.hasSuffix(" \(expected)") }
            } ?? true
        let port = words.count > 1 ? words[1].split(separator: ":").last.flatMap { Int($0) } : nil
        guard isWelcome else {
            return answer("HTTP/1.1 407 Who are you\r\nContent-Length: 0\r\n\r\n", context)
        }
        switch behaviour {
        case .silence: return
        case .answer(let text): answer(text, context)
        case .tunnel:
            guard words.first == "CONNECT", let port else {
                return answer("HTTP/1.1 405 No\r\nContent-Length: 0\r\n\r\n", context)
            }
            open(port, context)
        }
    }

    private func answer(_ text: String, _ context: ChannelHandlerContext) {
        let channel = context.channel
        channel.writeAndFlush(ByteBuffer(string: text)).whenComplete { _ in
            channel.close(promise: nil)
        }
    }

    private func open(_ port: Int, _ context: ChannelHandlerContext) {
        let near = context.channel
        let this = NIOLoopBound(self, eventLoop: context.eventLoop)
        ClientBootstrap(group: near.eventLoop)
            .channelInitializer { far in
                far.eventLoop.makeCompletedFuture {
                    try far.pipeline.syncOperations.addHandler(Glue(to: near))
                }
            }
            .connect(host: "127.0.0.1", port: port)
            .whenComplete { result in
                guard case .success(let far) = result else {
                    near.writeAndFlush(
                        ByteBuffer(string: "HTTP/1.1 502 Gone\r\nContent-Length: 0\r\n\r\n")
                    ).whenComplete { _ in near.close(promise: nil) }
                    return
                }
                let pipeline = near.pipeline.syncOperations
                try? pipeline.addHandler(Glue(to: far))
                pipeline.removeHandler(this.value, promise: nil)
                near.writeAndFlush(
                    ByteBuffer(string: "HTTP/1.1 200 Connection established\r\n\r\n"),
                    promise: nil
                )
            }
    }
}

/// Passes everything on to another channel, and its end.
private final class Glue: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let other: any Channel

    init(to other: any Channel) {
        self.other = other
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        other.writeAndFlush(unwrapInboundIn(data), promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        other.close(promise: nil)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}
