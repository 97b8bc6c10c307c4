import AsyncHTTPClient
import Dispatch
import Glibc
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// HTTP over the network. Await `shutdown()` to be sure that its connections are gone.
package final class AsyncHTTPExchange: HTTPExchange {
    private let client: HTTPClient
    private let headers: [(name: String, value: String)]
    /// Larger answers are refused: no route of the API has one.
    private static let maximumReplySizeInBytes = 4 << 20

    /// Trusts the authorities in `caFile`, a PEM file, or those of the system where it is nil;
    /// `headers` go with every request.
    package init(
        caFile: String?,
        verifiesPeer: Bool = true,
        headers: [(name: String, value: String)] = []
    ) {
        self.headers = headers
        var tls = TLSConfiguration.makeClientConfiguration()
        if let caFile { tls.trustRoots = .file(caFile) }
        if !verifiesPeer { tls.certificateVerification = .none }
        var configuration = HTTPClient.Configuration(
            tlsConfiguration: tls,
            redirectConfiguration: .disallow
        )
        // The back-off of the sync client decides when to try again.
        configuration.connectionPool.retryConnectionEstablishment = false
        self.client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    deinit {
        // The client insists on being shut down, also where nobody came to use it.
        client.shutdown { _ in }
    }

    package func perform(
        _ request: ServiceRequest,
        timeout: Duration
    ) async throws(UnreachableError) -> ServiceReply {
        var outgoing = HTTPClientRequest(url: request.url)
        outgoing.method = HTTPMethod(rawValue: request.method.rawValue)
        for header in headers + request.headers {
            outgoing.headers.add(name: header.name, value: header.value)
        }
        if request.method == .post { outgoing.body = .bytes(ByteBuffer(bytes: request.body)) }
        do {
            let reply = try await client.execute(outgoing, timeout: TimeAmount(timeout))
            let body = try await reply.body.collect(upTo: Self.maximumReplySizeInBytes)
            return ServiceReply(
                status: Int(reply.status.code),
                contentType: reply.headers.first(name: "content-type"),
                body: Array(buffer: body)
            )
        } catch {
            throw UnreachableError(reason: Self.reason(error, url: request.url))
        }
    }

    package func shutdown() async {
        try? await client.shutdown()
    }

    private static func reason(_ error: any Error, url: String) -> String {
        let cause: any Error =
            (error as? NIOConnectionError)?.connectionErrors.first?.error ?? error
        let reason =
            (cause as? IOError).map { String(cString: strerror($0.errnoCode)) } ?? "\(cause)"
        return "\(url.prefix { $0 != "?" }) cannot be reached: \(reason)"
    }
}
