import FoundationEssentials
import TestSupport
import Testing

@testable import Control

@Suite("docs/control-api.md on events and metrics", .timeLimit(.minutes(10)))
struct EventDocumentationTests {
    private static let page: String = {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let data = try? Data(contentsOf: root.appending(path: "docs/control-api.md"))
        return String(decoding: data ?? Data(), as: UTF8.self)
    }()

    /// The rows of the table under a heading: the names in backquotes in the first two columns.
    private static func rows(under heading: String) -> [(name: String, members: [String])] {
        let section = page.split(separator: "\n## ").first { $0.hasPrefix(heading) } ?? ""
        return section.split(separator: "\n").compactMap { line in
            let cells = line.split(separator: "|").map(String.init)
            guard line.hasPrefix("| `"), cells.count >= 2 else { return nil }
            func words(_ text: String) -> [String] {
                text.matches(of: /`([^`]+)`/).map { String($0.1) }
            }
            return words(cells[0]).first.map { ($0, words(cells[1])) }
        }
    }

    @Test("It lists every kind of event, each with the members that it may have, and no other")
    func events() throws {
        // The first row is the table's head.
        let rows = Self.rows(under: "Events").drop { $0.name == "event" }
        #expect(rows.map(\.name) == EventPayload.Kind.allCases.map(\.rawValue))
        var reset = ResetPayload(stage: .failed, mode: "manual", detail: "x")
        (reset.step, reset.fraction, reset.didRecover, reset.discarded) = ("x", 1, true, 1)
        (reset.recoveryPath, reset.token) = ("x", "x")
        let whole: [EventPayload] = [
            .state(StatePayload(state: .paused, cause: "metered", detail: "x")),
            .error(
                ErrorPayload(
                    code: "1",
                    message: "x",
                    fatal: true,
                    sdkCode: 7,
                    serverCode: 206,
                    logURL: "x"
                )
            ),
            .rejected(
                RejectedPayload(by: .server, className: "A", key: "1", property: "a", reason: "x")
            ),
            .reset(reset),
            .subscription(
                SubscriptionPayload(version: 1, state: "error", message: "x", rejected: ["x"])
            ),
            .changed(ChangePayload(changesets: 1, seconds: 1, localVersion: 1)),
            .plugin(
                PluginPayload(plugin: "x", handled: "x", decision: "x", note: "x", failure: "x")
            ),
            .user(UserPayload(user: "x", change: .loggedIn)),
            .reloaded(ReloadPayload(applied: [], needRestart: [])),
            .gap,
        ]
        #expect(whole.map(\.kind) == EventPayload.Kind.allCases)
        for (fact, row) in zip(whole, rows) {
            let record = EventRecord(sequence: 1, at: "x", event: AgentEvent(realm: "r", fact))
            let text = try record.controlJSON()
            let members = text.matches(of: /"([a-z_]+)":/).map { String($0.1) }
            let common: Set = ["at", "event", "realm", "sequence"]
            #expect(Set(members).subtracting(common) == Set(row.members), "\(row.name)")
        }
    }

    @Test("It lists every metric with its type, and no other")
    func metrics() {
        let documented = Dictionary(
            Self.rows(under: "Metrics").map { ($0.name, $0.members.first ?? "") }
        ) { first, _ in first }
        let report = StatusReport(version: "1", pid: 1, realms: [])
        let families = OpenMetricsChecker(AgentMetrics(report, EventTotals()).openMetrics).families
        #expect(documented == families)
    }
}
