import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import Testing

@testable import Control

extension ControlTests {
    @Test("Metrics are well-formed OpenMetrics and tell states, amounts and what happened")
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
                #"realm_agent_integrated_changesets_total{realm="stock"} 2"#,
                #"realm_agent_integration_seconds_bucket{realm="stock",le="0.5"} 1"#,
                #"realm_agent_integration_seconds_bucket{realm="stock",le="0.1"} 0"#,
                #"realm_agent_integration_seconds_bucket{realm="stock",le="+Inf"} 1"#,
                #"realm_agent_plugin_failures_total{realm="",plugin="tell"} 1"#,
            ] {
                #expect(lines.contains(Substring(line)), "\(line) in \(text)")
            }
            for line in lines.dropLast() where !line.hasPrefix("#") {
                #expect(
                    line.wholeMatch(of: /[a-z_]+(\{([a-z_]+="[^"]*",?)+\})? -?[0-9.e+-]+/) != nil
                )
            }
        }
    }

    @Test("Over TCP metrics are served, and nothing else")
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
                    timeout: .seconds(30)
                )
                #expect(Int(reply.status.code) == status)
            }
            group.cancelAll()
        }
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
