import FoundationEssentials
import Settings
import Testing

@testable import Server

@Suite("realm-server.yaml")
struct ConfigurationTests {
    private func read(_ text: String) -> (ServerConfiguration?, [String]) {
        let (configuration, diagnostics) = ServerConfigurationReader.read(
            Array(text.utf8),
            file: "realm-server.yaml"
        )
        return (configuration, diagnostics.map(\.description))
    }

    @Test("Everything this version honours is read")
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
                client_recovery: false
                providers:
                  anonymous: true
                  email_password: { auto_confirm: true, min_length: 8 }
                tokens: { access: 5m, refresh: 7d }
              office-fghij: {}
            """
        )
        #expect(diagnostics == [])
        #expect(
            configuration
                == ServerConfiguration(
                    listen: ListenAddress(host: "::1", port: 0),
                    publicURL: PublicURL("https://sync.example.com"),
                    storage: .sqlite(path: "/srv/realm/server.sqlite"),
                    log: LogConfiguration(level: .debug, output: .stderr),
                    apps: [
                        AppConfiguration(
                            id: .named("shop-abcde"),
                            partitionType: .objectID,
                            isDevelopmentMode: true,
                            allowsClientRecovery: false,
                            anonymous: true,
                            emailPassword: EmailPasswordConfiguration(minimumLength: 8),
                            tokens: TokenLifetimes(access: 300, refresh: 604_800)
                        ),
                        AppConfiguration(id: .named("office-fghij")),
                    ]
                )
        )
    }

    @Test("An empty file is a server without apps")
    func empty() throws {
        let (configuration, diagnostics) = read("")
        #expect(diagnostics == [])
        #expect(configuration == ServerConfiguration(storage: .standard, apps: []))
    }

    @Test("Everything that is wrong is reported at once, where it stands")
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
                sync: { mode: flexible }
                offline_limit: 30
                providers: { function: {}, jwt: { algorithm: ES256, secret: { env: A } } }
                tokens: { refresh: 1m }
            """
        )
        #expect(configuration == nil)
        #expect(
            diagnostics == [
                "realm-server.yaml:2:11: error: server.listen: \"9090\" is malformed; give an "
                    + "address and port such as 127.0.0.1:9090 or [::1]:9090",
                "realm-server.yaml:3:15: error: server.public_url: \"ftp://x\" is malformed; give "
                    + "a URL of scheme, host and port only, such as https://sync.example.com",
                "realm-server.yaml:4:12: error: server.storage: PostgreSQL is not supported yet "
                    + "by this version; use sqlite:/PATH",
                "realm-server.yaml:5:3: error: server.logg: unknown key; did you mean \"log\"?",
                "realm-server.yaml:7:3: error: apps.\"my app\": cannot be an app id; use letters, "
                    + "digits, \"_\" and \"-\" only",
                "realm-server.yaml:9:19: error: apps.shop.sync.mode: \"flexible\" is not supported "
                    + "yet by this version; use partition",
                "realm-server.yaml:10:20: error: apps.shop.offline_limit: 30 has no unit; "
                    + "give a duration such as 500ms, 30s, 5m, 2h or 7d",

                "realm-server.yaml:11:28: error: apps.shop.providers.function: is not supported "
                    + "yet by this version; remove it",
                "realm-server.yaml:11:65: error: apps.shop.providers.jwt.secret: does not go with "
                    + "ES256; give public_key for RS256 and ES256, secret for HS256",
                "realm-server.yaml:12:24: error: apps.shop.tokens.refresh: 1m is out of range; "
                    + "give a value from 30m to 1825d",
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

    @Test("It is good as it stands, and says what the defaults are")
    func asItStands() {
        let (configuration, diagnostics) = ServerConfigurationReader.read(
            Array(text.utf8),
            file: "realm-server.yaml"
        )
        #expect(diagnostics == [])
        #expect(configuration == ServerConfiguration(storage: .standard, apps: []))
    }

    @Test("It is good with its examples, too")
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
        let (configuration, diagnostics) = ServerConfigurationReader.read(
            Array(lines.joined(separator: "\n").utf8),
            file: "realm-server.yaml"
        )
        #expect(diagnostics == [])
        #expect(configuration?.publicURL == PublicURL("https://sync.example.com"))
        #expect(configuration?.apps.map(\.isDevelopmentMode) == [true])
        #expect(configuration?.apps.first?.emailPassword?.minimumLength == 6)
    }
}
