import AppServices
import Config
import Control
import FoundationEssentials
import Logging
import Platform
import Plugins
import SyncClient
import SyncProtocol
import TestSupport
import Testing
import Transport

@testable import Agent

@Suite("A realm that cannot be brought up", .timeLimit(.minutes(10)))
struct RealmSupervisorTests {
    let temporary: TemporaryDirectory

    init() throws {
        self.temporary = try TemporaryDirectory()
    }

    /// A server that refuses every request with a status, or never answers.
    struct Exchange: HTTPExchange {
        let status: Int?

        func perform(
            _ request: ServiceRequest,
            timeout: Duration
        ) async throws(UnreachableError) -> ServiceReply {
            guard let status else {
                try? await Task.sleep(for: .seconds(600))
                throw UnreachableError(reason: "cancelled")
            }
            let body = #"{"error":"no","error_code":"InvalidPassword"}"#
            return ServiceReply(
                status: status,
                contentType: "application/json",
                body: Array(body.utf8)
            )
        }
    }

    /// Nobody ever gets as far as to connect.
    struct Nowhere: SyncEndpoint {
        func token() async throws(EndpointFailure) -> EndpointToken { EndpointToken("") }
        func refreshToken(replacing token: EndpointToken) async throws(EndpointFailure) {}
        func refreshLocation() async throws(EndpointFailure) {}
        func logOut() async {}
        func isVerified() async -> Bool { true }
        func withConnection(
            _ token: EndpointToken,
            subProtocols: String,
            _ body: @escaping @Sendable (any MessageStream) async throws -> Void
        ) async throws { throw TransportError.connectTimeout }
    }

    struct NoAccounts: AccountStore {
        func load() async throws -> Account? { nil }
        func save(_ account: Account) async throws {}
        func forgetTokens() async throws {}
        func markRefused() async throws {}
        func isRefused() async throws -> Bool { false }
        func isLoggedOut() async throws -> Bool { false }
        func logOut() async throws {}
        func remove() async throws {}
    }

    func supervisor(
        status: Int?,
        exchange: (any HTTPExchange)? = nil,
        handlers: HandlerRunner? = nil
    ) throws -> RealmSupervisor {
        let text = """
            apps: { shop: { app_id: shop, base_url: "http://127.0.0.1:1" } }
            users: { till: { app: shop, provider: anonymous } }
            realms: { stock: { user: till, partition: { string: p } } }
            """
        let fixture = try ConfigurationFixture(text, in: temporary)
        let realm = try #require(fixture.configuration.realms.first)
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let client = AppClient(
            appID: "shop",
            baseURL: "http://127.0.0.1:1",
            fixedLocation: .fixed(http: "http://127.0.0.1:1", webSocket: "ws://x", appID: "shop"),
            device: DeviceDescription(
                platformVersion: "1",
                sdkVersion: "1",
                architecture: "x",
                name: "box"
            ),
            exchange: exchange ?? Exchange(status: status),
            timeout: .seconds(60)
        )
        return RealmSupervisor(
            realm,
            user: UserSession(
                client: client,
                store: NoAccounts(),
                registersAccount: false,
                credential: { () throws(UserSession.Failure) in .anonymous },
                now: { 0 }
            ),
            connection: UserConnection(
                endpoint: Nowhere(),
                timing: ConnectionTiming(),
                reconnect: .init(),
                time: .continuous,
                random: SplitMix64(seed: 1),
                logger: logger
            ),
            opener: RealmOpener(
                machineID: "machine",
                time: .continuous,
                now: WallTime.now,
                logger: logger
            ),
            resets: ResetSurroundings(
                recoveredDirectory: temporary.file("recovered"),
                agentVersion: "1"
            ),
            register: MetadataRealmRegister(
                database: try MetadataDatabase(path: temporary.file("metadata.sqlite")),
                realm: realm.name
            ),
            pauses: AttemptPauses(
                initial: .seconds(600),
                maximum: .seconds(600),
                multiplier: 1
            ),
            time: .continuous,
            now: { WallTime.now().millisecondsSince1970 },
            handlers: handlers,
            logger: logger
        )
    }

