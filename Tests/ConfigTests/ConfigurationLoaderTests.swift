import Changesets
import Scheduling
import SchemaFiles
import Schemas
import Scopes
import Settings
import Testing

@testable import Config

@Suite("Loading a configuration")
struct ConfigurationLoaderTests {
    private static let complete = """
        version: 1
        agent:
          data_directory: /srv/realms/
          control_socket: /run/x.sock
          log: { level: debug, output: stderr, categories: { Sync.Client: trace } }
        apps:
          shop:
            app_id: shop-abcde
            base_url: HTTPS://Sync.Example.com:8443/base/
            location: { http: "https://[::1]:1", ws: wss://ws.example.com }
            timeouts: { request: 1s, connect: 2s, keep_alive: 30s, pong: 4s, linger: 0s, fast_reconnect: 6s }
            backoff: { initial: 10ms, maximum: 1h30m, multiplier: 1.5, jitter: 0 }
            tls: { ca_file: /etc/ca.pem }
        users:
          north: { app: shop, provider: anonymous }
          south:
            app: shop
            provider: email-password
            email: south@example.com
            password: { credential: south }
            register: true
        realms:
          stock:
            user: south
            partition: { string: "${user.email}/${env.STORE}/${host.name}" }
            schema: /etc/realm-agent.d/schemas/stock.yaml
            path: "/srv/${env.STORE}//stock.sqlite"
            enabled: false
            capture: { delay: 5ms, split_gap: 2s }
          own: { user: north, partition: { object_id: "${user.id}" } }
          notes: { user: north, partition: null, schema: { classes: {} } }

        """

