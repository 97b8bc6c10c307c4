import Changesets
import FoundationEssentials
import Scopes
import ServerFixtures
import Settings
import Testing

@testable import Server
@testable import ServerConfig
@testable import ServerStore

@Suite("realm-server.yaml")
struct ConfigurationTests {
    private func read(_ text: String) -> (ServerConfiguration?, [String]) {
        let (configuration, diagnostics) = ServerConfigurationReader.read([
            ConfigurationSource(file: "realm-server.yaml", bytes: Array(text.utf8))
        ])
        return (configuration, diagnostics.map(\.description))
    }

    @Test("The admin socket can be read despite other mistakes")
    func adminSocket() {
        func socket(_ text: String) -> (path: String?, diagnostics: [String]) {
            let result = ServerConfigurationReader.adminSocketPath([
                ConfigurationSource(file: "x.yaml", bytes: Array(text.utf8))
            ])
            return (result.path, result.diagnostics.map(\.description))
        }
        for text in ["", "server: 7", "server: { listne: x }", "aps: {}\napps: { a: { x: 1 } }"] {
            #expect(socket(text) == ("/run/realm-server/admin.sock", []), "\(text)")
        }
        #expect(socket("server: { storage: sqlite:/a/b.sqlite, x: 1 }") == ("/a/admin.sock", []))
        #expect(socket("server: { admin_socket: /a/s, tls: 7 }") == ("/a/s", []))
        #expect(socket("server: {").path == nil)
        let relative = socket("server:\n  admin_socket: a/s")
        #expect(relative.path == nil)
        #expect(
            relative.diagnostics.first?.hasPrefix("x.yaml:2:17: error: server.admin_socket: ")
                == true,
            "\(relative)"
        )
    }

    @Test("All supported keys are read")
    func complete() throws {
        let (configuration, diagnostics) = read(
            """
            version: 1
            server:
              listen: "[::1]:0"
              public_url: https://sync.example.com/
              storage: sqlite:/srv/realm/server.sqlite
              log: { level: debug, output: stderr }
            apps:
              shop-abcde:
                sync: { mode: partition, partition_key: store, partition_type: object_id }
                development_mode: true
                sdk_safety: true
                client_recovery: false
                providers:
                  anonymous: true
                  email_password: { auto_confirm: true, min_length: 8 }
                custom_user_data: { class: Person, partition: people, user_id_field: _id }
                tokens: { access: 5m, refresh: 7d }
                sql: { schema: reports }
              office-fghij: { sql: false }
              lab: {}
            """
        )
        #expect(diagnostics == [])
        #expect(
            configuration
                == ServerConfiguration(
                    listen: ListenAddress(host: "::1", port: 0),
                    publicURL: PublicURL("https://sync.example.com"),
                    storage: .sqlite(path: "/srv/realm/server.sqlite"),
                    log: ServerLogConfiguration(level: .debug, output: .stderr),
                    apps: [
                        ServedAppConfiguration(
                            id: .named("shop-abcde"),
                            partitionType: .objectID,
                            partitionKey: "store",
                            isDevelopmentMode: true,
                            isSDKSafe: true,
                            allowsClientRecovery: false,
                            anonymous: true,
                            emailPassword: EmailPasswordConfiguration(minimumLength: 8),
                            customUserData: CustomUserDataConfiguration(
                                className: "Person",
                                partition: .string("people"),
                                userIDField: "_id"
                            ),
                            tokens: TokenLifetimes(access: 300, refresh: 604_800),
                            views: .schema("reports")
                        ),
                        ServedAppConfiguration(id: .named("office-fghij"), views: .off),
                        ServedAppConfiguration(id: .named("lab")),
                    ]
                )
        )
        #expect(configuration?.apps.map(\.viewSchema) == ["reports", nil, "app_lab"])
    }

    @Test("A proxy without public_url is warned of: clients would be sent to plain HTTP")
    func proxyWithoutURL() {
        let proxy = "server:\n  trusted_proxies: [127.0.0.1]"
        let (configuration, warnings) = read(proxy)
        #expect(configuration != nil)
        #expect(warnings.count == 1)
        #expect(
            warnings.first?.hasPrefix("realm-server.yaml:2:20: warning: server.trusted_proxies: ")
                == true,
            "\(warnings)"
        )
        #expect(read(proxy + "\n  public_url: https://sync.example.com").1 == [])
    }

    @Test("An empty file is a server without apps")
    func empty() throws {
        let (configuration, diagnostics) = read("")
        #expect(diagnostics == [])
        #expect(configuration == ServerConfiguration(storage: .standard, apps: []))
    }

    @Test("All mistakes are reported at once, with their positions")
    func mistakes() {
        let (configuration, diagnostics) = read(
            """
            server:
              listen: 9090
              public_url: ftp://x
              storage: postgresql://db
              logg: 1
            apps:
              "my app": {}
              shop:
                sync: { mode: flexibel }
                offline_limit: 30
                providers: { function: {}, jwt: { algorithm: ES256, secret: { env: A } } }
                tokens: { refresh: 1m }
                custom_user_data: { class: Person, partition: people }
            """
        )
        #expect(configuration == nil)
        #expect(
            diagnostics == [
                "realm-server.yaml:2:11: error: server.listen: \"9090\" is malformed; give an "
                    + "address and port such as 127.0.0.1:9090 or [::1]:9090",
                "realm-server.yaml:3:15: error: server.public_url: \"ftp://x\" is malformed; give "
                    + "a URL of scheme, host and port only, such as https://sync.example.com",
                "realm-server.yaml:4:12: error: server.storage: the URL names no user; put the "
                    + "user in front of the host, as in postgresql://realm_server@db1/realm",
                "realm-server.yaml:5:3: error: server.logg: unknown key; did you mean \"log\"?",
                "realm-server.yaml:7:3: error: apps.\"my app\": cannot be an app id; use letters, "
                    + "digits, \"_\" and \"-\" only",
                "realm-server.yaml:9:19: error: apps.shop.sync.mode: \"flexibel\" is not one "
                    + "of the choices; did you mean \"flexible\"?",
                "realm-server.yaml:10:20: error: apps.shop.offline_limit: 30 has no unit; "
                    + "give a duration such as 500ms, 30s, 5m, 2h or 7d",

                "realm-server.yaml:11:28: error: apps.shop.providers.function.command: is missing; "
                    + "add it",
                "realm-server.yaml:11:65: error: apps.shop.providers.jwt.secret: does not go with "
                    + "ES256; give public_key for RS256 and ES256, secret for HS256, or key_set",
                "realm-server.yaml:12:24: error: apps.shop.tokens.refresh: 1m is out of range; "
                    + "give a value from 30m to 1825d",
                "realm-server.yaml:13:23: error: apps.shop.custom_user_data.user_id_field: is "
                    + "missing; add it",
            ]
        )
    }

    @Test(
        "Addresses to listen on",
        arguments: [
            ("127.0.0.1:9090", "127.0.0.1:9090"), ("[::1]:80", "[::1]:80"),
            ("localhost:0", "localhost:0"), (":80", nil), ("::1:80", nil), ("h", nil),
            ("h:70000", nil), ("h:-1", nil), ("a b:1", nil), ("h/x:1", nil),
        ]
    )
    func listenAddresses(text: String, expected: String?) {
        #expect(ListenAddress(text)?.description == expected)
    }
}

