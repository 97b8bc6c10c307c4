import NIOCore
import NIOPosix

/// A bare TCP connection to a loopback port, for bytes that no correct WebSocket end sends.
struct RawConnection {
    private let outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
    private var inbound: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator
    private var received: [UInt8] = []

    /// The key and the accept hash of RFC 6455, 1.3.
    static let key = "dGhlIHNhbXBsZSBub25jZQ=="
    static let accept = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="

    static func with(
        port: Int,
        _ body: @escaping @Sendable (inout RawConnection) async throws -> Void
    ) async throws {
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(
                        wrappingChannelSynchronously: channel
                    )
                }
            }
        try await channel.executeThenClose { inbound, outbound in
            var connection = RawConnection(
                outbound: outbound,
                inbound: inbound.makeAsyncIterator()
            )
            try await body(&connection)
        }
    }

    /// Upgrades as a client behind a proxy might, and returns the head of the response.
    mutating func upgrade(path: String = "/") async throws -> String {
        try await send(
            """
            GET \(path) HTTP/1.1\r
            Host: localhost\r
            connection: keep-alive, Upgrade\r
            Upgrade: websocket\r
            Sec-WebSocket-Key: \(Self.key)\r
            Sec-WebSocket-Version: 13\r
            Sec-WebSocket-Protocol: test#2\r
            \r

            """.utf8
        )
        return try await receiveHead()
    }

    func send(_ bytes: some Collection<UInt8>) async throws {
        try await outbound.write(ByteBuffer(bytes: bytes))
    }

    /// Everything up to the first empty line.
    mutating func receiveHead() async throws -> String {
        let end = Array("\r\n\r\n".utf8)
        while true {
            if let range = received.firstRange(of: end) {
                let head = received[..<range.upperBound]
                received.removeSubrange(..<range.upperBound)
                return String(decoding: head, as: UTF8.self)
            }
            guard try await receiveMore() else { return "" }
        }
    }

    /// So many bytes, or fewer if the connection ends before.
    mutating func receive(_ count: Int) async throws -> [UInt8] {
        while received.count < count, try await receiveMore() {}
        defer { received.removeFirst(min(count, received.count)) }
        return Array(received.prefix(count))
    }

    private mutating func receiveMore() async throws -> Bool {
        guard let buffer = try await inbound.next(isolation: nil) else { return false }
        received += buffer.readableBytesView
        return true
    }
}
