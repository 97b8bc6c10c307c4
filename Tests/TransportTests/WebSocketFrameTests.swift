import NIOCore
import ScriptedPeers
import SyncProtocol
import Testing

@testable import Transport

/// Framing rules that two correct ends never exercise (wire protocol, 2.6).
@Suite("WebSocket frames, byte by byte", .timeLimit(.minutes(10)))
struct WebSocketFrameTests {
    /// A client's frame with the mask `01 02 03 04`.
    static func masked(_ first: UInt8, _ payload: String) -> [UInt8] {
        let mask: [UInt8] = [1, 2, 3, 4]
        let data = payload.utf8.enumerated().map { $1 ^ mask[$0 % 4] }
        return [first, 0x80 | UInt8(data.count)] + mask + data
    }

    static func close(_ code: UInt16) -> [UInt8] {
        [UInt8(code >> 8), UInt8(code & 0xff)]
    }

    private func withEcho(
        messageLimit: Int = 1000,
        _ body: @escaping @Sendable (inout RawConnection) async throws -> Void
    ) async throws {
        try await LoopbackServer.with(messageLimit: messageLimit) { stream in
            try await MessageStreamTests.echo(stream)
        } _: { server in
            try await RawConnection.with(port: server.port) { connection in
                let head = try await connection.upgrade()
                #expect(head.hasPrefix("HTTP/1.1 101 "))
                #expect(head.contains(RawConnection.accept))
                #expect(head.lowercased().contains("sec-websocket-protocol: test#2\r\n"))
                try await body(&connection)
            }
        }
    }

    /// Sends the frames and expects a close frame with the code.
    private func expectClose(
        _ code: UInt16,
        after frames: [UInt8],
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        try await withEcho { connection in
            try await connection.send(frames)
            let answer = try await connection.receive(4)
            #expect(answer.first == 0x88, sourceLocation: sourceLocation)
            #expect(
                Array(answer.dropFirst(2)) == Self.close(code),
                sourceLocation: sourceLocation
            )
        }
    }

    @Test("The example of the specification comes in masked and goes out plain")
    func example() async throws {
        try await withEcho { connection in
            try await connection.send(
                [
                    0x82, 0x89, 0x37, 0xfa, 0x21, 0x3d, 0x5a, 0x9b, 0x53, 0x56, 0x17, 0xcb, 0x01,
                    0x0c, 0x3d,
                ] as [UInt8]
            )
            let answer = try await connection.receive(11)
            #expect(answer == [0x82, 9] + Array("mark 1 1\n".utf8))
        }
    }

    @Test("Fragments are put together around a ping, which is answered")
    func fragments() async throws {
        try await withEcho { connection in
            try await connection.send(
                Self.masked(0x02, "ma") + Self.masked(0x89, "hi") + Self.masked(0x00, "rk 1")
                    + Self.masked(0x80, " 1\n")
            )
            let answer = try await connection.receive(4 + 11)
            #expect(answer == [0x8a, 2] + Array("hi".utf8) + [0x82, 9] + Array("mark 1 1\n".utf8))
        }
    }

    @Test("Text and pongs are ignored")
    func ignored() async throws {
        try await withEcho { connection in
            try await connection.send(
                Self.masked(0x81, "text") + Self.masked(0x8a, "") + Self.masked(0x82, "x")
            )
            let answer = try await connection.receive(3)
            #expect(answer == [0x82, 1] + Array("x".utf8))
        }
    }

    @Test("Frames without mask, with a reserved bit or of an unknown type end the connection")
    func badFrames() async throws {
        try await expectClose(1002, after: [0x82, 1, 0x78])
        try await expectClose(1002, after: Self.masked(0xc2, "x"))
        try await expectClose(1002, after: Self.masked(0x92, "x"))
        try await expectClose(1002, after: Self.masked(0x83, "x"))
        try await expectClose(1002, after: Self.masked(0x8b, "x"))
    }

    @Test("Fragments out of order end the connection")
    func badFragments() async throws {
        try await expectClose(1002, after: Self.masked(0x80, "x"))
        try await expectClose(1002, after: Self.masked(0x02, "x") + Self.masked(0x82, "x"))
        try await expectClose(1002, after: Self.masked(0x09, "x"))
    }

    @Test("A message over the limit is refused with 1009, in one frame or in many")
    func tooBig() async throws {
        // Announced with the 16-bit and the 64-bit length; the payload need not be sent.
        try await expectClose(1009, after: [0x82, 0xfe, 0x03, 0xe9, 1, 2, 3, 4])
        try await expectClose(
            1009,
            after: [0x82, 0xff, 0, 0, 0, 1, 0, 0, 0, 0, 1, 2, 3, 4]
        )
        let part = Self.masked(0x00, String(repeating: "x", count: 100))
        let parts = Array(repeatElement(part, count: 10).joined())
        try await expectClose(1009, after: Self.masked(0x02, "x") + parts)
    }

    @Test("A message of exactly the limit passes")
    func exactlyTheLimit() async throws {
        try await withEcho { connection in
            let payload = [UInt8](repeating: 0, count: 1000)
            try await connection.send([0x82, 0xfe, 0x03, 0xe8, 0, 0, 0, 0] + payload)
            let answer = try await connection.receive(1004)
            #expect(answer == [0x82, 0x7e, 0x03, 0xe8] + payload)
        }
    }

    @Test("A close frame is answered, and the connection ends")
    func closing() async throws {
        try await withEcho { connection in
            try await connection.send([0x88, 0x82, 0, 0, 0, 0, 0x03, 0xe8])
            let answer = try await connection.receive(100)
            #expect(answer == [0x88, 2, 0x03, 0xe8])
        }
    }

    @Test("A close with reason has the bytes of the specification")
    func closeWithReason() async throws {
        try await LoopbackServer.with { stream in
            await stream.close(.unauthorized, reason: "token expired")
        } _: { server in
            try await RawConnection.with(port: server.port) { connection in
                _ = try await connection.upgrade()
                let answer = try await connection.receive(17)
                #expect(answer == [0x88, 0x0f, 0x0f, 0xa1] + Array("token expired".utf8))
            }
        }
    }

    @Test("A peer that does not answer a close frame is disconnected after a moment")
    func silentPeer() async throws {
        try await LoopbackServer.with { stream in
            await stream.close(.normal, reason: "")
        } _: { server in
            try await RawConnection.with(port: server.port) { connection in
                _ = try await connection.upgrade()
                let answer = try await connection.receive(100)
                #expect(answer == [0x88, 2, 0x03, 0xe8])
            }
        }
    }
}
