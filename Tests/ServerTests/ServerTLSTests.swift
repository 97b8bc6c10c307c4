import AsyncHTTPClient
import FoundationEssentials
import Logging
import NIOCore
import NIOSSL
import ServerFixtures
import ServiceLifecycle
import Settings
import TestSupport
import Testing

@testable import SQLiteServerStore
@testable import Server
@testable import ServerConfig
@testable import ServerHTTP
@testable import ServerStore

@Suite("TLS of the server", .timeLimit(.minutes(10)))
struct ServerTLSTests {
    private func files(in directory: String) throws -> CertificateFiles {
        let files = CertificateFiles(
            certificate: "\(directory)/chain.pem",
            key: "\(directory)/key.pem"
        )
        try Data(LoopbackCertificate.certificate.utf8).write(to: URL(filePath: files.certificate))
        try Data(LoopbackCertificate.key.utf8).write(to: URL(filePath: files.key))
        return files
    }

    @Test("Files without a matching certificate and key are refused, and change nothing later")
    func reload() async throws {
        try await withTemporaryDirectory { directory in
            let files = try files(in: directory)
            let tls = try ServerTLS(files)
            // The same files again do not change the certificate.
            #expect(!tls.use(try ServerTLS.prepare(files)))
            try Data("none".utf8).write(to: URL(filePath: files.certificate))
            #expect(throws: ServerTLS.Unusable.self) { try ServerTLS.prepare(files) }
            #expect(throws: ServerTLS.Unusable.self) { try ServerTLS(files) }
        }
    }

    @Test("Requests need TLS 1.2 or newer, and the location has https")
    func request() async throws {
        try await withTemporaryDirectory { directory in
            let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            let (addresses, continuation) = AsyncStream<ListenAddress>.makeStream()
            let server = try await RealmServer(
                ServerConfiguration(
                    listen: ListenAddress(host: "127.0.0.1", port: 0),
                    storage: .standard,
                    apps: TestApps.configurations
                ),
                store: try await SQLiteStore(.memory),
                clock: ManualClock().wallClock,
                random: .seeded(),
                tls: try ServerTLS(files(in: directory)),
                logger: logger,
                onListening: { continuation.yield($0) }
            )
            let services = ServiceGroup(services: [server], logger: logger)
            try await withThrowingTaskGroup { group in
                group.addTask { try await services.run() }
                var iterator = addresses.makeAsyncIterator()
                let address = try #require(await iterator.next())
                var configuration = HTTPClient.Configuration()
                configuration.tlsConfiguration = .makeClientConfiguration()
                configuration.tlsConfiguration?.trustRoots = .certificates([
                    try NIOSSLCertificate(
                        bytes: Array(LoopbackCertificate.certificate.utf8),
                        format: .pem
                    )
                ])
                let client = HTTPClient(configuration: configuration)
                let url = "https://\(address)/api/client/v2.0/app/shop-abcde/location"
                let reply = try await client.execute(
                    HTTPClientRequest(url: url),
                    timeout: .seconds(180)
                )
                let body = String(buffer: try await reply.body.collect(upTo: 4096))
                #expect(body.contains("\"hostname\":\"https://\(address)\""))
                #expect(body.contains("\"ws_hostname\":\"wss://\(address)\""))
                try await client.shutdown()
                for (version, isServed) in [(TLSVersion.tlsv12, true), (.tlsv11, false)] {
                    configuration.tlsConfiguration?.minimumTLSVersion = .tlsv1
                    configuration.tlsConfiguration?.maximumTLSVersion = version
                    let client = HTTPClient(configuration: configuration)
                    let request = HTTPClientRequest(url: url)
                    let reply = try? await client.execute(request, timeout: .seconds(20))
                    #expect((reply != nil) == isServed, "\(version)")
                    try await client.shutdown()
                }
                await services.triggerGracefulShutdown()
                try await group.waitForAll()
            }
        }
    }
}
