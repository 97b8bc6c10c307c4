import FoundationEssentials
import Glibc
import TestSupport
import Testing

@Suite("Monitoring", .serialized, .timeLimit(.minutes(10)))
struct MonitoringTests {
    /// The samples that a scraper of the port gets.
    private func scrape(_ port: Int) throws -> OpenMetricsChecker {
        let reply = try get("/metrics", port)
        #expect(reply.head.hasPrefix("HTTP/1.1 200 "))
        #expect(reply.head.contains("application/openmetrics-text; version=1.0.0"))
        return OpenMetricsChecker(reply.body)
    }

    private func get(_ path: String, _ port: Int) throws -> (head: String, body: String) {
        let connection = try RawConnection(port: port)
        try connection.send(
            Array("GET \(path) HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n".utf8)
        )
        let answer = try connection.readToEnd()
        let end = try #require(answer.firstRange(of: "\r\n\r\n"))
        return (String(answer[..<end.lowerBound]), String(answer[end.upperBound...]))
    }

    @Test("Metrics of a server at work are at their own address and on the admin socket only")
    func metrics() async throws {
        let deployment = try Deployment()
        defer { deployment.remove() }
        let port = unusedPort()
        let configuration = "\(deployment.directory)/server.yaml"
        let text = try String(contentsOfFile: configuration, encoding: .utf8)
        let metrics = "server:\n  metrics: { listen: \"127.0.0.1:\(port)\" }\n"
        try deployment.write("server.yaml", text.replacing("server:\n", with: metrics))
        try deployment.configure("a")
        try deployment.configure("b")
        try await deployment.withServer { _ in
            #expect(try deployment.logIn("stranger@example.com", "wrong").status == 401)
            try await deployment.sync("a")
            _ = try await Programs.sqlite3(
                deployment.file("a"),
                "INSERT INTO \"Item\" (_id, owner) VALUES (1, 'x'), (2, 'y');"
            )
            try await deployment.sync("a")
            try await deployment.withAgent("b") { _ in
                try await deployment.sync("b")
                let first = try scrape(port)
                #expect(first.mistakes == [])
                let app = "app=\"\(Deployment.app)\""
                let expected: [(String, Double)] = [
                    ("realm_server_ready", 1),
                    ("realm_server_realms{\(app)}", 1),
                    ("realm_server_connections{\(app)}", 1),
                    (#"realm_server_sessions{\#(app),protocol="14",mode="partition"}"#, 1),
                    (#"realm_server_log_ins_total{\#(app),provider="anon-user",outcome="ok"}"#, 2),
                    (
                        #"realm_server_log_ins_total{\#(app),provider="local-userpass","#
                            + #"outcome="InvalidPassword"}"#,
                        1
                    ),
                    (#"realm_server_rejected_requests_total{code="InvalidPassword"}"#, 1),
                    ("realm_server_slowest_client_lag_versions{\(app)}", 0),
                    ("realm_server_slowest_client_lag_seconds{\(app)}", 0),
                ]
                for (series, value) in expected {
                    #expect(first.samples[series] == value, "\(series)")
                }
                for series in [
                    "realm_server_uploaded_changesets_total{\(app)}",
                    #"realm_server_downloaded_bytes_total{\#(app),kind="history"}"#,
                    #"realm_server_store_call_seconds_count{call="write"}"#,
                    #"realm_server_store_bytes{file="database"}"#, "process_open_fds",
                ] {
                    let value: Double = try #require(first.samples[series], "\(series)")
                    #expect(value > 0, "\(series)")
                }
            }
            let printed = try await Programs.run(
                "realm-server",
                ["metrics", "--config", configuration]
            )
            #expect(printed.status == 0, "\(printed.errors)")
            #expect(OpenMetricsChecker(printed.output).mistakes == [])
            #expect(try get("/metrics", deployment.port).head.hasPrefix("HTTP/1.1 404 "))
            for port in [port, deployment.port] {
                for path in ["/healthz", "/readyz"] {
                    #expect(try get(path, port).head.hasPrefix("HTTP/1.1 200 "))
                }
            }
            #expect(try get("/healthz", port).body == #"{"status":"ok"}"#)
            #expect(try get("/admin/v1/apps", port).head.hasPrefix("HTTP/1.1 404 "))
        }
    }

    @Test(
        "A real Prometheus scrapes both programs",
        .enabled(if: access("/usr/bin/prometheus", X_OK) == 0, "prometheus is not installed")
    )
    func prometheus() async throws {
        let deployment = try Deployment()
        defer { deployment.remove() }
        let (server, agent, own) = (unusedPort(), unusedPort(), unusedPort())
        try deployment.configure("a")
        for (file, section, port) in [("server", "server", server), ("a", "agent", agent)] {
            let path = "\(deployment.directory)/\(file).yaml"
            let text = try String(contentsOfFile: path, encoding: .utf8)
            let metrics = "\(section):\n  metrics: { listen: \"127.0.0.1:\(port)\" }\n"
            try deployment.write(
                "\(file).yaml",
                text.replacing("\(section):\n", with: metrics, maxReplacements: 1)
            )
        }
        try deployment.write(
            "prometheus.yaml",
            """
            global: { scrape_interval: 1s }
            scrape_configs:
              - { job_name: realm-server, static_configs: [{ targets: ["127.0.0.1:\(server)"] }] }
              - { job_name: realm-agent, static_configs: [{ targets: ["127.0.0.1:\(agent)"] }] }
            """
        )
        func result(_ query: String) async throws -> String {
            try await Programs.run(
                "promtool",
                ["query", "instant", "http://127.0.0.1:\(own)", query]
            ).output
        }
        try await deployment.withServer { _ in
            try await deployment.withAgent("a") { _ in
                try await deployment.withDaemon(
                    "prometheus",
                    [
                        "--config.file=\(deployment.directory)/prometheus.yaml",
                        "--storage.tsdb.path=\(deployment.directory)/prometheus",
                        "--web.listen-address=127.0.0.1:\(own)",
                    ],
                    log: "prometheus",
                    isUp: { try await result("vector(1)").contains("=> 1 ") }
                ) { _ in
                    for query in ["count(up == 1)", "realm_server_ready", "realm_agent_realm_open"]
                    {
                        let expected = query.hasPrefix("count") ? "=> 2 " : "=> 1 "
                        let isFound = try await eventually {
                            try await result(query).contains(expected)
                        }
                        #expect(isFound, "\(query)")
                    }
                }
            }
        }
    }

    @Test(
        "A server that cannot serve an address or socket of its configuration does not start",
        arguments: [
            // An address of no machine.
            ("metrics: { listen: \"192.0.2.1:9465\" }", "server.metrics_address"),
            ("admin_socket: /proc/no/such.sock", "server.admin_socket"),
        ]
    )
    func unservable(setting: String, code: String) async throws {
        let deployment = try Deployment()
        defer { deployment.remove() }
        let configuration = "\(deployment.directory)/server.yaml"
        let text = try String(contentsOfFile: configuration, encoding: .utf8)
        try deployment.write(
            "server.yaml",
            text.replacing("server:\n", with: "server:\n  \(setting)\n")
        )
        let outcome = try await Programs.run(
            "timeout",
            ["60", "\(Programs.directory)/realm-server", "serve", "--config", configuration]
        )
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("code=\(code)"), "\(outcome.errors)")
    }
}