/// The file that people start from.
@Suite("etc/realm-server.yaml")
struct ExampleConfigurationTests {
    private let text: String

    init() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        self.text = try String(
            contentsOf: root.appending(path: "etc/realm-server.yaml"),
            encoding: .utf8
        )
    }

    @Test("It is valid unchanged, and shows the defaults")
    func asItStands() {
        let (configuration, diagnostics) = ServerConfigurationReader.read([
            ConfigurationSource(file: "realm-server.yaml", bytes: Array(text.utf8))
        ])
        #expect(diagnostics == [])
        #expect(configuration == ServerConfiguration(storage: .standard, apps: []))
    }

    @Test("It is also valid with its examples")
    func withExamples() {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        lines.removeAll { $0 == "apps: {}" }
        lines = lines.map { line in
            // A comment that is a key, not a sentence.
            guard let mark = line.firstRange(of: "# "),
                line[..<mark.lowerBound].allSatisfy({ $0 == " " }),
                let key = line[mark.upperBound...].split(separator: ":").first,
                key.allSatisfy({ !$0.isUppercase }),
                !key.trimmingPrefix(while: { $0 == " " }).contains(" "),
                line.contains(":")
            else { return line }
            return String(line[..<mark.lowerBound] + line[mark.upperBound...])
        }
        let (configuration, diagnostics) = ServerConfigurationReader.read([
            ConfigurationSource(
                file: "realm-server.yaml",
                bytes: Array(lines.joined(separator: "\n").utf8)
            )
        ])
        #expect(diagnostics == [])
        #expect(configuration?.publicURL == PublicURL("https://sync.example.com"))
        #expect(configuration?.apps.map(\.isDevelopmentMode) == [true])
        #expect(configuration?.apps.first?.emailPassword?.minimumLength == 6)
    }
}

