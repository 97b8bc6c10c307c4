import NIOSSL
import Outbound
import ScriptedPeers
import SyncProtocol
import TestSupport
import Testing

@testable import Transport

@Suite("WebSocket through a proxy", .timeLimit(.minutes(10)))
struct ProxyTests {
    /// The error of an exchange of a message through the proxy; nil after a successful one.
    private func connect(
        _ url: String,
        through rules: ProxyRules,
        timeout: Duration = .seconds(180)
    ) async throws -> TransportError? {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.trustRoots = .certificates([try TestCertificate.certificate()])
        let client = try WebSocketClient(
            tls: tls,
            proxies: rules,
            connectTimeout: timeout,
            maximumMessageSizeInBytes: 1 << 20
        )
        do {
            try await client.withConnection(
                to: url,
                .init(query: "baas_at=verysecret", subProtocols: ["test#2"])
            ) { stream in
                let message = [UInt8](repeating: 7, count: 300_000)
                try await stream.send(message)
                #expect(try await stream.receive() == message)
                await stream.close(.normal, reason: "")
            }
            return nil
        } catch let error as TransportError {
            return error
        }
    }

    private func rules(
        _ proxy: ConnectProxy,
        _ credentials: ProxyCredentials? = nil
    ) -> ProxyRules {
        .always(ProxyServer(host: "127.0.0.1", port: proxy.port, credentials: credentials))
    }

    @Test("A tunnel carries plain connections and end-to-end TLS")
    func tunnel() async throws {
        for isSecure in [false, true] {
            try await LoopbackServer.with(tls: isSecure ? TestCertificate.server() : nil) {
                try await MessageStreamTests.echo($0)
            } _: { server in
                try await ConnectProxy.with { proxy in
                    let url = "\(isSecure ? "wss" : "ws")://localhost:\(server.port)/path"
                    let error = try await connect(url, through: rules(proxy))
                    #expect(error == nil)
                    #expect(proxy.requests == ["CONNECT localhost:\(server.port) HTTP/1.1"])
                }
            }
        }
    }

    @Test("A certificate for another name is refused inside the tunnel, too")
    func otherName() async throws {
        try await LoopbackServer.with(tls: TestCertificate.server()) {
            try await MessageStreamTests.echo($0)
        } _: { server in
            // For another address than the certificate names: the library treats that as a name,
            // too.
            let address = "127.0.0.2"
            try await ConnectProxy.with(on: address) { proxy in
                let url = "wss://other.example.com:\(server.port)/path"
                let rules = ProxyRules.always(ProxyServer(host: address, port: proxy.port))
                let error = try await connect(url, through: rules)
                guard case .tls(let reason) = error else {
                    Issue.record("unexpected \(String(describing: error))")
                    return
                }
                #expect(reason.contains("certificate is for another name"))
            }
        }
    }

    @Test("Without valid credentials the error names the proxy as the refuser")
    func credentials() async throws {
        let known = ProxyCredentials(username: "till", password: "hunter2")
        let encoded = String(known.authorization.dropFirst("Basic ".count))
        try await LoopbackServer.with {
            try await MessageStreamTests.echo($0)
        } _: { server in
            try await ConnectProxy.with(credentials: encoded) { proxy in
                let url = "ws://server.example.com:\(server.port)/"
                #expect(try await connect(url, through: rules(proxy, known)) == nil)
                let without = try await connect(url, through: rules(proxy))
                #expect(
                    without?.description
                        == "the proxy 127.0.0.1:\(proxy.port) requires credentials (HTTP 407); "
                        + "configure username and password"
                )
                let wrong = ProxyCredentials(username: "till", password: "hunter3")
                let refused = try await connect(url, through: rules(proxy, wrong))
                #expect(
                    refused
                        == .proxy(
                            reason: "the proxy 127.0.0.1:\(proxy.port) refuses its username and "
                                + "password (HTTP 407)"
                        )
                )
            }
        }
    }

    @Test(
        "A proxy that does not connect is reported, with any response",
        arguments: [
            ("HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno", "(HTTP 403)"),
            ("HTTP/1.1 502 Bad Gateway\r\n\r\n", "(HTTP 502)"),
            ("", "it ends the connection"),
            ("SSH-2.0-OpenSSH_9.2\r\n", "it does not speak HTTP"),
        ]
    )
    func refusals(answer: String, expected: String) async throws {
        try await ConnectProxy.with(.answer(answer)) { proxy in
            let error = try await connect("ws://server.example.com:1/", through: rules(proxy))
            guard case .proxy(let reason) = error else {
                Issue.record("unexpected \(String(describing: error))")
                return
            }
            #expect(reason.contains("the proxy 127.0.0.1:\(proxy.port)"))
            #expect(reason.contains(expected), "\(reason)")
            #expect(!reason.contains("verysecret"))
        }
    }

    @Test("A missing server behind the proxy is reported by the proxy")
    func noServer() async throws {
        try await ConnectProxy.with { proxy in
            let error = try await connect("ws://server.example.com:1/", through: rules(proxy))
            #expect(
                error
                    == .proxy(
                        reason: "the proxy 127.0.0.1:\(proxy.port) does not connect to the server "
                            + "(HTTP 502)"
                    )
            )
        }
    }

    @Test("A silent or missing proxy is named")
    func silence() async throws {
        try await ConnectProxy.with(.silence) { proxy in
            let error = try await connect(
                "ws://server.example.com:1/",
                through: rules(proxy),
                timeout: .milliseconds(300)
            )
            #expect(
                error
                    == .proxy(
                        reason: "the proxy 127.0.0.1:\(proxy.port) does not answer in time"
                    )
            )
        }
        let unreachable = ProxyRules.always(ProxyServer(host: "127.0.0.1", port: 1))
        let error = try await connect("ws://server.example.com:1/", through: unreachable)
        #expect(
            error?.description.hasPrefix("the proxy 127.0.0.1:1 cannot be reached: ") == true,
            "\(String(describing: error))"
        )
    }

    @Test("A refused upgrade is reported as the server's, with its status")
    func refusedUpgrade() async throws {
        let answer = "HTTP/1.1 401 No\r\nContent-Length: 0\r\n\r\n"
        try await RawServer.with(answer: Array(answer.utf8)) { port in
            try await ConnectProxy.with { proxy in
                let error = try await connect("ws://a.example.com:\(port)/", through: rules(proxy))
                #expect(error == .rejected(.init(status: 401, body: "")))
            }
        }
    }

    @Test("An unusable environment variable is named, if it applies")
    func variables() async throws {
        let environment = ProxyEnvironment(["https_proxy": "socks5://hunter2@p"])
        let error = try await connect(
            "wss://server.example.com:1/",
            through: .environment(environment)
        )
        let text = error?.description ?? ""
        #expect(text.hasPrefix("the environment variable https_proxy is not the URL"))
        #expect(!text.contains("hunter2"))
    }
}
