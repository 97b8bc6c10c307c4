import FoundationEssentials
import TestSupport
import Testing

@Suite("The agent behind a bad network, in namespaces of its own", .timeLimit(.minutes(30)))
struct BadNetworkTests {
    private static let server = "\(BadLink.farAddress):9090"

    private func configure(_ deployment: Deployment) throws {
        let directory = deployment.directory
        try deployment.write(
            "server.yaml",
            """
            version: 1
            server:
              listen: \(Self.server)
              public_url: http://\(Self.server)
              storage: sqlite:\(directory)/server/server.sqlite
              log: { level: info, output: stderr }
            apps:
              \(Deployment.app):
                sync: { mode: partition, partition_key: site, partition_type: string }
                development_mode: true
                providers: { anonymous: true }
            """
        )
        try deployment.write(
            "near.yaml",
            """
            version: 1
            agent:
              data_directory: \(directory)/near
              control_socket: \(directory)/near.sock
              log: { level: info, output: stderr }
            apps:
              app:
                app_id: \(Deployment.app)
                base_url: http://\(Self.server)
                backoff: { initial: 100ms, maximum: 1s }
                timeouts: { connect: 1m, keep_alive: 5s, pong: 1m, linger: 0s }
            users: { near: { app: app, provider: anonymous } }
            network:
              poor: { rtt_above: 1s, loss_above: 10%, recover_after: 1s, probe_every: 10s }
            realms:
              stock:
                user: near
                partition: { string: main }
                schema: \(directory)/schema.yaml
                schedule: { pause_on: [poor-network] }
            """
        )
    }

    private func agent(_ deployment: Deployment, _ verb: String...) async throws -> String {
        let outcome = try await Programs.run(
            "realm-agent",
            verb + ["--config", "\(deployment.directory)/near.yaml"]
        )
        return outcome.output
    }

    private func expect(_ words: String..., of deployment: Deployment) async throws {
        var status = ""
        let isSo = try await eventually {
            status = try await agent(deployment, "status", "--json")
            return words.allSatisfy(status.contains)
        }
        try #require(isSo, "\(words): \(status) \(deployment.log("near"))")
    }

    @Test(
        "It pauses and reports a slow, lossy or missing network, and resumes automatically",
        .enabled(if: BadLink.obstacle == nil, "\(BadLink.obstacle ?? "")")
    )
    func pausing() async throws {
        let deployment = try Deployment()
        defer { deployment.remove() }
        try configure(deployment)
        try await BadLink.with(directory: deployment.directory) { link in
            try await deployment.withDaemon(
                "realm-server",
                ["serve", "--config", "\(deployment.directory)/server.yaml"],
                through: link.far,
                log: "server",
                isUp: {
                    let address = Self.server.replacing(":", with: "/")
                    let probe = link.far + ["bash", "-c", "exec 3<>/dev/tcp/\(address)"]
                    return try await Programs.run("nsenter", Array(probe[1...])).status == 0
                }
            ) { _ in
                try await deployment.withAgent("near", through: link.near) { _ in
                    try await tell(deployment, link)
                }
            }
        }
    }

    private func tell(_ deployment: Deployment, _ link: BadLink) async throws {
        let isOpen = #""state":"open""#
        try await link.become(.init(delayInMilliseconds: 5))
        try await expect(isOpen, of: deployment)

        try await link.become(.init(delayInMilliseconds: 3_000))
        try await expect(#""cause":"poor-network""#, "a round trip takes", of: deployment)
        try await Programs.sqlite3(
            deployment.file("near"),
            "INSERT INTO \"Item\"(_id, owner) VALUES (1, 'x');"
        )
        try await link.become(.init(delayInMilliseconds: 5))
        try await expect(isOpen, #""pending_upload_bytes":0,"#, of: deployment)

        try await link.become(.init(delayInMilliseconds: 20, lossInPercent: 25, rateInKilobits: 64))
        try await Programs.sqlite3(
            deployment.file("near"),
            """
            WITH RECURSIVE n(i) AS (VALUES (2) UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
            INSERT INTO "Item"(_id, owner) SELECT i, hex(randomblob(100)) FROM n;
            """
        )
        try await expect(#""cause":"poor-network""#, of: deployment)
        try await link.become(.init(delayInMilliseconds: 5))
        try await expect(isOpen, #""pending_upload_bytes":0,"#, of: deployment)

        try await link.goDown()
        try await expect(#""cause":"no-network""#, of: deployment)
        try await link.comeUp()
        try await expect(isOpen, of: deployment)

        let events = try await agent(deployment, "events")
        let metrics = try await Programs.run(
            "curl",
            ["-s", "--unix-socket", "\(deployment.directory)/near.sock", "http://agent/v1/metrics"]
        ).output
        for cause in ["poor-network", "no-network"] {
            #expect(events.contains(#""cause":"\#(cause)""#), "\(events)")
            #expect(deployment.log("near").contains("cause=\(cause)"))
            #expect(metrics.contains(#"realm_agent_pauses_total{realm="stock",cause="\#(cause)"}"#))
        }
        #expect(metrics.contains(#"realm_agent_round_trip_seconds{realm="stock"} "#), "\(metrics)")
    }
}