/// The drop-ins beside the file, and the files that the configuration names.
@Suite("realm-server.yaml: drop-ins and named files")
struct ConfigurationFilesTests {
    private func read(
        _ main: String,
        dropIns: [String] = [],
        environment: [String: String]? = nil
    ) -> (ServerConfiguration?, [String]) {
        let texts = [main] + dropIns
        let (configuration, diagnostics) = ServerConfigurationReader.read(
            texts.enumerated().map { index, text in
                ConfigurationSource(
                    file: index == 0 ? "main" : "d/\(index).yaml",
                    bytes: Array(text.utf8)
                )
            },
            files: environment.map { NamedFiles(SecretReader(environment: $0)) }
        )
        return (configuration, diagnostics.map(\.description))
    }

    @Test("A drop-in adds apps and overrides settings, and its mistakes have its positions")
    func dropIns() {
        let (configuration, diagnostics) = read(
            "server: { listen: \"127.0.0.1:1\" }\napps: { a: { providers: { anonymous: true } } }",
            dropIns: [
                "apps: { b: {}, a: { providers: { anonymous: false, api_key: true } } }",
                "server: { listen: \"127.0.0.1:2\" }",
            ]
        )
        #expect(diagnostics == [])
        #expect(configuration?.listen.port == 2)
        #expect(configuration?.apps.map(\.id.rawValue) == ["a", "b"])
        #expect(configuration?.apps.first?.providers == [.apiKey])
        let (bad, complaints) = read("apps: {}", dropIns: ["apps: { a: { x: 1 } }"])
        #expect(bad == nil)
        #expect(complaints.first?.hasPrefix("d/1.yaml:1:14: error: apps.a.x: unknown key") == true)
    }

