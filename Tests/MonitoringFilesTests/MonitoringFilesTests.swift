import FoundationEssentials
import Glibc
import ServerFixtures
import Subprocess
import TestSupport
import Testing

#if canImport(System)
    import System
#else
    import SystemPackage
#endif

/// The alert rules and dashboards of `packaging/monitoring`, judged by a real Prometheus.
@Suite(
    "Dashboards and alert rules",
    .enabled(
        if: access("/usr/bin/prometheus", X_OK) == 0 && access("/usr/bin/promtool", X_OK) == 0,
        "prometheus is not installed"
    ),
    .timeLimit(.minutes(10))
)
struct MonitoringFilesTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
    private static let folder = root.appending(path: "packaging/monitoring")

    private struct Dashboard: Decodable {
        struct Panel: Decodable {
            struct Target: Decodable { let expr: String }
            let title: String
            let targets: [Target]
        }
        let panels: [Panel]
    }

    /// Of the form that `promtool check rules` has accepted.
    private static func rules(_ program: String) throws -> [(alert: String, expression: String)] {
        let file = folder.appending(path: "\(program).rules.yaml")
        let text = try String(contentsOf: file, encoding: .utf8)
        return text.split(separator: "      - alert: ").dropFirst().map { rule in
            let lines = rule.split(separator: "\n").map { $0.trimmingPrefix { $0 == " " } }
            let first = lines.firstIndex { $0.hasPrefix("expr: ") } ?? 0
            let end = lines[(first + 1)...].firstIndex { $0.contains(#/^(labels|for): /#) }
            let expression = [lines[first].dropFirst("expr: ".count)].filter { $0 != ">-" }
            let rest = lines[(first + 1)..<(end ?? lines.endIndex)]
            return (String(lines[0]), (expression + rest).joined(separator: " "))
        }
    }

    private struct Failure: Error {
        let text: String
    }

    private static func run(_ program: String, _ arguments: [String]) async throws -> String {
        let result = try await Subprocess.run(
            .path(FilePath("/usr/bin/\(program)")),
            arguments: Arguments(arguments),
            input: .none,
            output: .string(limit: 16 << 20),
            error: .string(limit: 1 << 20)
        )
        guard result.terminationStatus.isSuccess else {
            throw Failure(text: "\(program) \(arguments): \(result.standardError)")
        }
        return result.standardOutput
    }

    @Test("Every rule fires in recorded trouble and is silent before; every panel finds series")
    func recordedTrouble() async throws {
        try await withTemporaryDirectory { directory in
            let trouble = RecordedTrouble(endingAt: Int(Date().timeIntervalSince1970) - 60)
            let (record, data) = ("\(directory)/record", "\(directory)/data")
            try Data(trouble.text.utf8).write(to: URL(filePath: record))
            _ = try await Self.run(
                "promtool",
                ["tsdb", "create-blocks-from", "openmetrics", record, data]
            )
            try Data("global: {}\n".utf8).write(to: URL(filePath: "\(directory)/prometheus.yaml"))
            try await withPrometheus(in: directory) { address in
                func series(_ expression: String, at time: Int) async throws -> [Substring] {
                    let text = try await Self.run(
                        "promtool",
                        ["query", "instant", "--time=\(time)", address, expression]
                    )
                    return text.split(separator: "\n")
                }
                for program in ["realm-server", "realm-agent"] {
                    let rules = try Self.rules(program)
                    #expect(rules.count >= 8)
                    for (alert, expression) in rules {
                        let before = try await series(expression, at: trouble.healthy)
                        #expect(before.isEmpty, "\(alert): \(before)")
                        let after = try await series(expression, at: trouble.end)
                        #expect(!after.isEmpty, "\(alert) finds nothing: \(expression)")
                    }
                    let file = Self.folder.appending(path: "\(program).dashboard.json")
                    let dashboard = try JSONDecoder().decode(
                        Dashboard.self,
                        from: try Data(contentsOf: file)
                    )
                    #expect(dashboard.panels.count >= 15)
                    for panel in dashboard.panels {
                        for target in panel.targets {
                            let found = try await series(target.expr, at: trouble.end)
                            #expect(!found.isEmpty, "\(panel.title): \(target.expr)")
                        }
                    }
                }
                // The same check finds an expression without series.
                #expect(try await series("realm_server_nothing", at: trouble.end).isEmpty)
            }
        }
    }

    @Test("The configurations of the pages are valid, with the job names of rules and panels")
    func pages() async throws {
        try await withTemporaryDirectory { directory in
            for page in ["operations", "metrics"] {
                let text = try String(
                    contentsOf: Self.root.appending(path: "docs/\(page).md"),
                    encoding: .utf8
                )
                // From the first key of the configuration to the end of its block, without indentation.
                let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
                let rules = try #require(lines.firstIndex { $0.hasSuffix("rule_files:") })
                let indent = lines[rules].prefix { $0 == " " }.count
                let block = lines[rules...].prefix { line in
                    !line.contains("```") && !line.hasSuffix("YAML")
                }
                let configuration = block.map { "\($0.dropFirst(indent))\n" }.joined()
                    .replacing("/usr/share/realm-server/monitoring", with: Self.folder.path)
                    .replacing("/usr/share/realm-agent/monitoring", with: Self.folder.path)
                for job in ["realm-server", "realm-agent"] {
                    #expect(configuration.contains("  - job_name: \(job)\n"), "\(page)")
                    let file = "\(job).rules.yaml"
                    #expect(configuration.contains(file), "\(page)")
                    let uses = try String(
                        contentsOf: Self.folder.appending(path: file),
                        encoding: .utf8
                    )
                    #expect(uses.contains("job=\"\(job)\""))
                }
                let file = "\(directory)/\(page).yml"
                try Data(configuration.utf8).write(to: URL(filePath: file))
                _ = try await Self.run("promtool", ["check", "config", file])
            }
        }
    }

    @Test("A counter's first event makes its rule fire")
    func firstEvent() async throws {
        let rules = try Self.rules("realm-agent")
        let alerts = ["RealmAgentErrors", "RealmAgentRejectedWrites", "RealmAgentPluginFailures"]
        for (alert, expression) in rules where alerts.contains(alert) {
            #expect(expression.contains("unless") && expression.contains("offset"), "\(alert)")
        }
        try await withTemporaryDirectory { directory in
            let test = """
                rule_files: [\(Self.folder.path)/realm-agent.rules.yaml]
                tests:
                  - interval: 1m
                    input_series:
                      - series: 'realm_agent_errors_total{realm="a",code="206",instance="i"}'
                        values: '_x20 1x100'
                    alert_rule_test:
                      - { eval_time: 19m, alertname: RealmAgentErrors }
                      - eval_time: 22m
                        alertname: RealmAgentErrors
                        exp_alerts:
                          - exp_labels: { severity: warning, realm: a, code: 206, instance: i }
                            exp_annotations:
                              summary: error 206 of a at i
                              remedy: docs/errors.md explains the code
                      - { eval_time: 60m, alertname: RealmAgentErrors }

                """
            let file = "\(directory)/test.yaml"
            try Data(test.utf8).write(to: URL(filePath: file))
            _ = try await Self.run("promtool", ["test", "rules", file])
        }
    }

    /// Lends the address of a Prometheus whose data are in the directory.
    private func withPrometheus(
        in directory: String,
        _ body: @Sendable (String) async throws -> Void
    ) async throws {
        let port = unusedPort()
        let address = "http://127.0.0.1:\(port)"
        let result = try await Subprocess.run(
            .path("/usr/bin/prometheus"),
            arguments: [
                "--config.file=\(directory)/prometheus.yaml",
                "--storage.tsdb.path=\(directory)/data",
                "--web.listen-address=127.0.0.1:\(port)", "--log.level=error",
            ],
            input: .none,
            output: .discarded,
            error: .string(limit: 1 << 20)
        ) { execution in
            defer { try? execution.send(signal: .terminate) }
            let isReady = await eventually {
                (try? await Self.run("promtool", ["query", "instant", address, "vector(1)"]))
                    != nil
            }
            #expect(isReady)
            try await body(address)
        }
        #expect(result.terminationStatus.isSuccess, "\(result.standardError)")
    }
}
