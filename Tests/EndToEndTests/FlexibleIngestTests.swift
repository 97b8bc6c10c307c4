import FoundationEssentials
import TestSupport
import Testing

/// Flexible sync, 14: asymmetric classes, from a program's INSERT to the operator's program.
@Suite("Asymmetric classes, with the real programs", .serialized, .timeLimit(.minutes(20)))
struct FlexibleIngestTests {
    private func world() throws -> Deployment {
        let deployment = try Deployment()
        try deployment.write(
            "server.yaml",
            """
            version: 1
            server:
              listen: 127.0.0.1:\(deployment.port)
              storage: sqlite:\(deployment.directory)/server/server.sqlite
              log: { level: info, output: stderr }
            apps:
              \(Deployment.app):
                sync: { mode: flexible, queryable_fields: [store] }
                schema: \(deployment.directory)/schema.yaml
                providers: { anonymous: true }
                rules:
                  default: { read: true, write: true }
                asymmetric:
                  command: [/bin/sh, -c, "cat >> \(deployment.directory)/taken.jsonl"]
                  spool: \(deployment.directory)/spool
            """
        )
        try deployment.write(
            "schema.yaml",
            """
            classes:
              Item: { primary_key: _id, properties: { _id: int, store: string? } }
              Reading: { asymmetric: true, primary_key: _id, properties: { _id: int, value: double } }
            """
        )
        try deployment.configure("gauge")
        let path = "\(deployment.directory)/gauge.yaml"
        let text = try String(contentsOfFile: path, encoding: .utf8)
        try deployment.write(
            "gauge.yaml",
            text.replacing(
                #"partition: { string: "main" }"#,
                with: "subscriptions: [ { class: Item } ]"
            )
        )
        return deployment
    }

    private struct Status: Decodable {
        struct Realm: Decodable {
            struct Ingest: Decodable {
                let pending: Int
                let uploaded: Int
                let lag_seconds: Double?
            }

            let ingest: Ingest?
        }

        let realms: [Realm]
    }

    private func ingest(_ deployment: Deployment) async throws -> Status.Realm.Ingest? {
        let outcome = try await Programs.run(
            "realm-agent",
            ["status", "--json", "--config", "\(deployment.directory)/gauge.yaml"]
        )
        let status = try JSONDecoder().decode(Status.self, from: Data(outcome.output.utf8))
        return status.realms.first?.ingest
    }

    private func metrics(_ deployment: Deployment) async throws -> String {
        let outcome = try await Programs.run(
            "bash",
            [
                "-c",
                "exec 3<>/dev/tcp/127.0.0.1/$0; printf 'GET /metrics HTTP/1.1\\r\\nHost: a\\r\\nConnection: close\\r\\n\\r\\n' >&3; cat <&3",
                "\(metricsPort)",
            ]
        )
        return outcome.output
    }

    private let metricsPort = unusedPort()

    private func taken(_ deployment: Deployment) -> Set<Int> {
        let text =
            (try? String(contentsOfFile: "\(deployment.directory)/taken.jsonl", encoding: .utf8))
            ?? ""
        return Set(
            text.matches(of: /"document":\{[^}]*"_id":([0-9]+)/).compactMap { Int($0.1) }
        )
    }

    @Test("INSERT and ingest reach the operator's program; no row stays, and status counts")
    func endToEnd() async throws {
        let deployment = try world()
        defer { deployment.remove() }
        let path = "\(deployment.directory)/gauge.yaml"
        let text = try String(contentsOfFile: path, encoding: .utf8)
        try deployment.write(
            "gauge.yaml",
            text.replacing(
                "agent:\n",
                with: "agent:\n  metrics: { listen: \"127.0.0.1:\(metricsPort)\" }\n",
                maxReplacements: 1
            )
        )
        // The classes have to exist before anything is written.
        try await deployment.withServer { _ in
            let first = try await deployment.sync("gauge")
            #expect(first.status == 0, "\(first.errors)")
        }
        try await deployment.withAgent("gauge") { _ in
            try await Programs.sqlite3(
                deployment.file("gauge"),
                "INSERT INTO Reading(_id, value) VALUES (1, 0.5), (2, 1.5);"
            )
            let lines = (3...50).map { #"{"_id":\#($0),"value":\#($0)}"# }
            let outcome = try await Programs.run(
                "realm-agent",
                ["ingest", "stock", "Reading", "--config", path],
                input: lines.joined(separator: "\n") + "\n"
            )
            #expect(outcome.status == 0, "\(outcome.errors)")
            // Without a server they wait, in the history and in no table.
            try await until { try await ingest(deployment)?.pending == 50 }
            let waiting = try #require(try await ingest(deployment))
            #expect(waiting.uploaded == 0)
            #expect((waiting.lag_seconds ?? -1) >= 0)
            let count = try await Programs.sqlite3(
                deployment.file("gauge"),
                "SELECT count(*) FROM Reading;"
            )
            #expect(count == "0\n")
            let text = try await metrics(deployment)
            #expect(text.contains("realm_agent_ingest_pending_objects{realm=\"stock\"} 50"))
        }
        // Also those of an earlier process count.
        try await deployment.withAgent("gauge") { _ in
            #expect(try await ingest(deployment)?.pending == 50)
            try await deployment.withServer { _ in
                let sync = try await deployment.sync("gauge")
                #expect(sync.status == 0, "\(sync.errors)\(deployment.log("gauge"))")
                let done = try #require(try await ingest(deployment))
                #expect(done.pending == 0)
                #expect(done.uploaded == 50)
                #expect(done.lag_seconds == nil)
                try await until { taken(deployment) == Set(1...50) }
                let text = try await metrics(deployment)
                #expect(text.contains("realm_agent_ingested_objects_total{realm=\"stock\"} 50"))
                #expect(text.contains("realm_agent_ingest_lag_seconds{realm=\"stock\"} 0"))
                // Nothing of it comes back.
                let left = try await Programs.sqlite3(
                    deployment.file("gauge"),
                    "SELECT count(*) FROM Reading;"
                )
                #expect(left == "0\n")
            }
        }
    }
}
