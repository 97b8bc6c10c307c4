import FoundationEssentials
import ServerFixtures

@testable import Control
@testable import ServerMetrics
@testable import ServerStore

/// Scrapes of both programs for an hour: 30 healthy minutes, then 30 with every kind of trouble.
struct RecordedTrouble {
    /// Seconds since 1970.
    let start: Int
    static let stepInSeconds = 30
    static let healthySteps = 60
    static let steps = 120

    /// The last healthy scrape, and the last one.
    var healthy: Int { start + (Self.healthySteps - 1) * Self.stepInSeconds }
    var end: Int { start + (Self.steps - 1) * Self.stepInSeconds }

    private var families: [String: (head: [String], samples: [String])] = [:]
    private var order: [String] = []
    private let meter = ServerMeter()
    private var totals = EventTotals()
    private var acknowledged: UInt64 = 0

    private static let app = AppID.named("shop-abcde")

    init(endingAt now: Int) {
        start = now - Self.steps * Self.stepInSeconds
        for step in 0..<Self.steps {
            let time = start + step * Self.stepInSeconds
            let isTroubled = step >= Self.healthySteps
            work()
            if isTroubled { fail() }
            add(
                MetricsReport(meter, gauges(at: time, isTroubled)).openMetrics,
                of: "realm-server",
                at: time
            )
            add(
                AgentMetrics(
                    status(isTroubled),
                    totals,
                    stalled: isTroubled ? ["stock"] : []
                ).openMetrics,
                of: "realm-agent",
                at: time
            )
            for job in ["realm-server", "realm-agent"] {
                let text = "# TYPE up gauge\n# HELP up Up.\nup \(isTroubled ? 0 : 1)\n# EOF\n"
                add(text, of: job, at: time)
            }
        }
    }

    /// With a time at each sample, as `promtool` reads them.
    var text: String {
        let lines = order.flatMap { name in
            families[name].map { $0.head + $0.samples } ?? []
        }
        return (lines + ["# EOF"]).joined(separator: "\n") + "\n"
    }

    private mutating func add(_ exposition: String, of job: String, at time: Int) {
        var name = ""
        for line in exposition.split(separator: "\n") where line != "# EOF" {
            if line.hasPrefix("# ") {
                let words = line.split(separator: " ")
                name = String(words[2])
                if words[1] == "TYPE", families[name] == nil {
                    families[name] = ([], [])
                    order.append(name)
                }
                let isNew = families[name]?.head.contains(String(line)) == false
                if isNew { families[name]?.head.append(String(line)) }
            } else if let space = line.lastIndex(of: " ") {
                let source = "job=\"\(job)\",instance=\"\(job):1\""
                let series = line[..<space]
                let labelled =
                    series.hasSuffix("}")
                    ? "\(series.dropLast()),\(source)}" : "\(series){\(source)}"
                families[name]?.samples.append("\(labelled)\(line[space...]) \(time)")
            }
        }
    }

    // MARK: The server

    private func work() {
        let app = Self.app
        meter.note(.integrated(app, changesets: 2, bytes: 900, mergedPairs: 1, seconds: 0.003))
        meter.note(.downloaded(app, .history, changesets: 4, bytes: 1_800))
        meter.note(.scanned(app, seconds: 0.002))
        meter.note(.loggedIn(app, provider: "anon-user", outcome: "ok"))
        meter.note(.answered(route: "log-in", status: 200, rejection: nil))
        meter.note(.issuedToken(.access))
        for _ in 0..<10 { meter.note(.called(.write, seconds: 0.004)) }
        meter.note(.called(.read, seconds: 0.001))
        meter.note(.finished(.sweeping, seconds: 0.1))
        meter.note(.builtSnapshot(seconds: 0.2))
    }

