import NIOSSL
import SyncProtocol
import TestSupport
import Testing

@testable import Transport

@Suite("WebSocket over TLS")
struct TLSTests {
    private func client(trusting roots: NIOSSLTrustRoots) throws -> WebSocketClient {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.trustRoots = roots
        return try WebSocketClient(
            tls: configuration,
            connectTimeout: .seconds(20),
            maximumMessageSizeInBytes: 1 << 20
        )
    }

    /// What connecting ends with; nil after a successful exchange.
    private func connect(
        to host: String,
        trusting roots: NIOSSLTrustRoots,
        isServerSecure: Bool = true
    ) async throws -> TransportError? {
        var failure: TransportError?
        try await LoopbackServer.with(tls: isServerSecure ? TestCertificate.server() : nil) {
            try await MessageStreamTests.echo($0)
        } _: { server in
            do {
                try await client(trusting: roots).withConnection(
                    to: "wss://\(host):\(server.port)/",
                    .init(query: "baas_at=verysecret", subProtocols: ["test#2"])
                ) { stream in
                    let message = [UInt8](repeating: 7, count: 100_000)
                    try await stream.send(message)
                    let answer = try await stream.receive()
                    #expect(answer == message)
                    await stream.close(.normal, reason: "")
                }
            } catch let error as TransportError {
                failure = error
            }
        }
        return failure
    }

    @Test("A certificate of our own authority is trusted by name and by address")
    func ownAuthority() async throws {
        let roots = NIOSSLTrustRoots.certificates([try TestCertificate.certificate()])
        #expect(try await connect(to: "127.0.0.1", trusting: roots) == nil)
        #expect(try await connect(to: "localhost", trusting: roots) == nil)
    }

    @Test("A certificate nobody vouches for is refused")
    func unknownAuthority() async throws {
        let error = try await connect(to: "localhost", trusting: .default)
        guard case .tls = error else {
            Issue.record("unexpected \(String(describing: error))")
            return
        }
        #expect(!"\(error.map { "\($0)" } ?? "")".contains("verysecret"))
    }

    @Test("A server without TLS is an error of TLS")
    func plainServer() async throws {
        let error = try await connect(to: "127.0.0.1", trusting: .default, isServerSecure: false)
        guard case .tls = error else {
            Issue.record("unexpected \(String(describing: error))")
            return
        }
    }
}

/// A certificate for localhost and 127.0.0.1, made for these tests and valid until 2126.
enum TestCertificate {
    static func certificate() throws -> NIOSSLCertificate {
        try NIOSSLCertificate(bytes: Array(LoopbackCertificate.certificate.utf8), format: .pem)
    }

    static func server() throws -> NIOSSLContext {
        try NIOSSLContext(
            configuration: .makeServerConfiguration(
                certificateChain: [.certificate(certificate())],
                privateKey: .privateKey(
                    NIOSSLPrivateKey(bytes: Array(LoopbackCertificate.key.utf8), format: .pem)
                )
            )
        )
    }
}
