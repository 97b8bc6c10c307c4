import AppServices
import ClientReset
import Config
import Control
import FaultInjection
import FoundationEssentials
import LocalRealm
import Logging
import Platform
import RealmSync
import SQLite
import Scheduling
import Settings
import SyncClient
import SyncProtocol
import Synchronization
import TestSupport
import Versions

@testable import Agent

/// A machine with one realm: its disk is permanent, the agent starts and ends, and programs write
/// SQL.
final class SimulatedAgentMachine: Sendable {
    let number: Int
    let options: RealmOptions
    let files = FaultyFiles()
    /// The agent's data directory.
    let directory: String
    private let time: VirtualTime
    private let network: SimulatedNetwork
    private let wallTime: @Sendable () -> WallTime
    private let logger: Logger
    private let random: Mutex<SplitMix64>
    private let register = SimulatedRegister()
    private let watches = Mutex<[AsyncStream<Void>.Continuation]>([])
    private let running = Mutex<Run?>(nil)
    private let kept = Mutex<SimulatedBackup?>(nil)

    private struct Run {
        let realm: SyncedRealm
        let task: Task<Void, Never>
    }

    init(
        _ number: Int,
        in directory: String,
        schema: String?,
        resetMode: String,
        isFlexible: Bool = false,
        _ time: VirtualTime,
        _ network: SimulatedNetwork,
        wallTime: @escaping @Sendable () -> WallTime,
        logger: Logger,
        random: SplitMix64
    ) throws {
        self.number = number
        self.directory = directory
        self.time = time
        self.network = network
        self.wallTime = wallTime
        self.logger = logger
        self.random = Mutex(random)
        self.options = RealmOptions(
            try Self.configuration(directory, schema, resetMode, isFlexible: isFlexible)
        )
        try FileManager.default.createDirectory(
            atPath: directory,
            withIntermediateDirectories: true
        )
    }

    struct BadConfiguration: Error {
        let problems: String
    }

    private static func configuration(
        _ directory: String,
        _ schema: String?,
        _ resetMode: String,
        isFlexible: Bool
    ) throws -> RealmConfiguration {
        let text = """
            agent: { data_directory: \(directory) }
            apps: { shop: { app_id: shop-abcde, base_url: "http://127.0.0.1:1" } }
            users: { till: { app: shop, provider: anonymous } }
            realms:
              stock:
                user: till
                \(isFlexible ? "subscriptions: []" : "partition: { string: store-42 }")
                client_reset: { mode: \(resetMode) }
                \(schema.map { "schema: \($0)" } ?? "enabled: true")
            """
        let loaded = ConfigurationParser.load(
            main: ConfigurationSource(file: "simulation.yaml", bytes: Array(text.utf8)),
            dropIns: [],
            inputs: ConfigurationInputs(readFile: { _ in .success([]) })
        )
        guard let realm = loaded.configuration?.realms.first else {
            throw BadConfiguration(problems: "\(loaded)")
        }
        return realm
    }

    var path: String { options.path }
    /// Otherwise it learns the schema from the server.
    var declaresSchema: Bool { options.schema != nil }
    var recoveredDirectory: String { "\(directory)/recovered" }
    var isRunning: Bool { running.withLock { $0 != nil } }
    var realm: SyncedRealm? { running.withLock { $0?.realm } }

    // MARK: The agent

    func start() {
        let connection = UserConnection(
            endpoint: SimulatedEndpoint(
                client: number,
                network,
                now: { [wallTime] in wallTime().millisecondsSince1970 }
            ),
            mode: options.isFlexible ? .flexible : .partitionBased,
            timing: ConnectionTiming(
                pingPeriod: .seconds(6),
                pongTimeout: .seconds(6),
                linger: .seconds(2),
                fastReconnectLimit: .seconds(3)
            ),
            reconnect: .init(
                initial: .milliseconds(500),
                maximum: .seconds(8),
                multiplier: 2,
                jitter: 0.25
            ),
            time: time.syncTime,
            random: fork(),
            logger: logger
        )
        let realm = makeRealm(connection)
        let task = Task(executorPreference: time) {
            await withTaskGroup { group in
                group.addTask { await connection.run() }
                group.addTask { await realm.run() }
            }
        }
        running.withLock { $0 = Run(realm: realm, task: task) }
    }

    /// Ends the agent as a service manager does.
    func stop() async {
        guard let run = takeRun() else { return }
        await run.realm.finish()
        await end(run)
        network.abandon(number, isHeard: true)
    }

    /// Kills the agent at any point: nothing of it reaches a file or the network any more. A power
    /// failure also loses data that was not made durable.
    func kill(withPower: Bool, survivorsInPercent: Int = 0) async {
        files.arm(.freeze, at: 1)
        network.abandon(number, isHeard: !withPower)
        if let run = takeRun() { await end(run) }
        files.heal()
        if withPower { files.cutPower(survivorsInPercent: survivorsInPercent) }
    }

    private func takeRun() -> Run? {
        running.withLock { run in
            defer { run = nil }
            return run
        }
    }

    private func end(_ run: Run) async {
        run.task.cancel()
        await run.task.value
        for watch in watches.withLock({ $0 }) { watch.finish() }
        watches.withLock { $0 = [] }
    }

    private func fork() -> SplitMix64 {
        SplitMix64(seed: random.withLock { $0.next() })
    }