    @Test("The error for a schema file among the drop-ins says where it belongs")
    func schemaAmongDropIns() {
        let (configuration, diagnostics) = read("", dropIns: ["classes: { A: {} }"])
        #expect(configuration == nil)
        #expect(
            diagnostics == [
                "d/1.yaml:1:1: error: classes: a schema is not part of the configuration; "
                    + "move the file into a subdirectory, such as schemas"
            ]
        )
    }

    @Test("Every named file is checked, and all problems are reported at once")
    func namedFiles() async throws {
        try await withTemporaryDirectory { directory in
            func write(_ name: String, _ text: String, mode: UInt16 = 0o600) throws {
                let path = "\(directory)/\(name)"
                try Data(text.utf8).write(to: URL(filePath: path))
                try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
            }
            try write("schema.yaml", "classes:\n  A: { primary_kay: _id }\n")
            try write("short", "too short\n")
            try write("open", "a secret of more than thirty-two characters\n", mode: 0o644)
            try write("cert.pem", "none")
            let (configuration, diagnostics) = read(
                """
                server:
                  tls: { certificate: \(directory)/cert.pem, key: { file: \(directory)/none.pem } }
                apps:
                  a:
                    schema: \(directory)/schema.yaml
                    providers:
                      jwt: { algorithm: HS256, secret: { file: \(directory)/short } }
                      function: { command: [\(directory)/none] }
                  b:
                    schema: /no/such/file.yaml
                    providers:
                      jwt: { algorithm: HS256, secret: { file: \(directory)/open } }
                  c: { providers: { jwt: { algorithm: ES256, public_key: { env: UNSET } } } }
                  d: { providers: { jwt: { algorithm: RS256, key_set: { file: /no/such } } } }
                """,
                environment: [:]
            )
            #expect(configuration == nil)
            let expected = [
                "main:2:8: error: server.tls: \(directory)/cert.pem and \(directory)/none.pem are",
                "main:7:40: error: apps.a.providers.jwt.secret: the key",
                "main:8:28: warning: apps.a.providers.function.command: \(directory)/none is no",
                "main:10:13: error: apps.b.schema: /no/such/file.yaml cannot be read; name",
                "main:12:40: warning: apps.b.providers.jwt.secret: \(directory)/open can be read by",
                "main:13:58: warning: apps.c.providers.jwt.public_key: { env: UNSET } is not set",
                "main:14:55: error: apps.d.providers.jwt.key_set: { file: /no/such } cannot be",
                "\(directory)/schema.yaml:2:8: error: classes.A.primary_kay: unknown key",
            ]
            for start in expected {
                #expect(
                    diagnostics.contains { $0.hasPrefix(start) },
                    "\(start) is not among \(diagnostics)"
                )
            }
            #expect(diagnostics.allSatisfy { $0.contains("; ") })
            #expect(!diagnostics.joined().contains("too short\n"))
        }
    }

    @Test("Programs for accounts are read, and contradictions reported")
    func hooks() {
        let (configuration, diagnostics) = read(
            """
            apps:
              a:
                providers:
                  function: { command: [/bin/true, "x y"], timeout: 5s, environment: { A: b } }
                  email_password:
                    confirmation_function: { command: [/bin/true] }
                    reset_function: { command: [/bin/true] }
                    mail: { command: [/bin/true], reset_url: "https://x.example.com/r" }
            """
        )
        #expect(diagnostics == [])
        let app = configuration?.apps.first
        #expect(
            app?.function
                == HookConfiguration(
                    command: ["/bin/true", "x y"],
                    environment: ["A": "b"],
                    timeout: .seconds(5)
                )
        )
        #expect(app?.emailPassword?.confirmsAtOnce == false)
        #expect(app?.emailPassword?.mail?.resetURL == "https://x.example.com/r")
        let (_, complaints) = read(
            """
            apps:
              a:
                providers:
                  function: { command: [true] }
                  email_password:
                    auto_confirm: true
                    confirmation_function: { command: [/bin/true], timeout: 2m }
                    mail: { command: [/bin/true], reset_url: "no URL" }
                  jwt: { algorithm: HS256 }
            """
        )
        #expect(
            complaints == [
                "main:4:28: error: apps.a.providers.function.command: \"true\" is not an absolute "
                    + "path; give the path of a program, and its arguments after it",
                "main:6:23: error: apps.a.providers.email_password.auto_confirm: leaves "
                    + "confirmation_function nothing to decide; remove one of them",
                "main:7:65: error: apps.a.providers.email_password.confirmation_function.timeout: "
                    + "2m is out of range; give a value from 100ms to 50s",
                "main:8:50: error: apps.a.providers.email_password.mail.reset_url: \"no URL\" is "
                    + "malformed; give a URL without a fragment, such as "
                    + "https://shop.example.com/confirm",
                "main:9:12: error: apps.a.providers.jwt.public_key: is missing; add it",
            ]
        )
    }
}
