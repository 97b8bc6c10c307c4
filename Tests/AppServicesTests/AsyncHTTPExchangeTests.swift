import AppServices
import FoundationEssentials
import NIOHTTP1
import NIOSSL
import Outbound
import ScriptedPeers
import TestSupport
import Testing

@Suite("HTTP over the network", .timeLimit(.minutes(10)))
struct AsyncHTTPExchangeTests {
    private let temporary: TemporaryDirectory

    init() throws {
        self.temporary = try TemporaryDirectory()
    }

    /// The status, or why there is none.
    private func get(
        _ url: String,
        _ tls: ClientTLS = ClientTLS(),
        through proxies: ProxyRules = .direct,
        headers: [(name: String, value: String)] = []
    ) async throws -> Result<Int, UnreachableError> {
        let exchange = AsyncHTTPExchange(
            tls: try tls.configuration(),
            proxies: proxies,
            headers: headers
        )
        let result: Result<Int, UnreachableError>
        do throws(UnreachableError) {
            let request = ServiceRequest(method: .get, url: url)
            result = .success(try await exchange.perform(request, timeout: .seconds(180)).status)
        } catch {
            result = .failure(error)
        }
        await exchange.shutdown()
        return result
    }

    private func reason(_ result: Result<Int, UnreachableError>) -> String {
        switch result {
        case .success(let status): "status \(status)"
        case .failure(let error): error.reason
        }
    }

    private func file(_ text: String) throws -> String {
        let path = temporary.file("\(UInt32.random(in: 0 ... .max)).pem")
        try Data(text.utf8).write(to: URL(filePath: path))
        return path
    }

    @Test("All requests carry the headers, and a closed exchange reports that it is closed")
    func headers() async throws {
        try await JSONServer.with { server in
            let url = "http://127.0.0.1:\(server.port)/"
            let result = try await get(url, headers: [("User-Agent", "a/1"), ("X-Site", "7")])
            #expect(try result.get() == 200)
            #expect(server.requests.map { $0["user-agent"] } == [["a/1"]])
            #expect(server.requests.map { $0["x-site"] } == [["7"]])
        }
        let exchange = AsyncHTTPExchange(tls: try ClientTLS().configuration())
        await exchange.shutdown()
        await #expect(throws: UnreachableError.self) {
            try await exchange.perform(
                ServiceRequest(method: .get, url: "http://127.0.0.1:1/"),
                timeout: .seconds(1)
            )
        }
    }

    @Test("A server that requires a client certificate gets it; without one its error is reported")
    func clientCertificate() async throws {
        let authority = try file(LoopbackCertificate.certificate)
        var tls = ClientTLS(authorityFile: authority)
        try await JSONServer.with(tls: JSONServer.tls()) { server in
            let url = "https://localhost:\(server.port)/"
            let without = try await get(url, tls)
            #expect(
                reason(without).hasSuffix(
                    "the server requires a client certificate; "
                        + "name one in tls.client_certificate"
                ),
                "\(reason(without))"
            )
            tls.certificate = .init(file: authority, key: LoopbackCertificate.key)
            #expect(try await get(url, tls).get() == 200)
            let stranger = try file(StrangerCertificate.certificate)
            tls.certificate = .init(file: stranger, key: StrangerCertificate.key)
            let refused = try await get(url, tls)
            #expect(
                reason(refused).contains("refuses the certificate of tls.client_certificate"),
                "\(reason(refused))"
            )
            let unknown = try await get(url)
            #expect(
                reason(unknown).hasSuffix("or name its authority in tls.ca_file"),
                "\(reason(unknown))"
            )
        }
    }

    @Test("Through a proxy, with and without TLS, with credentials")
    func proxy() async throws {
        let known = ProxyCredentials(username: "till", password: "hunter2")
        let encoded = String(known.authorization.dropFirst("Basic ".count))
        let authority = try file(LoopbackCertificate.certificate)
        let tls = ClientTLS(
            authorityFile: authority,
            certificate: .init(file: authority, key: LoopbackCertificate.key)
        )
        for isSecure in [false, true] {
            try await JSONServer.with(tls: isSecure ? JSONServer.tls() : nil) { server in
                try await ConnectProxy.with(credentials: encoded) { proxy in
                    let rules = ProxyRules.always(
                        ProxyServer(host: "127.0.0.1", port: proxy.port, credentials: known)
                    )
                    let scheme = isSecure ? "https" : "http"
                    let url = "\(scheme)://localhost:\(server.port)/"
                    let status = try await get(url, tls, through: rules).get()
                    #expect(status == 200)
                    #expect(proxy.requests == ["CONNECT localhost:\(server.port) HTTP/1.1"])
                    #expect(server.requests.allSatisfy { $0["proxy-authorization"].isEmpty })
                }
            }
        }
    }

    @Test("A proxy that refuses, is silent or is not there is named as what fails")
    func proxyFailures() async throws {
        let url = "http://server.example.com/app?secret"
        func expect(
            _ behaviour: ConnectProxy.Behaviour,
            credentials: String? = nil,
            _ text: String
        ) async throws {
            try await ConnectProxy.with(behaviour, credentials: credentials) { proxy in
                let rules = ProxyRules.always(ProxyServer(host: "127.0.0.1", port: proxy.port))
                let reason = reason(try await get(url, through: rules))
                #expect(
                    reason.hasPrefix(
                        "http://server.example.com/app cannot be reached: "
                            + "the proxy 127.0.0.1:\(proxy.port) \(text)"
                    ),
                    "\(reason)"
                )
            }
        }
        try await expect(.tunnel, credentials: "abc", "requires credentials (HTTP 407)")
        try await expect(
            .answer("HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n"),
            "does not connect to the server"
        )
        let unusedPort = ProxyRules.always(ProxyServer(host: "127.0.0.1", port: 1))
        let refused = reason(try await get(url, through: unusedPort))
        #expect(
            refused.hasSuffix("the proxy 127.0.0.1:1 cannot be reached: Connection refused"),
            "\(refused)"
        )
    }
}
