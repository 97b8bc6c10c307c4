import FoundationEssentials
import Testing

/// A server of an app with flexible sync and roles, and agents with subscriptions.
struct FlexibleDeployment {
    let base: Deployment

    init() throws {
        self.base = try Deployment()
        try base.write(
            "server.yaml",
            """
            version: 1
            server:
              listen: 127.0.0.1:\(base.port)
              storage: sqlite:\(base.directory)/server/server.sqlite
              log: { level: info, output: stderr }
              limits: { comparisons_per_minute: 600 }
            apps:
              \(Deployment.app):
                sync: { mode: flexible, queryable_fields: [store, amount] }
                schema: \(base.directory)/schema.yaml
                rules:
                  Item:
                    - { name: manager, apply_when: "user.data.email == 'user@example.com'", read: true, write: true }
                    - { name: clerk, read: "store != 'secret'", write: "store != 'secret' AND amount != 99" }
                providers: { anonymous: true, email_password: { auto_confirm: true } }
            """
        )
        try base.write(
            "schema.yaml",
            """
            classes:
              Item:
                primary_key: _id
                properties: { _id: int, store: string, note: string?, amount: int? }
              Tag: { primary_key: _id, properties: { _id: int } }
            """
        )
    }

    /// Writes the configuration of an agent; `subscriptions` is a YAML list in one line.
    func configure(
        _ agent: String,
        user: Deployment.User = .anonymous,
        subscriptions: String
    ) throws {
        try base.configure(agent, user: user)
        let text = try String(
            contentsOfFile: "\(base.directory)/\(agent).yaml",
            encoding: .utf8
        )
        let partition = "partition: { string: \"main\" }"
        try base.write(
            "\(agent).yaml",
            text.replacing(partition, with: "subscriptions: \(subscriptions)")
        )
    }

    /// Runs a verb for the realm of an agent.
    func agent(_ name: String, _ arguments: String...) async throws -> Programs.Outcome {
        let files = ["--config", "\(base.directory)/\(name).yaml"]
        return try await Programs.run("realm-agent", arguments + files)
    }

    /// Rows `first` to `last` of a store, written by an agent's program.
    func insert(_ agent: String, _ ids: ClosedRange<Int>, store: String) async throws {
        try await Programs.sqlite3(
            base.file(agent),
            """
            WITH RECURSIVE n(i) AS
              (SELECT \(ids.lowerBound) UNION ALL SELECT i + 1 FROM n WHERE i < \(ids.upperBound))
            INSERT INTO Item(_id, store, note, amount) SELECT i, '\(store)', 'note ' || i, i FROM n;
            """
        )
    }

    /// The stores with their numbers of rows, as an agent's programs see them.
    func stores(_ agent: String) async throws -> String {
        let text = try await Programs.sqlite3(
            base.file(agent),
            "SELECT store || ' ' || count(*) FROM Item GROUP BY store ORDER BY store;"
        )
        return text.split(separator: "\n").joined(separator: ", ")
    }
}
