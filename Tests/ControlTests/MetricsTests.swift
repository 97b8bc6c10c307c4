import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import Testing

@testable import Control

extension ControlTests {
    @Test("Metrics are well-formed OpenMetrics with states, amounts and event counts")
    func metrics() async throws {
        try await withServer { client in
            let text = try await client.metrics()
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
            #expect(lines.suffix(2) == ["# EOF", ""])
            for line in [
                #"realm_agent_realms{state="offline"} 1"#, #"realm_agent_realms{state="open"} 0"#,
                #"realm_agent_causes{cause="backoff"} 1"#,
                #"realm_agent_pending_upload_bytes{realm="stock"} 12"#,
                #"realm_agent_rejected_writes_total{realm="stock",by="local"} 1"#,
                #"realm_agent_errors_total{realm="",code="206"} 1"#,
                #"realm_agent_uploaded_changesets_total{realm="stock"} 7"#,
                #"realm_agent_integrated_changesets_total{realm="stock"} 2"#,
                #"realm_agent_integration_seconds_bucket{realm="stock",le="0.5"} 1"#,
                #"realm_agent_integration_seconds_bucket{realm="stock",le="0.1"} 0"#,
                #"realm_agent_integration_seconds_bucket{realm="stock",le="+Inf"} 1"#,
                #"realm_agent_plugin_failures_total{realm="",plugin="tell"} 1"#,
                #"realm_agent_backoff_seconds{realm="stock"} 12.5"#,
                #"realm_agent_round_trip_seconds{realm="stock"} 0.25"#,
                #"realm_agent_pauses_total{realm="stock",cause="metered"} 1"#,
                #"realm_agent_acknowledgement_seconds_bucket{realm="stock",le="0.02"} 1"#,
                #"realm_agent_acknowledgement_seconds_bucket{realm="stock",le="10.0"} 1"#,
                #"realm_agent_acknowledgement_seconds_count{realm="stock"} 2"#,
                #"realm_agent_acknowledgement_seconds_sum{realm="stock"} 30.015625"#,
            ] {
                #expect(lines.contains(Substring(line)), "\(line) in \(text)")
            }
            let checker = OpenMetricsChecker(text)
            #expect(checker.mistakes == [])
            #expect(checker.families.count == 20)
        }
    }

    @Test("The TCP port serves metrics only")
    func tcp() async throws {
        let ports = AsyncStream<Int>.makeStream()
        let server = MetricsServer(
            host: "127.0.0.1",
            port: 0,
            metrics: Backend().metrics,
            onListening: { ports.continuation.yield($0) }
        )
        try await withThrowingTaskGroup { group in
            group.addTask { try await server.run() }
            var port = 0
            for await found in ports.stream {
                port = found
                break
            }
            for (path, status) in [("metrics", 200), ("v1/status", 404), ("v1/metrics", 404)] {
                let reply = try await HTTPClient.shared.execute(
                    HTTPClientRequest(url: "http://127.0.0.1:\(port)/\(path)"),
                    timeout: .seconds(180)
                )
                #expect(Int(reply.status.code) == status)
            }
            group.cancelAll()
        }
    }

    @Test(
        "The check of metrics finds every mistake it is there for",
        arguments: [
            "a 1\n# EOF\n", "# TYPE a gauge\na 1\n# EOF\n", "# TYPE a gauge\n# HELP a A.\na 1\n",
            "# TYPE a gauge\n# HELP a A.\na 1\n# EOF", "# TYPE a gauge\n\n# EOF\n",
            "# TYPE a counter\n# HELP a A.\na 1\n# EOF\n",
            "# TYPE a_total counter\n# HELP a_total A.\na_total_total 1\n# EOF\n",
            "# TYPE a counter\n# HELP a A.\na_total -1\n# EOF\n",
            "# TYPE a gauge\n# HELP a A.\na 1\na 1\n# EOF\n",
            "# TYPE a gauge\n# HELP a A.\na{b=\"\\x\"} 1\n# EOF\n",
            "# TYPE a gauge\n# HELP a A.\na{b=\"1\",b=\"2\"} 1\n# EOF\n",
            "# TYPE a gauge\n# HELP a A.\na{b=\"1\",} 1\n# EOF\n",
            "# TYPE a gauge\n# HELP a A.\na inf\n# EOF\n",
            "# TYPE a gauge\n# HELP a A\\t.\na 1\n# EOF\n",
            "# TYPE a set\n# HELP a A.\na 1\n# EOF\n",
            "# TYPE a gauge\n# HELP a A.\n# TYPE a gauge\n# HELP a A.\n# EOF\n",
            "# TYPE a histogram\n# HELP a A.\na_bucket{le=\"1.0\"} 1\na_count 1\na_sum 1\n# EOF\n",
            "# TYPE a histogram\n# HELP a A.\na_bucket{le=\"1.0\"} 3\na_bucket{le=\"+Inf\"} 2\n"
                + "a_count 2\na_sum 1\n# EOF\n",
        ]
    )
    func mistakes(text: String) {
        #expect(!OpenMetricsChecker(text).mistakes.isEmpty)
    }

    @Test("NaN and infinities are written as OpenMetrics spells them, and help is escaped")
    func spelling() {
        var metrics = OpenMetrics()
        metrics.gauge(
            "x",
            "One\nline, and a \\.",
            [
                .init([("n", "1")], .infinity), .init([("n", "2")], -.infinity),
                .init([("n", "3")], .nan), .init([("n", "4")], 1e300), .init([("n", "5")], 1e-7),
            ]
        )
        #expect(OpenMetricsChecker(metrics.text).mistakes == [])
        #expect(metrics.text.contains("x{n=\"1\"} +Inf\nx{n=\"2\"} -Inf\nx{n=\"3\"} NaN\n"))
    }

    @Test("Labels are escaped")
    func escaping() {
        var metrics = OpenMetrics()
        metrics.gauge("x", "X.", [.init([("a", "q\"b\\\n")], 0.25)])
        #expect(
            metrics.text == "# TYPE x gauge\n# HELP x X.\nx{a=\"q\\\"b\\\\\\n\"} 0.25\n# EOF\n"
        )
    }
}
