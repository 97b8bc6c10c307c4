import AsyncHTTPClient
import Dispatch
import NIOCore
import NIOHTTP1
import NIOPosix
package import NIOSSL
package import Outbound
import Synchronization

/// HTTP over the network. Await `shutdown()` to be sure that its connections are gone.
package final class AsyncHTTPExchange: HTTPExchange {
    private let tls: TLSConfiguration
    private let proxies: ProxyRules
    private let headers: [(name: String, value: String)]
    /// One for each way out; empty again once it is shut down.
    private let clients = Mutex<[ProxyServer?: HTTPClient]?>([:])
    /// Larger answers are refused: no route of the API has one.
    private static let maximumResponseSizeInBytes = 4 << 20

    /// - Parameters:
    ///   - tls: how servers are verified, and the client's certificate.
    ///   - proxies: which proxy leads to a server.
    ///   - headers: go with every request.
    package init(
        tls: TLSConfiguration,
        proxies: ProxyRules = .direct,
        headers: [(name: String, value: String)] = []
    ) {
        self.tls = tls
        self.proxies = proxies
        self.headers = headers
    }

    deinit {
        // An HTTP client must be shut down even if it was never used.
        for client in takeClients() { client.shutdown { _ in } }
    }

    package func perform(
        _ request: ServiceRequest,
        timeout: Duration
    ) async throws(UnreachableError) -> ServiceResponse {
        let proxy = try proxy(to: request.url)
        guard let client = client(for: proxy) else {
            throw UnreachableError(reason: "the agent is stopping")
        }
        var outgoing = HTTPClientRequest(url: request.url)
        outgoing.method = HTTPMethod(rawValue: request.method.rawValue)
        for header in headers + request.headers {
            outgoing.headers.add(name: header.name, value: header.value)
        }
        if request.method == .post { outgoing.body = .bytes(ByteBuffer(bytes: request.body)) }
        do {
            let response = try await client.execute(outgoing, timeout: TimeAmount(timeout))
            let body = try await response.body.collect(upTo: Self.maximumResponseSizeInBytes)
            return ServiceResponse(
                status: Int(response.status.code),
                contentType: response.headers.first(name: "content-type"),
                date: response.headers.first(name: "date"),
                body: Array(buffer: body)
            )
        } catch {
            throw UnreachableError(
                reason: Self.reason(error, url: request.url, proxy),
                kind: Self.kind(of: error)
            )
        }
    }

    package func shutdown() async {
        for client in takeClients() { try? await client.shutdown() }
    }

    private func takeClients() -> [HTTPClient] {
        clients.withLock { clients in
            defer { clients = nil }
            return clients.map { Array($0.values) } ?? []
        }
    }

    private func proxy(to url: String) throws(UnreachableError) -> ProxyServer? {
        guard let target = ProxyTarget(url: url) else { return nil }
        do throws(ProxyVariableProblem) {
            return try proxies.proxy(to: target)
        } catch {
            throw UnreachableError(reason: error.description)
        }
    }

    private func client(for proxy: ProxyServer?) -> HTTPClient? {
        clients.withLock { clients in
            if let client = clients?[proxy] { return client }
            guard clients != nil else { return nil }
            let client = makeClient(proxy)
            clients?[proxy] = client
            return client
        }
    }

    private func makeClient(_ proxy: ProxyServer?) -> HTTPClient {
        var configuration = HTTPClient.Configuration(
            tlsConfiguration: tls,
            redirectConfiguration: .disallow
        )
        // The back-off of the sync client decides when to try again.
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.proxy = proxy.map { proxy in
            .server(
                host: proxy.host,
                port: proxy.port,
                authorization: proxy.credentials.map {
                    .basic(username: $0.username, password: $0.password)
                }
            )
        }
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }
}

// MARK: Why there is no answer

extension AsyncHTTPExchange {
    private static func kind(of error: any Error) -> UnreachableError.Kind {
        if TLSFailure.sentence(for: error) != nil { return .tls }
        return switch error as? HTTPClientError {
        case HTTPClientError.deadlineExceeded, HTTPClientError.connectTimeout: .silence
        default: .connection
        }
    }

    private static func reason(_ error: any Error, url: String, _ proxy: ProxyServer?) -> String {
        let place = "\(url.prefix { $0 != "?" })"
        if let sentence = TLSFailure.sentence(for: error) {
            return "\(place) cannot be reached: \(sentence)"
        }
        if let proxy, let failure = failure(error, of: proxy) {
            return "\(place) cannot be reached: \(failure.sentence(about: proxy))"
        }
        return "\(place) cannot be reached: \(words(for: error))"
    }

    /// Nil if the proxy is not the cause.
    private static func failure(_ error: any Error, of proxy: ProxyServer) -> ProxyFailure? {
        switch error as? HTTPClientError {
        case HTTPClientError.proxyAuthenticationRequired: .unauthorized
        case HTTPClientError.invalidProxyResponse: .refused(status: nil)
        case HTTPClientError.httpProxyHandshakeTimeout, HTTPClientError.connectTimeout: .silent
        // Connections are made to the proxy alone.
        case nil where error is NIOConnectionError || error is IOError:
            .unreachable(reason: words(for: error))
        default: nil
        }
    }

    private static func words(for error: any Error) -> String {
        if let sentence = ConnectionFailure.sentence(for: error) { return sentence }
        if let error = error as? HTTPClientError { return words(for: error) }
        return "\(error)"
    }

    private static func words(for error: HTTPClientError) -> String {
        switch error {
        case .deadlineExceeded: "no answer in time"
        case .connectTimeout: "no connection in time"
        case .remoteConnectionClosed: "the server ended the connection"
        default: "\(error)"
        }
    }
}
