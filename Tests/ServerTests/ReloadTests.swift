import FoundationEssentials
import Logging
import ServerFixtures
import Settings
import SyncProtocol
import Synchronization
import Testing

@testable import Server
@testable import ServerAccounts
@testable import ServerConfig
@testable import ServerHTTP
@testable import ServerStore

/// A configuration that changes while the server runs.
@Suite("Reload", .timeLimit(.minutes(10)))
struct ReloadTests {
    private static let base = """
        server: { listen: "127.0.0.1:0", storage: "sqlite:/nowhere/server.sqlite" }
        apps:
          shop-abcde: { development_mode: true, providers: { anonymous: true } }
        """

    /// The inputs and effects of the reload under test.
    private struct Subject: Sendable {
        let reload: ConfigurationReload
        let address: PublicAddress
        let proxies: TrustedProxies
        let text: Mutexed<String>
        let level: Mutexed<ServerLogConfiguration.Level?>

        init(_ world: SyncWorld, secrets: SecretReader = SecretReader(environment: [:])) throws {
            let text = Mutexed(ReloadTests.base)
            let level = Mutexed<ServerLogConfiguration.Level?>(nil)
            let address = PublicAddress(nil)
            let proxies = TrustedProxies(
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            )
            let read = { @Sendable () -> ConfigurationReload.Reading in
                ServerConfigurationReader.read(
                    [ConfigurationSource(file: "s.yaml", bytes: Array(text.value.utf8))],
                    files: NamedFiles(secrets)
                )
            }
            self.reload = ConfigurationReload(
                of: try #require(read().configuration),
                accounts: world.apps.accounts,
                sync: world.sync,
                sinks: AppSinks(logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }),
                gates: AppGates(
                    clock: ContinuousClock(),
                    logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
                ),
                publicAddress: address,
                proxies: proxies,
                tls: nil,
                setLogLevel: { level.value = $0 },
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
                read: read
            )
            self.address = address
            self.proxies = proxies
            self.text = text
            self.level = level
        }