    private func handlers(_ answer: String) -> HandlerRunner {
        struct NoUnits: UnitStarter {
            func startUnit(_ name: String) async throws(SystemBusFailure) {}
        }
        let command = ["/bin/sh", "-c", "cat > '\(temporary.file("request"))'; echo '\(answer)'"]
        let registry = PluginRegistry(
            [
                PluginConfiguration(name: "broken", kind: .exec(.init(command: ["/none"]))),
                PluginConfiguration(name: "ops", kind: .exec(.init(command: command))),
            ],
            surroundings: HandlerSurroundings(
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
                now: WallTime.now,
                readSecret: { _ in "" },
                files: RealmCopies(),
                units: NoUnits()
            )
        )
        let subject = HandlerSubject(realm: "stock", app: "shop", user: "till", path: "/none")
        return HandlerRunner(subject: subject, registry: registry, onError: ["broken", "ops"])
    }

    @Test("A handler hears of what keeps a realm from opening, and its decision is carried out")
    func handled() async throws {
        let supervisor = try supervisor(
            status: 401,
            handlers: handlers(#"{"decision":"stop"}"#)
        )
        let run = Task { await supervisor.run() }
        try await until { await supervisor.status().cause == "by-plugin" }
        #expect(await supervisor.status().state == .suspended)
        #expect(await supervisor.status().detail?.contains("ops") == true)
        let data = FileManager.default.contents(atPath: temporary.file("request")) ?? Data()
        let request = String(decoding: data, as: UTF8.self)
        #expect(request.contains(#""code":"realm.log_in_refused""#))
        #expect(request.contains(#""fatal":true"#))
        run.cancel()
        await run.value
    }

    @Test("A handler that decides about another realm is on record, and changes nothing")
    func decisionAboutAnother() async throws {
        let handlers = handlers(#"{"decision":"stop","realm":"orders"}"#)
        let supervisor = try supervisor(status: 401, handlers: handlers)
        let run = Task { await supervisor.run() }
        try await until { await handlers.registry.report().last?.failures != 0 }
        #expect(await handlers.registry.report().last?.lastFailure?.code == "plugin.bad_answer")
        let status = await supervisor.status()
        #expect(status.state == .loginRequired)
        #expect(status.cause == "log-in-refused")
        run.cancel()
        await run.value
    }

    @Test("A sync hears why, the status says so, and each sync makes one more attempt")
    func refused() async throws {
        let supervisor = try supervisor(status: 401)
        let run = Task { await supervisor.run() }
        for _ in 0..<3 {
            let report = await supervisor.sync(timeout: nil)
            #expect(report.outcome == .loginRequired)
            #expect(report.detail?.contains("InvalidPassword") == true)
        }
        let status = await supervisor.status()
        #expect(status.state == .loginRequired)
        #expect(status.cause == "log-in-refused")
        run.cancel()
        await run.value
    }

    @Test(
        "A log-in without an answer keeps neither a sync from timing out nor the agent from ending"
    )
    func silence() async throws {
        let supervisor = try supervisor(status: nil)
        let run = Task { await supervisor.run() }
        #expect(await supervisor.sync(timeout: .milliseconds(1)).outcome == .timedOut)
        async let waiting = supervisor.sync(timeout: nil)
        run.cancel()
        await run.value
        #expect(await waiting.outcome == .offline)
        // Nor does anybody wait for a realm that will not run again.
        #expect(await supervisor.sync(timeout: nil).outcome == .offline)
    }

    @Test("A pause is shown with its cause, asks no server, and ends with the permission")
    func pause() async throws {
        let supervisor = try supervisor(status: 401)
        await supervisor.allow(.paused(.metered, detail: nil))
        let run = Task { await supervisor.run() }
        let status = await supervisor.status()
        #expect(status.state == .paused)
        #expect(status.cause == "metered")
        // Whoever asks for a sync is served all the same.
        #expect(await supervisor.sync(timeout: nil).outcome == .loginRequired)
        await supervisor.allow(.run)
        #expect(await supervisor.status().state == .loginRequired)
        run.cancel()
        await run.value
    }

    @Test("A suspension outlives the process, refuses a sync, and ends when resumed")
    func suspension() async throws {
        try await supervisor(status: 401).suspend()
        let supervisor = try supervisor(status: 401)
        let run = Task { await supervisor.run() }
        try await until { await supervisor.status().state == .suspended }
        #expect(await supervisor.status().cause == "by-user")
        let report = await supervisor.sync(timeout: nil)
        #expect(report.outcome == .offline)
        #expect(report.detail?.contains("resume") == true)
        await supervisor.resume()
        #expect(await supervisor.sync(timeout: nil).outcome == .loginRequired)
        run.cancel()
        await run.value
        let register = MetadataRealmRegister(
            database: try MetadataDatabase(path: temporary.file("metadata.sqlite")),
            realm: "stock"
        )
        #expect(try await register.suspension() == nil)
    }

    @Test("A suspension ends at its moment, and says until when it lasts")
    func suspensionWithEnd() async throws {
        let supervisor = try supervisor(status: 401)
        await supervisor.suspend(until: 4_102_444_800_000, by: .plugin(name: "ops"))
        let status = await supervisor.status()
        #expect(status.cause == "by-plugin")
        #expect(status.detail == "ops, until 2100-01-01T00:00:00.000Z")
        await supervisor.suspend(until: WallTime.now().millisecondsSince1970 + 1)
        let run = Task { await supervisor.run() }
        try await until { await supervisor.status().state != .suspended }
        #expect(await supervisor.sync(timeout: nil).outcome == .loginRequired)
        run.cancel()
        await run.value
    }

    @Test("Work that needs the file closed runs alone, also before there is a file")
    func whileClosed() async throws {
        let supervisor = try supervisor(status: 401)
        let run = Task { await supervisor.run() }
        #expect(await supervisor.whileClosed { 7 } == 7)
        #expect(await supervisor.sync(timeout: nil).outcome == .loginRequired)
        run.cancel()
        await run.value
        #expect(await supervisor.whileClosed { 8 } == 8)
    }

    @Test("What a file holds that is not open cannot be told, so it is deleted only by force")
    func deletion() async throws {
        let supervisor = try supervisor(status: 401)
        let path = supervisor.configuration.path
        try DataDirectory.prepareRealmDirectory(of: path)
        try Data("x".utf8).write(to: URL(filePath: path))
        await #expect(throws: RealmSupervisor.DeletionFailure.notOpen) {
            try await supervisor.delete(force: false)
        }
        #expect(try await supervisor.delete(force: true) == [path])
        #expect(await supervisor.status().state == .suspended)
        #expect(try await supervisor.delete(force: false) == [])
        try Data("y".utf8).write(to: URL(filePath: path))
        try await supervisor.setAside()
        #expect(!FileManager.default.fileExists(atPath: path))
        let directory = await supervisor.recoveredDirectory
        let kept = try FileManager.default.contentsOfDirectory(atPath: directory)
        #expect(kept.count == 1)
        #expect(kept.first?.hasPrefix("stock-") == true)
    }

    @Test("Waiting ends with what time does not heal")
    func waiting() async throws {
        let supervisor = try supervisor(status: 401)
        let run = Task { await supervisor.run() }
        #expect(await supervisor.wait(for: [.upload], timeout: nil).outcome == .loginRequired)
        await supervisor.suspend()
        #expect(await supervisor.wait(for: [.upload], timeout: nil).outcome == .offline)
        #expect(await supervisor.progress(.upload, .indefinite) == nil)
        run.cancel()
        await run.value
    }
}