    private func makeRealm(_ connection: UserConnection) -> SyncedRealm {
        let milliseconds = { @Sendable [wallTime] in wallTime().millisecondsSince1970 }
        return SyncedRealm(
            RealmContext(
                options: options,
                appID: SimulatedAccount.appID,
                user: UserSession(
                    client: SimulatedAccount.client,
                    store: SimulatedAccount(),
                    registersAccount: false,
                    credential: { () throws(UserSession.Failure) in .anonymous },
                    now: { milliseconds() / 1000 }
                ),
                connection: connection,
                opener: RealmOpener(
                    machineID: "machine-\(number)",
                    time: time.syncTime,
                    now: milliseconds,
                    environment: RealmEnvironment(
                        executor: { [time] _ in time.lane() },
                        captures: { _, _ in .success(self.watch()) },
                        random: { self.fork() },
                        vfs: files.name
                    ),
                    logs: RealmLogs { _ in logger }
                ),
                register: register,
                recoveredDirectory: recoveredDirectory,
                version: "simulation",
                time: time.syncTime,
                now: milliseconds,
                logger: logger,
                resetLogger: logger
            ),
            pauses: AttemptPauses(initial: .seconds(1), maximum: .seconds(10), multiplier: 2)
        )
    }

    /// Uploads and downloads everything; returns the obstacle, if any.
    func sync(timeout: Duration) async -> String? {
        guard let realm else { return "no agent runs" }
        let report = await realm.sync(timeout: timeout)
        return report.outcome == .done ? nil : "\(report.outcome) \(report.detail ?? "")"
    }

    // MARK: Programs

    /// A connection like that of any program.
    func connect() throws -> Connection {
        try Connection(path: path, .init(mode: .readWrite, vfs: files.name))
    }

    var hasFile: Bool { FileManager.default.fileExists(atPath: path) }

    /// The kernel notifies the agent, if it runs, that a file of the realm has changed.
    func noticeWrite() {
        time.at(time.now + network.milliseconds(0...20)) {
            for watch in self.watches.withLock({ $0 }) { watch.yield() }
        }
    }

    private func watch() -> AsyncStream<Void> {
        let (stream, watch) = AsyncStream.makeStream(
            of: Void.self,
            bufferingPolicy: .bufferingNewest(1)
        )
        watches.withLock { $0.append(watch) }
        watch.yield()
        return stream
    }
}

// MARK: The operator

extension SimulatedAgentMachine {
    /// Requests a reset, which may be refused.
    func resetByHand(mode: String) async {
        guard let realm, let mode = ResetMode(rawValue: mode) else { return }
        do {
            _ = try await realm.reset(mode: mode, isRehearsal: false)
            logger.notice("reset by hand")
        } catch {
            logger.notice("no reset by hand", metadata: ["detail": "\(error)"])
        }
    }

    var needsReset: Bool {
        get async { await realm?.status().activity.phase == .needsReset }
    }

    /// The file's ident on the server; nil if there is none.
    func fileIdent() throws -> FileIdent? {
        guard hasFile else { return nil }
        let connection = try connect()
        defer { connection.close() }
        let tables = "SELECT count(*) FROM sqlite_schema WHERE name = '_realm_state'"
        guard try connection.integer(tables) == 1,
            let ident = try connection.integer("SELECT client_file_ident FROM _realm_state")
        else { return nil }
        return FileIdent(UInt64(ident))
    }

    var backup: SimulatedBackup? { kept.withLock { $0 } }

    func backUp() throws {
        guard hasFile else { return }
        let copy = try SimulatedBackup(of: path, to: "\(directory)/backup", vfs: files.name)
        kept.withLock { $0 = copy }
    }

    func restore(_ way: SimulatedBackup.Restoration) throws {
        try backup?.restore(to: path, way)
    }
}

/// The data of the realm in the agent's metadata database.
private final class SimulatedRegister: RealmRegister {
    private struct State {
        var suspension: Suspension?
        var record: RealmRecord?
        var fileAction: FileAction?
    }

    private let state = Mutex(State())

    func suspension() async throws -> Suspension? { state.withLock { $0.suspension } }
    func keep(_ suspension: Suspension?) async throws {
        state.withLock { $0.suspension = suspension }
    }
    func record() async throws -> RealmRecord? { state.withLock { $0.record } }
    func keep(_ record: RealmRecord) async throws { state.withLock { $0.record = record } }
    func fileAction() async throws -> FileAction? { state.withLock { $0.fileAction } }
    func keepFileAction(_ action: FileAction?) async throws {
        state.withLock { $0.fileAction = action }
    }
}

/// A user with a permanent log-in.
private struct SimulatedAccount: AccountStore {
    static let appID = "shop-abcde"
    static let client = AppClient(
        appID: appID,
        baseURL: "http://127.0.0.1:1",
        fixedLocation: .fixed(http: "http://x", webSocket: "ws://x", appID: "shop-abcde"),
        device: DeviceDescription(
            platformVersion: "1",
            sdkVersion: "1",
            architecture: "x",
            name: "box"
        ),
        exchange: NoExchange(),
        timeout: .seconds(60)
    )

    private struct NoExchange: HTTPExchange {
        func perform(
            _ request: ServiceRequest,
            timeout: Duration
        ) async throws(UnreachableError) -> ServiceResponse {
            throw UnreachableError(reason: "there is no need to ask")
        }
    }

    struct BadToken: Error {}

    func load() async throws -> Account? {
        let claims = Data(#"{"exp":4102444800,"iat":0}"#.utf8).base64EncodedString()
        guard let token = Token("a.\(claims).b") else { throw BadToken() }
        return Account(
            userID: SimulatedApp.userID,
            deviceID: "device",
            provider: "anon-user",
            accessToken: token,
            refreshToken: token,
            profile: Profile(identities: [])
        )
    }

    func save(_ account: Account) async throws {}
    func forgetTokens() async throws {}
    func markRefused() async throws {}
    func isRefused() async throws -> Bool { false }
    func isLoggedOut() async throws -> Bool { false }
    func logOut() async throws {}
    func remove() async throws {}
}
