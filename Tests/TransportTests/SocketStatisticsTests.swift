import SyncProtocol
import TestSupport
import Testing

@testable import Transport

@Suite("The kernel's measurements of a connection", .timeLimit(.minutes(10)))
struct SocketStatisticsTests {
    private func exchange(_ stream: any MessageStream, messages: Int) async throws {
        for _ in 0..<messages {
            try await stream.send([UInt8](repeating: 7, count: 1_000))
            _ = try await stream.receive()
        }
    }

    @Test("Round trip and segments of a WebSocket are reported, and grow with the traffic")
    func overTCP() async throws {
        let tests = MessageStreamTests()
        try await tests.connect(.webSocket, server: MessageStreamTests.echo) { stream in
            try await self.exchange(stream, messages: 1)
            let first = try #require(await stream.statistics())
            #expect(first.roundTrip > .zero)
            #expect(first.roundTrip < .seconds(10))
            #expect(first.sentSegments > 0)
            #expect(first.resentSegments <= first.sentSegments)
            try await self.exchange(stream, messages: 30)
            let second = try #require(await stream.statistics())
            #expect(second.sentSegments >= first.sentSegments + 30)
            #expect(second.receivedSegments >= first.receivedSegments + 30)
            await stream.close(.normal, reason: "")
        }
    }

    @Test("In-memory and closed connections have no measurements")
    func nothing() async throws {
        let tests = MessageStreamTests()
        try await tests.connect(.inMemory, server: MessageStreamTests.echo) { stream in
            #expect(await stream.statistics() == nil)
            await stream.close(.normal, reason: "")
        }
        try await tests.connect(.webSocket, server: { _ in }) { stream in
            _ = try? await stream.receive()
            try await until { await stream.statistics() == nil }
        }
    }
}