        func run(_ text: String) async throws -> ServerReloadReport {
            self.text.value = text
            return try await reload.run()
        }
    }

    private final class Mutexed<Value: Sendable>: Sendable {
        private let mutex: Mutex<Value>

        init(_ value: Value) {
            mutex = Mutex(value)
        }

        var value: Value {
            get { mutex.withLock { $0 } }
            set { mutex.withLock { $0 = newValue } }
        }
    }

    private static let apps = [
        ServedAppConfiguration(id: TestApps.shop, isDevelopmentMode: true, anonymous: true)
    ]

    @Test("Apps are added, changed and removed; the rest of the server is unchanged")
    func apps() async throws {
        try await SyncWorld.with(.memory, apps: Self.apps) { world in
            let subject = try Subject(world)
            #expect(try await subject.run(Self.base).applied == [])

            let added = try await subject.run(
                Self.base.replacing("providers:", with: "client_recovery: false, providers:")
                    + "\n  office-fghij: { providers: { anonymous: true } }"
            )
            #expect(added.applied == ["apps.shop-abcde", "apps.office-fghij (new)"])
            #expect(added.needsRestart == [])
            let office = await world.apps.logInAnonymously(to: TestApps.office)
            #expect(office.status == 200)
            let again = try await subject.run(subject.text.value)
            #expect(again.applied == [])

            let removed = try await subject.run(Self.base)
            #expect(removed.applied == ["apps.shop-abcde", "apps.office-fghij (no longer served)"])
            #expect(await world.apps.logInAnonymously(to: TestApps.office).status == 404)
            // Who comes back finds the keys that signed his tokens.
            _ = try await subject.run(
                Self.base + "\n  office-fghij: { providers: { anonymous: true } }"
            )
            let token = office.fields["refresh_token"]
            #expect(await world.apps.call("POST", "/auth/session", token: token).status == 201)
        }
    }

    @Test(
        "A file with anything wrong changes nothing, and says all of it",
        arguments: [
            "apps: { shop-abcde: { providers: { anonymus: true } } }",
            "apps: { new: { schema: /no/such/schema.yaml } }",
            "apps: { new: { providers: { jwt: { algorithm: HS256, secret: { file: /no/such } } } } }",
            "server: { log: { level: debug } }\napps: { a: { tokens: { refresh: 1m } } }",
            "server: { public_url: \"https://x.example.com\" }\napps: 5",
            "{",
        ]
    )
    func mistakes(text: String) async throws {
        try await SyncWorld.with(.memory, apps: Self.apps) { world in
            let subject = try Subject(world)
            let error = await #expect(throws: ReloadRefused.self) {
                _ = try await subject.run(text)
            }
            #expect(error?.description.contains("s.yaml:") == true)
            #expect(error?.diagnostics.contains { $0.severity == .error } == true)
            #expect(await world.apps.logInAnonymously().status == 200)
            #expect(world.apps.accounts.apps.all.map(\.id) == [TestApps.shop])
            #expect(subject.level.value == nil)
            #expect(subject.address.url == nil)
            // The next good one is compared with what was running.
            let report = try await subject.run(
                "server: { public_url: \"https://x.example.com\" }\n"
                    + Self.base.replacing("server:", with: "x:").split(separator: "\n")
                    .dropFirst().joined(separator: "\n")
            )
            #expect(report.applied == ["server.public_url"])
            #expect(
                report.needsRestart == ["server.listen", "server.storage", "server.admin_socket"]
            )
        }
    }

    @Test("Log level and public URL apply at once; settings that need a restart are named")
    func settings() async throws {
        try await SyncWorld.with(.memory, apps: Self.apps) { world in
            let subject = try Subject(world)
            let text = Self.base.replacing(
                "listen: \"127.0.0.1:0\"",
                with: """
                    listen: "127.0.0.1:1", public_url: "https://x.example.com",
                      log: { level: debug, output: stderr }
                    """
            )
            let report = try await subject.run(text)
            #expect(report.applied == ["server.public_url", "server.log.level"])
            #expect(report.needsRestart == ["server.listen", "server.log.output"])
            #expect(subject.level.value == .debug)
            #expect(subject.address.url == PublicURL("https://x.example.com"))
            let again = try await subject.run(text)
            #expect(again.applied == [])
            #expect(again.needsRestart == ["server.listen", "server.log.output"])
            #expect(try await subject.run(Self.base).needsRestart == [])
        }
    }

    @Test("Clients without permission under new rules get an error; others bind again")
    func rules() async throws {
        try await SyncWorld.with(.memory, apps: Self.apps) { world in
            let subject = try Subject(world)
            try await world.connect { client in
                try await client.start()
                let report = try await subject.run(
                    Self.base.replacing(
                        "providers:",
                        with: "access: { read: \"partition == 'other'\" }, providers:"
                    )
                )
                #expect(report.applied == ["apps.shop-abcde"])
                let closed = try await client.expectError(session: 1)
                #expect(closed.code == 200)
                #expect(closed.body.tryAgain)
                try await client.send(.unbind(1))
                try await client.bind(1)
                #expect(try await client.expectError(session: 1).code == 206)
                try await client.send(.unbind(1))
                try await client.start(2, "\"other\"")
            }
        }
    }

    @Test("Providers and development mode change for existing sessions without a message")
    func quietChanges() async throws {
        try await SyncWorld.with(.memory, apps: Self.apps) { world in
            let subject = try Subject(world)
            try await world.connect { client in
                try await client.start()
                _ = try await subject.run(
                    Self.base.replacing("development_mode: true", with: "development_mode: false")
                )
                try await client.upload([upload(2, on: 0)])
                #expect(try await client.expectError(session: 1).code == 225)
            }
        }
    }

    @Test("A schema or key that changed in its file applies after a reload")
    func files() async throws {
        try await withTemporaryDirectory { directory in
            @Sendable func write(_ name: String, _ text: String) throws {
                try Data(text.utf8).write(to: URL(filePath: "\(directory)/\(name)"))
            }
            let text =
                Self.base + """

                      files: { schema: \(directory)/schema.yaml,
                        providers: { jwt: { algorithm: HS256, secret: { file: \(directory)/key } } } }
                    """
            let schema = "classes: { A: { primary_key: _id, properties: { _id: int } } }"
            try await SyncWorld.with(.memory, apps: Self.apps) { world in
                let subject = try Subject(world)
                try write("schema.yaml", schema)
                try write("key", "a secret of more than thirty-two characters")
                #expect(try await subject.run(text).applied == ["apps.files (new)"])
                #expect(try await subject.run(text).applied == [])
                try write("schema.yaml", schema.replacing("_id: int }", with: "_id: int, x: int }"))
                #expect(try await subject.run(text).applied == ["apps.files"])
                try write("key", "another secret of more than thirty-two")
                #expect(try await subject.run(text).applied == ["apps.files"])
                try write("schema.yaml", "classes: { A: { primary_kay: _id } }")
                let error = await #expect(throws: ReloadRefused.self) {
                    _ = try await subject.run(text)
                }
                #expect(error?.description.contains("schema.yaml:1:17: error") == true)
            }
        }
    }
}