    @Test("The control socket can be read despite other mistakes")
    func controlSocket() {
        func socket(_ main: String, _ dropIns: String...) -> (path: String?, diagnostics: [String])
        {
            let sources = dropIns.enumerated().map { index, text in
                ConfigurationSource(file: "\(index).yaml", bytes: Array(text.utf8))
            }
            let result = ConfigurationParser.controlSocket(
                main: ConfigurationSource(file: "main.yaml", bytes: Array(main.utf8)),
                dropIns: sources
            )
            return (result.path, result.diagnostics.map(\.description))
        }
        for text in ["", "agent:", "agent: 7", "agent: { log: 7 }", "realms: [x]\nnonsense: 1"] {
            #expect(socket(text) == ("/run/realm-agent/control.sock", []), "\(text)")
        }
        let mistaken =
            "agent: { control_socket: /run/a.sock, lgo: 1 }\nrealms: { r: { x: '${env.X}' } }"
        #expect(socket(mistaken) == ("/run/a.sock", []))
        #expect(socket(mistaken, "agent: { control_socket: /run/b.sock }").path == "/run/b.sock")
        #expect(socket(mistaken, "agent: {").path == nil)
        let relative = socket("agent:\n  control_socket: run/a.sock")
        #expect(relative.path == nil)
        #expect(relative.diagnostics.count == 1)
        #expect(
            relative.diagnostics.first?.hasPrefix("main.yaml:2:19: error: agent.control_socket: ")
                == true,
            "\(relative)"
        )
    }

    @Test("Every key of this version arrives")
    func complete() throws {
        let result = load(Self.complete)
        #expect(result.diagnostics.map(\.description) == [])
        let configuration = try #require(result.configuration)

        #expect(
            configuration.daemon
                == DaemonConfiguration(
                    dataDirectory: "/srv/realms",
                    controlSocket: "/run/x.sock",
                    controlGroup: "realm-agent",
                    log: LogConfiguration(
                        level: .debug,
                        output: .stderr,
                        categories: ["Sync.Client": .trace]
                    ),
                    metricsAddress: nil
                )
        )
        let app = try #require(configuration.apps.first)
        #expect(configuration.apps.map(\.name) == ["shop"])
        #expect(app.appID == "shop-abcde")
        #expect(app.baseURL.description == "https://sync.example.com:8443/base")
        #expect(app.location?.http.description == "https://[::1]:1")
        #expect(app.location?.webSocket.description == "wss://ws.example.com")
        #expect(
            app.timeouts
                == TimeoutConfiguration(
                    request: .seconds(1),
                    connect: .seconds(2),
                    keepAlive: .seconds(30),
                    pong: .seconds(4),
                    linger: .zero,
                    fastReconnect: .seconds(6)
                )
        )
        #expect(
            app.backoff
                == BackoffConfiguration(
                    initial: .milliseconds(10),
                    maximum: .seconds(5_400),
                    multiplier: 1.5,
                    jitter: 0
                )
        )
        #expect(app.tls == TLSConfiguration(certificateAuthorityFile: "/etc/ca.pem"))
        #expect(
            configuration.users == [
                UserConfiguration(name: "north", app: app, provider: .anonymous),
                UserConfiguration(
                    name: "south",
                    app: app,
                    provider: .emailPassword(
                        email: "south@example.com",
                        password: .credential(name: "south"),
                        registers: true
                    )
                ),
            ]
        )
        #expect(configuration.realms.map(\.name) == ["notes", "own", "stock"])
        let stock = try #require(configuration.realms.last)
        #expect(stock.user.name == "south")
        #expect(stock.scope == .partition(.fixed(.string("south@example.com/42/till"))))
        #expect(stock.path == "/srv/42/stock.sqlite")
        #expect(!stock.isEnabled)
        #expect(stock.capture.delay == .milliseconds(5))
        #expect(stock.capture.splitGap == .seconds(2))
        #expect(stock.schema?.schema["Item"]?.primaryKey?.type == .objectID)
        #expect(
            stock.schema?.options == [
                PropertyName(className: "Item", property: "stock"): .init(isCounter: true)
            ]
        )
        #expect(configuration.realms[0].schema?.schema.classes == [])
        #expect(configuration.realms[0].scope == .partition(.fixed(.null)))
        #expect(configuration.realms[1].schema == nil)
        #expect(configuration.realms[1].path == "/srv/realms/realms/own/own.sqlite")
        #expect(configuration.realms[1].isEnabled)
    }

    @Test(
        "An empty file is a valid configuration without realms",
        arguments: ["", "# nothing", "version: 1", "agent:\napps:\nusers:\nrealms:\n", "~"]
    )
    func empty(text: String) throws {
        let result = load(text)
        #expect(result.diagnostics == [])
        #expect(
            result.configuration
                == AgentConfiguration(
                    daemon: DaemonConfiguration(
                        dataDirectory: "/var/lib/realm-agent",
                        controlSocket: "/run/realm-agent/control.sock",
                        controlGroup: "realm-agent",
                        log: LogConfiguration(level: .info, output: nil, categories: [:]),
                        metricsAddress: nil
                    ),
                    apps: [],
                    users: [],
                    realms: [],
                    plugins: [],
                    network: NetworkPolicy()
                )
        )
    }

    @Test("Defaults are those of the documentation")
    func defaults() throws {
        let configuration = try #require(
            load(
                """
                apps: { a: { app_id: a, base_url: https://a.example.com } }
                users: { u: { app: a, provider: anonymous } }
                realms: { r: { user: u, partition: { string: "" } } }
                """
            ).configuration
        )
        #expect(configuration.apps.first?.timeouts.connect == .seconds(120))
        #expect(configuration.apps.first?.backoff.maximum == .seconds(300))
        #expect(configuration.apps.first?.tls == TLSConfiguration())
        #expect(configuration.realms.first?.capture == CaptureConfiguration())
        #expect(configuration.realms.first?.scope == .partition(.fixed(.string(""))))
        #expect(
            configuration.realms.first?.path == "/var/lib/realm-agent/realms/r/r.sqlite"
        )
    }

    @Test("A large initial wait raises the default maximum")
    func initialAboveDefaultMaximum() {
        let app = load(
            "apps: { a: { app_id: a, base_url: https://a.example.com, backoff: { initial: 1h } } }"
        ).configuration?.apps.first
        #expect(app?.backoff.maximum == .seconds(3_600))
    }

    @Test("Plain HTTP on the same machine is accepted without a warning")
    func loopback() {
        for host in ["localhost:9090", "127.0.0.1", "[::1]:80", "LOCALHOST"] {
            let result = load("apps: { a: { app_id: a, base_url: \"http://\(host)\" } }")
            #expect(result.diagnostics == [], "\(host)")
            #expect(result.configuration != nil)
        }
    }

    @Test("Plain HTTP to another machine works, with a warning")
    func otherMachine() {
        for host in ["10.0.0.1", "127.example.com", "[::2]", "localhost.example.com"] {
            let result = load("apps: { a: { app_id: a, base_url: \"http://\(host)\" } }")
            #expect(result.diagnostics.map(\.code) == [.insecure], "\(host)")
            #expect(result.configuration != nil)
        }
    }
}