    private func fail() {
        let app = Self.app
        for _ in 0..<5 {
            meter.note(.loggedIn(app, provider: "local-userpass", outcome: "InvalidPassword"))
            meter.note(.answered(route: "log-in", status: 401, rejection: "InvalidPassword"))
        }
        meter.note(.failed(app, code: 208, resetsClient: true))
        meter.note(.rejectedWrites(app, count: 5))
        meter.note(.rejectedQuery(app))
        meter.note(.corrected(app))
        meter.note(.reached(.quota))
        meter.note(.storeFailed(code: "store.disk_full"))
        for _ in 0..<10 { meter.note(.called(.write, seconds: 8)) }
    }

    private func gauges(at time: Int, _ isTroubled: Bool) -> ServerGauges {
        let app = Self.app
        var gauges = ServerGauges()
        gauges.connections = [app: 3]
        gauges.sessions = [.init(app: app, version: 14, mode: "partition"): 3]
        gauges.lagInVersions = [app: isTroubled ? 5_000 : 2]
        gauges.lagInMilliseconds = [app: isTroubled ? 900_000 : 20]
        gauges.waitingUploadBytes = isTroubled ? 1 << 20 : 0
        gauges.storeCallsUnderWay = 1
        var stored = ServerGauges.StoredApp()
        (stored.realms, stored.historyBytes) = (4, 1 << 20)
        gauges.storedApps = [app: stored]
        gauges.disk = .init(
            databaseBytes: 1 << 20,
            logBytes: 0,
            freeBytes: isTroubled ? 5 : 50,
            sizeInBytes: 100
        )
        gauges.obstacles = isTroubled ? ["the database is away"] : []
        gauges.certificateExpiry = Int64(time + (isTroubled ? 3 : 60) * 86_400)
        gauges.time = Double(time + (isTroubled ? 30 : 0))
        gauges.process = ProcessUsage(
            cpuSeconds: Double(time - start) / 10,
            residentBytes: 50 << 20,
            openDescriptors: isTroubled ? 95 : 30,
            descriptorLimit: 100,
            threads: 8,
            startTime: Double(start)
        )
        return gauges
    }

    // MARK: The agent

    private mutating func status(_ isTroubled: Bool) -> StatusReport {
        var open = realm("stock", .open)
        acknowledged += isTroubled ? 0 : 1
        open.acknowledgedVersion = acknowledged
        open.localVersion = acknowledged + (isTroubled ? 9 : 0)
        open.uploadedBytes = acknowledged * 100
        open.downloadedBytes = 10 * open.uploadedBytes
        open.roundTripSeconds = 0.02
        open.offlineLimitUsed = isTroubled ? 0.9 : 0
        totals.count(
            AgentEvent(
                realm: "stock",
                .changed(ChangePayload(changesets: 1, seconds: 0.01, localVersion: 1))
            )
        )
        totals.countUploads(realm: "stock", changesets: 1)
        totals.countAcknowledgement(realm: "stock", seconds: 0.05)
        guard isTroubled else { return StatusReport(version: "1", pid: 1, realms: [open]) }
        for fact: EventPayload in [
            .error(ErrorPayload(code: "206", message: "x", fatal: true)),
            .rejected(
                RejectedPayload(by: .server, className: "A", key: "1", property: nil, reason: "x")
            ),
            .reset(ResetPayload(stage: .failed)),
            .state(StatePayload(state: .paused, cause: "metered")),
            .plugin(
                PluginPayload(plugin: "x", handled: "x", failure: "x")
            ),
        ] {
            totals.count(AgentEvent(realm: "stock", fact))
        }
        var offline = realm("orders", .offline)
        (offline.cause, offline.secondsToNextAttempt) = ("backoff", 4)
        return StatusReport(
            version: "1",
            pid: 1,
            realms: [open, offline, realm("old", .failed)]
        )
    }

    private func realm(_ name: String, _ state: RealmState) -> RealmStatus {
        RealmStatus(name: name, path: "/x", app: "a", user: "u", partition: "1", state: state)
    }
}
