import Config
import Control
import Platform
import RealmSync
import Settings
import TestSupport
import Testing

@testable import Agent

@Suite("The agent as a whole, without any realm", .timeLimit(.minutes(10)))
struct AgentServiceTests {
    let temporary: TemporaryDirectory

    init() throws {
        self.temporary = try TemporaryDirectory()
    }

    func configuration(_ rest: String = "") throws -> AgentConfiguration {
        let text = """
            agent:
              data_directory: \(temporary.file("data"))
              control_socket: \(temporary.file("control.sock"))
            \(rest)
            """
        return try #require(
            ConfigurationParser.load(
                main: ConfigurationSource(file: "test.yaml", bytes: Array(text.utf8)),
                dropIns: [],
                inputs: ConfigurationInputs(
                    hostName: "box",
                    machineID: "machine",
                    environment: [:],
                    readFile: { _ in .success([]) }
                )
            )
            .configuration
        )
    }

    func service(_ configuration: AgentConfiguration) throws -> AgentService {
        try AgentService.prepare(
            configuration,
            version: "1",
            log: AgentLog(configuration.daemon.log, atLeast: .off)
        )
    }

    @Test("It starts, serves requests, and stops without an error on request")
    func empty() async throws {
        let configuration = try configuration()
        let service = try service(configuration)
        let run = Task { try await service.run() }
        let client = ControlClient(socketPath: configuration.daemon.controlSocket)
        // It answers as soon as it listens, and still answers after that.
        try await until { (try? await client.status()) != nil }
        for _ in 0..<3 { #expect(try await client.status().realms.isEmpty) }
        #expect(throws: DirectoryLock.Failure.self) { _ = try self.service(configuration) }
        run.cancel()
        try await run.value
    }

    @Test("A socket that cannot be served ends it with the reason, and frees the directory")
    func noSocket() async throws {
        var configuration = try configuration()
        configuration.daemon.controlSocket = temporary.file("none/control.sock")
        do {
            try await service(configuration).run()
            Issue.record("it serves a socket in a directory that is not there")
        } catch let failure as ControlSocketFailure {
            let reason = "none/control.sock cannot be served: No such file or directory;"
            #expect(failure.description.contains(reason))
        }
        _ = try service(configuration)
    }

    @Test("The status has each of many realms once, with its own name and path, in order")
    func manyRealms() async throws {
        let names = (0..<1_100).map { "r\(10_000 + $0)" }
        let realms = names.map { "  \($0): { user: till, partition: { string: \($0) } }" }
        let configuration = try configuration(
            """
            apps: { shop: { app_id: shop, base_url: "http://127.0.0.1:1" } }
            users: { till: { app: shop, provider: anonymous } }
            realms:
            \(realms.joined(separator: "\n"))
            """
        )
        let service = try service(configuration)
        let report = await service.status().realms
        #expect(report.map(\.name) == names)
        #expect(report.allSatisfy { $0.path.hasSuffix("/\($0.name).sqlite") })
        #expect(await service.running.health().map(\.name).sorted() == names)
    }

    @Test("A sync without realms is done at once; one of a disabled realm names the setting")
    func nothingToSync() async throws {
        let configuration = try configuration(
            """
            apps: { shop: { app_id: shop, base_url: "http://127.0.0.1:1" } }
            users: { till: { app: shop, provider: anonymous } }
            realms: { stock: { user: till, partition: { string: p }, enabled: false } }
            """
        )
        let service = try service(configuration)
        #expect(await service.status().realms.map(\.state) == [.disabled])
        #expect(await service.running.health().map(\.state) == [.disabled])
        await #expect(throws: ControlError.disabledRealm("stock")) {
            try await service.sync(realm: "stock", timeout: nil)
        }
        await #expect(throws: ControlError.unknownRealm("none")) {
            try await service.sync(realm: "none", timeout: nil)
        }
        #expect(await service.syncOnce(realms: [], timeout: nil) == [])
    }
}
