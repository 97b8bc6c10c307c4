import Config
import FoundationEssentials
import Settings
import Testing
import YAML

@Suite("The JSON Schema of the configuration")
struct ConfigurationSchemaTests {
    private let evaluator: JSONSchemaEvaluator

    init() throws {
        evaluator = try JSONSchemaEvaluator(ConfigurationSchema.text())
    }

    private func problems(_ text: String) throws -> [String] {
        let root = try YAMLNode.parse(Array(text.utf8), file: "x.yaml")
        return root.map(evaluator.problems) ?? []
    }

    @Test("It accepts the shipped files and the example of every section")
    func accepted() throws {
        let root = ConfigurationCorpusTests.folder.deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let shipped = try String(
            contentsOf: root.appending(path: "etc/realm-agent.yaml"),
            encoding: .utf8
        )
        #expect(try problems(shipped) == [])
        let example = try String(
            contentsOf: root.appending(path: "examples/realm-agent.yaml"),
            encoding: .utf8
        )
        #expect(try problems(example) == [])
        #expect(try problems(completeExample) == [])
        #expect(load(completeExample).diagnostics.filter { $0.severity == .error } == [])
    }

    /// Mistakes of shape: what a reader of the schema alone can see.
    private static let structuralCodes: Set<Diagnostic.Code> = [
        .unknownKey, .missingKey, .wrongType, .plainSecret,
    ]

    @Test("It rejects every file of the corpus whose shape is wrong")
    func corpus() throws {
        var count = 0
        for name in ConfigurationCorpusTests.names {
            let url = ConfigurationCorpusTests.folder.appending(path: name)
            let text = String(decoding: try Data(contentsOf: url), as: UTF8.self)
            let diagnostics = load(text).diagnostics
            let isWrong = diagnostics.contains {
                $0.severity == .error && Self.structuralCodes.contains($0.code)
                    && $0.location.file == "realm-agent.yaml"
            }
            guard isWrong, let root = try? YAMLNode.parse(Array(text.utf8), file: name) else {
                continue
            }
            count += 1
            #expect(!evaluator.problems(of: root).isEmpty, "\(name) is accepted")
        }
        #expect(count >= 30)
    }

    @Test(
        "It rejects values that do not fit",
        arguments: [
            "agent: { log: { level: loud } }", "apps: { a: { app_id: a } }",
            "apps: { a: { app_id: a, base_url: https://x, timeouts: { request: 30 } } }",
            "users: { u: { app: a, provider: jwt } }",
            "users: { u: { app: a, provider: anonymous, email: x } }",
            "plugins: { p: { use: exec } }", "network: { battery: { low_below: 20 } }",
            "realms: { r: { user: u } }",
            "realms: { r: { user: u, partition: null, subscriptions: [] } }",
            "realms: { r: { user: u, partition: { string: a, int: 1 } } }",
            "version: one",
        ]
    )
    func rejected(text: String) throws {
        #expect(try problems(text) != [])
    }
}

/// Every section of the configuration, as the overview of the design has it.
let completeExample = """
    version: 1
    agent:
      data_directory: /var/lib/realm-agent
      control_socket: /run/realm-agent/control.sock
      log: { level: info, output: journald, categories: { Sync.Client.Reset: debug } }
      metrics: { listen: 127.0.0.1:9464 }
    apps:
      shop:
        app_id: shop-abcde
        base_url: https://sync.example.com
        share_connections: true
        timeouts: { request: 60s, connect: 2m, keep_alive: 60s, pong: 2m, linger: 30s, fast_reconnect: 60s }
        backoff: { initial: 1s, maximum: 5m, multiplier: 2, jitter: 0.25 }
        tls: { ca_file: /etc/ssl/certs/ca-certificates.crt }
        headers: { X-Site: "7", X-Key: { credential: site-key } }
    users:
      till-7:
        app: shop
        provider: email-password
        email: till-7@example.com
        password: { credential: till-7-password }
      robot: { app: shop, provider: jwt, token: { command: [/usr/bin/token, robot] } }
    realms:
      stock:
        user: till-7
        partition: { string: "store-42" }
        schema: /etc/realm-agent.d/schemas/stock.yaml
        open: { download: once, timeout: 30s }
        client_reset: { mode: recover-unsynced-changes, before: [keep-copy], after: [tell-ops] }
        on_error: [tell-ops]
        schedule:
          mode: continuous
          windows: [ "Mon-Fri 22:00-06:00", "Sat,Sun 00:00-24:00" ]
          timezone: UTC
          pause_on: [ poor-network, metered, low-battery ]
      orders:
        user: till-7
        subscriptions:
          - { name: open-orders, class: Order, query: "store == 'store-42' AND closed == false" }
        schedule: { mode: refresh, refresh: "*/15 * * * *", jitter: 30s }
    network:
      poor: { rtt_above: 1s, loss_above: 10%, failures: 3 in 5m, recover_after: 1m }
    plugins:
      keep-copy: { use: backup-realm, directory: /var/backups/realm-agent, keep: 5 }
      tell-ops: { use: exec, command: [/usr/local/bin/tell-ops], timeout: 10s }

    """
