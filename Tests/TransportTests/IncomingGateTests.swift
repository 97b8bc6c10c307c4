import NIOCore
import NIOEmbedded
import TestSupport
import Testing

@testable import Transport

/// The memory of incoming messages: bytes count, not messages.
@Suite("Room for incoming messages")
struct IncomingGateTests {
    /// Counts the reads that reach the socket.
    private final class Socket: ChannelOutboundHandler {
        typealias OutboundIn = Never
        private(set) var reads = 0

        func read(context: ChannelHandlerContext) {
            reads += 1
        }
    }

    /// A connection whose socket is read only when a test says so.
    private struct Client {
        let channel: EmbeddedChannel
        private let socket = Socket()

        init(_ user: String, _ budget: IncomingBudget, on loop: EmbeddedEventLoop) throws {
            channel = EmbeddedChannel(loop: loop)
            let pipeline = channel.pipeline.syncOperations
            try pipeline.addHandler(socket)
            try pipeline.addHandler(
                IncomingGate(
                    IncomingShare(of: user, in: budget),
                    maximumMessageSizeInBytes: 1 << 20
                )
            )
            try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        }

        /// Whether the next read reaches the socket.
        func isRead() -> Bool {
            let before = socket.reads
            channel.read()
            return socket.reads > before
        }

        var reads: Int { socket.reads }

        func send(_ bytes: [UInt8]) throws {
            try channel.writeInbound(ByteBuffer(bytes: bytes))
        }

        func takeMessage() {
            channel.pipeline.triggerUserOutboundEvent(IncomingGate.MessageTaken(), promise: nil)
            channel.embeddedEventLoop.run()
        }
    }

    private static let large = 600 << 10

    private static func frame(_ size: Int, first: UInt8 = 0x82) -> [UInt8] {
        let length = (0..<8).map { UInt8(truncatingIfNeeded: size >> (56 - 8 * $0)) }
        return [first, 0xff] + length + [1, 2, 3, 4] + [UInt8](repeating: 0, count: size)
    }

    private func budget() -> IncomingBudget { IncomingBudget(limitInBytes: 1 << 20) }

    @Test("Small messages are read while the receiver takes them, and need no room")
    func small() throws {
        let budget = budget()
        let client = try Client("u", budget, on: EmbeddedEventLoop())
        for _ in 0..<10 { try client.send(Self.frame(1000)) }
        #expect(client.isRead())
        for _ in 0..<10 { try client.send(Self.frame(1000)) }
        #expect(!client.isRead())
        for _ in 0..<10 { client.takeMessage() }
        #expect(client.isRead())
        // Empty ones take memory, too.
        for _ in 0..<200 { try client.send(Self.frame(0)) }
        #expect(!client.isRead())
        #expect(budget.usedBytes == 0)
    }

    @Test("A large message has room from its header until it is taken; the next one waits for that")
    func large() throws {
        let budget = budget()
        let client = try Client("u", budget, on: EmbeddedEventLoop())
        let frame = Self.frame(Self.large)
        try client.send(Array(frame[..<20]))
        #expect(budget.usedBytes > Self.large)
        #expect(client.isRead())
        try client.send(Array(frame[20...]) + frame[..<20])
        #expect(!client.isRead())
        let used = budget.usedBytes
        client.takeMessage()
        // Now the room is that of the second.
        #expect(budget.usedBytes == used)
        #expect(client.reads == 2, "the read that was held back")
        try client.channel.close().wait()
        #expect(budget.usedBytes == 0)
    }

    @Test("A message in many frames has the room of the largest possible one")
    func fragments() throws {
        let budget = budget()
        let client = try Client("u", budget, on: EmbeddedEventLoop())
        try client.send(Self.frame(10_000, first: 0x02))
        #expect(budget.usedBytes == 0)
        try client.send(Self.frame(10_000, first: 0x00))
        #expect(budget.usedBytes == 1 << 20)
        // Empty frames count, too.
        let dust = try Client("v", self.budget(), on: EmbeddedEventLoop())
        try dust.send(Self.frame(0, first: 0x02))
        for _ in 0..<100 { try dust.send(Self.frame(0, first: 0x00)) }
        try dust.send(Self.frame(0, first: 0x80))
        #expect(!dust.isRead())
    }

    @Test("Connections wait for room, and their users are served in turn")
    func turns() throws {
        let (budget, loop) = (budget(), EmbeddedEventLoop())
        let head = Array(Self.frame(Self.large)[..<14])
        let clients = try ["greedy", "greedy", "greedy", "other"].map {
            try Client($0, budget, on: loop)
        }
        for client in clients { try client.send(head) }
        #expect(clients.map { $0.isRead() } == [true, false, false, false])
        try clients[0].channel.close().wait()
        loop.run()
        #expect(clients.map(\.reads) == [1, 1, 0, 0])
        try clients[1].channel.close().wait()
        loop.run()
        #expect(clients.map(\.reads) == [1, 1, 0, 1])
        // A waiting connection may leave.
        try clients[2].channel.close().wait()
        try clients[3].channel.close().wait()
        #expect(budget.usedBytes == 0)
    }

    @Test("Room held for too long is revoked, but only if another connection waits for it")
    func eviction() throws {
        let (budget, loop) = (budget(), EmbeddedEventLoop())
        let head = Array(Self.frame(Self.large)[..<14])
        let slow = try Client("slow", budget, on: loop)
        try slow.send(head)
        loop.advanceTime(by: .hours(1))
        #expect(slow.channel.isActive)
        let quick = try Client("quick", budget, on: loop)
        try quick.send(head)
        #expect(!quick.isRead())
        loop.advanceTime(by: .seconds(5))
        #expect(!slow.channel.isActive)
        loop.run()
        #expect(quick.reads == 1)
        // It has its full turn.
        let third = try Client("third", budget, on: loop)
        try third.send(head)
        loop.advanceTime(by: .seconds(29))
        #expect(quick.channel.isActive)
        loop.advanceTime(by: .seconds(10))
        #expect(!quick.channel.isActive)
        for client in [slow, quick, third] {
            _ = try client.channel.finish(acceptAlreadyClosed: true)
        }
    }

    @Test("Frames are found in any division of the bytes")
    func scanning() {
        for seed in UInt64(0)..<200 {
            var random = SplitMix64(seed: seed)
            var (bytes, expected): ([UInt8], [FrameScanner.Event]) = ([], [])
            for _ in 0..<20 {
                let first: UInt8 = [0x82, 0x02, 0x80, 0x00, 0x89, 0x8a].randomElement(
                    using: &random
                )!
                let size = [0, 1, 125, 126, 70_000].randomElement(using: &random)!
                let isControl = first & 8 != 0
                bytes += Self.frame(isControl ? size & 0x7f : size, first: first)
                guard !isControl else { continue }
                expected.append(.announced(sizeInBytes: size, isLast: first & 0x80 != 0))
                if first & 0x80 != 0 { expected.append(.ended) }
            }
            var scanner = FrameScanner()
            var events: [FrameScanner.Event] = []
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = min(
                    rest.count,
                    [1, 3, 14, 1000, 65_536].randomElement(using: &random)!
                )
                events += scanner.scan(ByteBuffer(bytes: rest.prefix(count)))
                rest = rest.dropFirst(count)
            }
            #expect(events == expected, "seed \(seed)")
        }
    }
}
