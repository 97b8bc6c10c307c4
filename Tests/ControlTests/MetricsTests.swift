import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import TestSupport
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
                #"realm_agent_offline_limit_used_ratio{realm="stock"} 0.5"#,
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
            #expect(checker.families.count == 25)
        }
    }

    @Test("The TCP port serves metrics and health only")
    func tcp() async throws {
        let ports = AsyncStream<Int>.makeStream()
        let server = MetricsServer(
            host: "127.0.0.1",
            port: 0,
            metrics: Backend().metrics,
            readiness: Backend().readiness,
            onListening: { ports.continuation.yield($0) }
        )
        try await withThrowingTaskGroup { group in
            group.addTask { try await server.run() }
            var port = 0
            for await found in ports.stream {
                port = found
                break
            }
            for (path, status) in [
                ("metrics", 200), ("healthz", 200), ("readyz", 503), ("v1/status", 404),
                ("v1/metrics", 404),
            ] {
                let reply = try await HTTPClient.shared.execute(
                    HTTPClientRequest(url: "http://127.0.0.1:\(port)/\(path)"),
                    timeout: .seconds(180)
                )
                #expect(Int(reply.status.code) == status)
            }
            group.cancelAll()
        }
    }
}
