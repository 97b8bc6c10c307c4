import FoundationEssentials
import NIOSSL
import Outbound
import ScriptedPeers
import SyncProtocol
import TestSupport
import Testing

@testable import Transport

@Suite("WebSocket over TLS", .timeLimit(.minutes(10)))
struct TLSTests {
    private func client(trusting roots: NIOSSLTrustRoots) throws -> WebSocketClient {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.trustRoots = roots
        return try WebSocketClient(
            tls: configuration,
            connectTimeout: .seconds(180),
            maximumMessageSizeInBytes: 1 << 20
        )
    }

    /// The error of connecting; nil after a successful exchange.
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

    @Test("An untrusted certificate is refused")
    func unknownAuthority() async throws {
        let error = try await connect(to: "localhost", trusting: .default)
        guard case .tls = error else {
            Issue.record("unexpected \(String(describing: error))")
            return
        }
        #expect(error?.description.contains("or name its authority in tls.ca_file") == true)
        #expect(!"\(error.map { "\($0)" } ?? "")".contains("verysecret"))
    }

    /// The error of connecting to a server that requires a certificate.
    private func show(
        _ certificate: (certificate: String, key: String)?
    ) async throws -> TransportError? {
        let directory = try TemporaryDirectory()
        var files = ClientTLS(authorityFile: directory.file("ca.pem"))
        try write(LoopbackCertificate.certificate, to: directory.file("ca.pem"))
        if let certificate {
            try write(certificate.certificate, to: directory.file("client.pem"))
            files.certificate = .init(file: directory.file("client.pem"), key: certificate.key)
        }
        let client = try WebSocketClient(
            tls: files.configuration(),
            connectTimeout: .seconds(180),
            maximumMessageSizeInBytes: 1 << 20
        )
        var failure: TransportError?
        let tls = try TestCertificate.server(asksForCertificate: true)
        try await LoopbackServer.with(tls: tls) {
            try await MessageStreamTests.echo($0)
        } _: { server in
            do {
                try await client.withConnection(
                    to: "wss://localhost:\(server.port)/",
                    .init(query: nil, subProtocols: ["test#2"])
                ) { stream in
                    try await stream.send([1, 2, 3])
                    #expect(try await stream.receive() == [1, 2, 3])
                    await stream.close(.normal, reason: "")
                }
            } catch let error as TransportError {
                failure = error
            }
        }
        return failure
    }

    private func write(_ text: String, to path: String) throws {
        try Data(text.utf8).write(to: URL(filePath: path))
    }

    @Test(
        "A server that requires a certificate gets it, and refuses none or another"
    )
    func clientCertificate() async throws {
        let known = (LoopbackCertificate.certificate, LoopbackCertificate.key)
        #expect(try await show(known) == nil)
        #expect(
            try await show(nil)
                == .tls(
                    reason: "localhost: the server requires a client certificate; name one "
                        + "in tls.client_certificate"
                )
        )
        let stranger = (StrangerCertificate.certificate, StrangerCertificate.key)
        guard case .tls(let reason) = try await show(stranger) else {
            Issue.record("an untrusted certificate was accepted")
            return
        }
        #expect(
            reason.contains("the server refuses the certificate of tls.client_certificate"),
            "\(reason)"
        )
    }

    @Test("A server without TLS is a TLS error")
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

    static func server(asksForCertificate: Bool = false) throws -> NIOSSLContext {
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: [.certificate(try certificate())],
            privateKey: .privateKey(
                try NIOSSLPrivateKey(bytes: Array(LoopbackCertificate.key.utf8), format: .pem)
            )
        )
        if asksForCertificate {
            configuration.certificateVerification = .noHostnameVerification
            configuration.trustRoots = .certificates([try certificate()])
        }
        return try NIOSSLContext(configuration: configuration)
    }
}
