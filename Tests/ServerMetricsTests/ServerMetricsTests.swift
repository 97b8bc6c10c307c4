import FoundationEssentials
import ServerFixtures
import TestSupport
import Testing

@testable import ServerMetrics
@testable import ServerStore

@Suite("Metrics of the server", .timeLimit(.minutes(1)))
struct ServerMetricsTests {
    private static let app = AppID.named("shop-abcde")

    /// One event of each kind.
    private static let events: [MeasuredEvent] = [
        .integrated(app, changesets: 3, bytes: 700, mergedPairs: 5, seconds: 0.004),
        .corrected(app),
        .rejectedWrites(app, count: 2),
        .downloaded(app, .history, changesets: 4, bytes: 900),
        .downloaded(app, .bootstrap, changesets: 6, bytes: 1_000),
        .scanned(app, seconds: 0.3),
        .failed(app, code: 208, resetsClient: true),
        .failed(app, code: 206, resetsClient: false),
        .rejectedQuery(app),
        .answered(route: "log-in", status: 401, rejection: "InvalidPassword"),
        .loggedIn(app, provider: "local-userpass", outcome: "InvalidPassword"),
        .issuedToken(.refresh),
        .reached(.quota),
        .finished(.trimming, seconds: 1),
        .called(.write, seconds: 3),
        .storeFailed(code: "store.disk_full"),
        .builtSnapshot(seconds: 0.01),
    ]

    private static var gauges: ServerGauges {
        var gauges = ServerGauges()
        gauges.version = "1.2"
        gauges.connections = [app: 3]
        gauges.sessions = [
            .init(app: app, version: 14, mode: "flexible"): 2,
            .init(app: app, version: 9, mode: "partition"): 1,
        ]
        gauges.lagInVersions = [app: 17]
        gauges.lagInMilliseconds = [app: 2_500]
        gauges.waitingUploadBytes = 4_096
        gauges.storeCallsUnderWay = 2
        var stored = ServerGauges.StoredApp()
        (stored.realms, stored.historyBytes) = (5, 1 << 40)
        gauges.storedApps = [app: stored]
        gauges.disk = .init(databaseBytes: 1, logBytes: 2, freeBytes: 3, sizeInBytes: 4)
        gauges.obstacles = ["the server stops"]
        gauges.certificateExpiry = 1_900_000_000
        gauges.time = 1_800_000_000.25
        gauges.process = .current()
        return gauges
    }

    @Test("Each event is counted under its labels, and each gauge has its sample")
    func samples() {
        let meter = ServerMeter()
        for event in Self.events { meter.note(event) }
        let checker = OpenMetricsChecker(MetricsReport(meter, Self.gauges).openMetrics)
        #expect(checker.mistakes == [])
        let app = #"app="shop-abcde""#
        let expected: [(String, Double)] = [
            (#"realm_server_build{version="1.2"}"#, 1),
            ("realm_server_connections{\(app)}", 3),
            (#"realm_server_sessions{\#(app),protocol="14",mode="flexible"}"#, 2),
            (#"realm_server_sessions{\#(app),protocol="9",mode="partition"}"#, 1),
            ("realm_server_slowest_client_lag_versions{\(app)}", 17),
            ("realm_server_slowest_client_lag_seconds{\(app)}", 2.5),
            ("realm_server_waiting_upload_bytes", 4_096),
            ("realm_server_store_calls_under_way", 2),
            ("realm_server_uploaded_changesets_total{\(app)}", 3),
            ("realm_server_uploaded_bytes_total{\(app)}", 700),
            (#"realm_server_integration_seconds_bucket{\#(app),le="0.001"}"#, 0),
            (#"realm_server_integration_seconds_bucket{\#(app),le="0.005"}"#, 1),
            ("realm_server_merged_pairs_total{\(app)}", 5),
            ("realm_server_corrected_uploads_total{\(app)}", 1),
            ("realm_server_rejected_writes_total{\(app)}", 2),
            (#"realm_server_downloaded_changesets_total{\#(app),kind="history"}"#, 4),
            (#"realm_server_downloaded_bytes_total{\#(app),kind="bootstrap"}"#, 1_000),
            ("realm_server_scan_seconds_count{\(app)}", 1),
            (#"realm_server_session_errors_total{\#(app),code="206"}"#, 1),
            (#"realm_server_session_errors_total{\#(app),code="208"}"#, 1),
            (#"realm_server_client_resets_total{\#(app),code="208"}"#, 1),
            ("realm_server_rejected_queries_total{\(app)}", 1),
            (#"realm_server_requests_total{route="log-in",status="401"}"#, 1),
            (#"realm_server_rejected_requests_total{code="InvalidPassword"}"#, 1),
            (
                #"realm_server_log_ins_total{\#(app),provider="local-userpass",outcome="InvalidPassword"}"#,
                1
            ),
            (#"realm_server_tokens_total{kind="refresh"}"#, 1),
            (#"realm_server_tokens_total{kind="access"}"#, 0),
            (#"realm_server_limits_reached_total{limit="quota"}"#, 1),
            (#"realm_server_limits_reached_total{limit="connections-of-one"}"#, 0),
            (#"realm_server_store_call_seconds_sum{call="write"}"#, 3),
            (#"realm_server_store_failures_total{code="store.disk_full"}"#, 1),
            ("realm_server_snapshot_seconds_count", 1),
            (#"realm_server_job_seconds_count{work="trimming"}"#, 1),
            ("realm_server_realms{\(app)}", 5),
            ("realm_server_history_bytes{\(app)}", Double(1 << 40)),
            (#"realm_server_store_bytes{file="wal"}"#, 2),
            ("realm_server_disk_free_bytes", 3),
            ("realm_server_disk_bytes", 4),
            ("realm_server_ready", 0),
            ("realm_server_clock_seconds", 1_800_000_000.25),
            ("realm_server_certificate_expiry_seconds", 1_900_000_000),
        ]
        for (series, value) in expected {
            #expect(checker.samples[series] == value, "\(series)")
        }
        #expect(checker.samples[#"realm_server_client_resets_total{\#(app),code="206"}"#] == nil)
    }

    @Test("The resources of this process are read")
    func process() {
        let usage = ProcessUsage.current()
        #expect(usage.residentBytes > 1 << 20)
        #expect(usage.openDescriptors > 2)
        #expect(usage.descriptorLimit >= UInt64(usage.openDescriptors))
        #expect(usage.threads >= 1)
        // After 2020, and before the test began.
        #expect(usage.startTime > 1_577_836_800)
        #expect(usage.startTime < Date().timeIntervalSince1970 + 1)
        #expect(usage.cpuSeconds > 0)
    }

    @Test("docs/metrics.md lists every metric with its type, and no other")
    func documentation() throws {
        let meter = ServerMeter()
        for event in Self.events { meter.note(event) }
        let families = OpenMetricsChecker(MetricsReport(meter, Self.gauges).openMetrics).families
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let page = try String(contentsOf: root.appending(path: "docs/metrics.md"), encoding: .utf8)
        let rows = page.matches(of: /\| `([a-z_]+)` \| `(gauge|counter|histogram)` \|/).map {
            (String($0.1), String($0.2))
        }
        #expect(Dictionary(rows) { first, _ in first } == families)
        #expect(rows.count == families.count)
    }
}
