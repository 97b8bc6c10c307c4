import FoundationEssentials
import ScriptedPeers
import Subprocess
import TestSupport
import Testing

@Suite(
    "How the agent reaches the server, with the real programs",
    .serialized,
    .timeLimit(.minutes(30))
)
struct OutboundTests {
    /// Changes the files of server and agent.
    private func change(
        _ deployment: Deployment,
        server: [(String, String)],
        agent: [(String, String)]
    ) throws {
        for (file, changes) in [("server.yaml", server), ("a.yaml", agent)] {
            let path = "\(deployment.directory)/\(file)"
            var text = try String(contentsOfFile: path, encoding: .utf8)
            for (old, new) in changes {
                #expect(text.contains(old), "\(old)")
                text = text.replacing(old, with: new)
            }
            try deployment.write(file, text)
        }
    }

    @Test("Over TLS, through a proxy that requires a password, requests and WebSocket alike")
    func proxy() async throws {
        let deployment = try Deployment()
        defer { deployment.remove() }
        let directory = deployment.directory
        try deployment.write("c.pem", LoopbackCertificate.certificate)
        try deployment.write("k.pem", LoopbackCertificate.key)
        try deployment.write("proxy-password", "open sesame\n")
        try deployment.configure("a")
        // "Aladdin:open sesame"
        try await ConnectProxy.with(credentials: "QWxhZGRpbjpvcGVuIHNlc2FtZQ==") { proxy in
            let base = "base_url: http://127.0.0.1:\(deployment.port)"
            let settings = """
                base_url: https://localhost:\(deployment.port)
                    tls: { ca_file: \(directory)/c.pem }
                    proxy:
                      url: http://127.0.0.1:\(proxy.port)
                      username: Aladdin
                      password: { file: \(directory)/proxy-password }
                """
            try change(
                deployment,
                server: [
                    (
                        "  storage:",
                        "  tls: { certificate: \(directory)/c.pem, key: { file: \(directory)/k.pem } }"
                            + "\n  storage:"
                    )
                ],
                agent: [(base, settings)]
            )
            try await deployment.withServer { _ in
                try await deployment.withAgent("a") { _ in
                    let sync = try await deployment.sync("a")
                    #expect(sync.status == 0, "\(sync.errors)\(deployment.log("a"))")
                    let doctor = try await Programs.run(
                        "realm-agent",
                        ["doctor", "--config", "\(directory)/a.yaml"]
                    )
                    #expect(
                        doctor.output.contains("127.0.0.1:\(proxy.port) leads to localhost"),
                        "\(doctor.output)"
                    )
                }
                // One for requests, one for the WebSocket, and the doctor's.
                #expect(proxy.requests.count >= 3)
                let expected = "CONNECT localhost:\(deployment.port) HTTP/1.1"
                #expect(proxy.requests.allSatisfy { $0 == expected }, "\(proxy.requests)")
            }
            #expect(!deployment.log("a").contains("sesame"))

            try deployment.write("proxy-password", "closed\n")
            let refused = try await deployment.sync("a", timeout: "10s")
            #expect(refused.status == 3)
            #expect(
                refused.errors.contains(
                    "the proxy 127.0.0.1:\(proxy.port) refuses its username and password (HTTP 407)"
                ),
                "\(refused.errors)"
            )
        }
    }

    @Test("The environment's proxy leads to a server whose name only the proxy resolves")
    func environment() async throws {
        let deployment = try Deployment()
        defer { deployment.remove() }
        try deployment.configure("a")
        let name = "http://sync.invalid:\(deployment.port)"
        try change(
            deployment,
            server: [("  storage:", "  public_url: \(name)\n  storage:")],
            agent: [("http://127.0.0.1:\(deployment.port)", name)]
        )
        try await ConnectProxy.with { proxy in
            let variables: [String: String] = [
                "http_proxy": "http://127.0.0.1:\(proxy.port)", "no_proxy": "example.com",
            ]
            try await deployment.withServer { _ in
                try await deployment.withAgent(
                    "a",
                    environment: [
                        "http_proxy": variables["http_proxy"], "no_proxy": variables["no_proxy"],
                    ]
                ) { _ in
                    let sync = try await deployment.sync("a")
                    #expect(sync.status == 0, "\(sync.errors)\(deployment.log("a"))")
                }
                #expect(proxy.requests.count >= 2)
            }
        }
    }

    @Test("An invalid certificate stops the start with status 2, its key and a remedy")
    func badCertificate() async throws {
        let deployment = try Deployment()
        defer { deployment.remove() }
        try deployment.configure("a")
        try change(
            deployment,
            server: [],
            agent: [("backoff:", "tls: { ca_file: /nowhere.pem }\n    backoff:")]
        )
        for verb in ["run", "sync"] {
            let outcome = try await Programs.run(
                "realm-agent",
                [verb, "--config", "\(deployment.directory)/a.yaml"]
            )
            #expect(outcome.status == 2)
            #expect(
                outcome.errors.contains(
                    "apps.app.tls.ca_file: /nowhere.pem cannot be read; correct the path, or let the "
                        + "agent's user read the file [config.bad_certificate]"
                ),
                "\(outcome.errors)"
            )
        }
    }
}
