import NIOSSL
import ScriptedPeers
import Testing

@testable import Transport

@Suite("A server's certificate", .timeLimit(.minutes(10)))
struct PeerCertificateTests {
    @Test("It is reported although it is not trusted")
    func read() async throws {
        try await LoopbackServer.with(tls: TestCertificate.server()) { stream in
            _ = try await stream.receive()
        } _: { server in
            let shown = try await PeerCertificate.read(
                host: "localhost",
                port: server.port,
                timeout: .seconds(180)
            )
            // From 2026-11-20 on, for a hundred years.
            #expect(shown.validUntil - shown.validFrom == 36_500 * 86_400)
        }
    }

    @Test("A server without TLS, and a missing server, are errors")
    func failures() async throws {
        try await LoopbackServer.with { stream in
            _ = try await stream.receive()
        } _: { server in
            await #expect(throws: TransportError.self) {
                try await PeerCertificate.read(
                    host: "127.0.0.1",
                    port: server.port,
                    timeout: .seconds(180)
                )
            }
        }
        await #expect(throws: TransportError.self) {
            try await PeerCertificate.read(host: "127.0.0.1", port: 1, timeout: .seconds(180))
        }
    }
}