@Suite("Drop-in files")
struct DropInTests {
    private let main = """
        apps:
          shop: { app_id: shop-abcde, base_url: https://one.example.com }
        users:
          till: { app: shop, provider: anonymous }

        """

    @Test("Mappings merge by key, and later files win in the lexical order of their names")
    func merging() throws {
        let result = load(
            main,
            dropIns: [
                ("d/20.yaml", "apps: { shop: { base_url: https://three.example.com } }"),
                (
                    "d/10.yaml",
                    """
                    apps: { shop: { base_url: https://two.example.com, backoff: { initial: 2s } } }
                    realms: { stock: { user: till, partition: null } }
                    """
                ),
                ("d/30.yaml", "realms:\nagent:\n  log: { level: warn }\n"),
            ]
        )
        #expect(result.diagnostics.map(\.description) == [])
        let configuration = try #require(result.configuration)
        #expect(configuration.apps.first?.baseURL.host == "three.example.com")
        #expect(configuration.apps.first?.backoff.initial == .seconds(2))
        #expect(configuration.apps.first?.appID == "shop-abcde")
        #expect(configuration.realms.map(\.name) == ["stock"])
        #expect(configuration.daemon.log.level == .warn)
    }

    @Test("Messages name the file that contains the value, main file first")
    func places() {
        let result = load(
            main + "realms: { stock: { user: till } }\n",
            dropIns: [
                ("d/2.yaml", "realms: { stock: { enabled: 1 } }"),
                ("d/1.yaml", "\nusers: { till: { app: shp } }"),
            ]
        )
        #expect(
            result.diagnostics.map(\.description) == [
                "realm-agent.yaml:5:18: error: realms.stock.partition: is missing; add it",
                "d/1.yaml:2:23: error: users.till.app: there is no \"shp\" under \"apps\"; "
                    + "did you mean \"shop\"?",
                "d/2.yaml:1:29: error: realms.stock.enabled: found \"1\"; give true or false",
            ]
        )
        #expect(result.configuration == nil)
    }

    @Test("All files that are not YAML are reported")
    func syntax() {
        let result = load("a: b: c", dropIns: [("d/1.yaml", "[x"), ("d/2.yaml", "- x")])
        #expect(
            result.diagnostics.map { "\($0.location) \($0.code.word)" } == [
                "realm-agent.yaml:1:5 config.syntax", "d/1.yaml:2:1 config.syntax",
                "d/2.yaml:1:1 config.wrong_type",
            ]
        )
        #expect(result.configuration == nil)
    }

    @Test("A repeated key is a mistake in one file, but not across two files")
    func duplicates() {
        let result = load(
            main,
            dropIns: [("d/1.yaml", "users: { till: { app: shop, app: shop } }")]
        )
        #expect(
            result.diagnostics.map { "\($0.location) \($0.code.word)" }
                == ["d/1.yaml:1:29 config.duplicate_key"]
        )
    }

    @Test("Only visible files that end in .yaml are drop-ins")
    func names() {
        #expect(ConfigurationSource.isDropIn(fileName: "10-shop.yaml"))
        #expect(!ConfigurationSource.isDropIn(fileName: ".10-shop.yaml"))
        #expect(!ConfigurationSource.isDropIn(fileName: "10-shop.yaml~"))
        #expect(!ConfigurationSource.isDropIn(fileName: "10-shop.yml"))
    }
}
