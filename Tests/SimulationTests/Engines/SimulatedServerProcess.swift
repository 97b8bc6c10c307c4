import Changesets
import Documents
import FaultInjection
import Logging
import Permissions
import Query
import Schemas
import Scopes
import SyncProtocol
import Synchronization
import TestSupport
import Transport
import Versions

@testable import SQLiteServerStore
@testable import Server
@testable import ServerAccounts
@testable import ServerConfig
@testable import ServerHTTP
@testable import ServerStore
@testable import Surroundings
@testable import SyncServer

/// The machine that the server runs on: its disk is permanent, processes start and end.
final class SimulatedServerMachine: Sendable {
    static let app: AppID = {
        guard let app = AppID(SimulatedApp.id) else { preconditionFailure("a good name") }
        return app
    }()
    static let user = UserID(SimulatedApp.userID)

    let directory: TemporaryDirectory
    let files = FaultyFiles()
    private let time: VirtualTime
    private let clock: WallClock
    private let allowsRecovery: Bool
    private let roles: Mutex<RoleDeclarations?>
    private let logger: Logger
    private let random: Mutex<SplitMix64>
    private let running = Mutex<SimulatedServerProcess?>(nil)
    private let kept = Mutex<Backup?>(nil)

    /// A copy of the store, and its part of the ledger.
    struct Backup: Sendable {
        let copy: SimulatedBackup
        let contents: LedgerAudit
    }

    init(
        _ time: VirtualTime,
        in directory: TemporaryDirectory,
        clock: WallClock,
        allowsRecovery: Bool,
        roles: RoleDeclarations? = nil,
        logger: Logger,
        random: SplitMix64
    ) {
        self.time = time
        self.directory = directory
        self.clock = clock
        self.allowsRecovery = allowsRecovery
        self.roles = Mutex(roles)
        self.logger = logger
        self.random = Mutex(random)
    }

    var path: String { directory.file("server.sqlite") }

    /// The next process has other roles.
    func setRoles(_ declarations: RoleDeclarations) {
        roles.withLock { $0 = declarations }
    }

    /// The process, if one runs.
    var process: SimulatedServerProcess? { running.withLock { $0 } }

    func start() async throws {
        let seed = random.withLock { $0.next() }
        let configuration = ServedAppConfiguration(
            id: Self.app,
            isDevelopmentMode: true,
            allowsClientRecovery: allowsRecovery,
            flexible: roles.withLock { $0 }.map { roles in
                FlexibleSyncConfiguration(
                    queryableFields: QueryableFields(common: ["writer"]),
                    roles: roles
                )
            }
        )
        let random = RandomSource(SplitMix64(seed: seed))
        let store = try await openStore(VersionSalts(random.salt()))
        if configuration.flexible != nil { try await store.admitUser() }
        let accounts = try await Accounts(
            apps: [configuration],
            store: store,
            clock: clock,
            random: random
        )
        let process = SimulatedServerProcess(
            time,
            store: store,
            accounts: accounts,
            clock: clock,
            random: random,
            logger: logger
        )
        running.withLock { $0 = process }
        process.begin()
    }

    /// Each process marks its versions with salts of its own.
    private func openStore(_ versionSalts: VersionSalts) async throws -> SQLiteStore {
        try await SQLiteStore(
            .file(path: path),
            vfs: files.name,
            versionSalts: versionSalts,
            // Time does not pass during any work: the duration of a write must not change a run.
            clock: time.clock,
            executor: { [time] _ in time.lane() }
        )
    }

    /// The content of the store while no process has it open.
    func lookInside() async throws -> LedgerAudit {
        let store = try await openStore(VersionSalts(Salt(1)))
        let contents = try await store.contents()
        await store.close()
        return LedgerAudit(contents)
    }

    var backup: Backup? { kept.withLock { $0 } }

    func backUp() async throws {
        guard let process else { return }
        // Nothing is written between the two: neither waits.
        let copy = try SimulatedBackup(
            of: path,
            to: directory.file("server.backup"),
            vfs: files.name
        )
        let contents = LedgerAudit(try await process.store.contents())
        kept.withLock { $0 = Backup(copy: copy, contents: contents) }
    }

    /// Ends the process: it tells its clients, or it dies, and its last changes may reach no file.
    func stop(dying: Bool) async {
        guard let process else { return }
        running.withLock { $0 = nil }
        if dying { files.arm(.freeze, at: 1) }
        await process.end()
        files.heal()
    }
}

/// One run of the released server, without its sockets: accounts, sessions and the store.
final class SimulatedServerProcess: Sendable {
    private typealias Caller = (link: SimulatedLink, user: ConnectedUser, subProtocol: SubProtocol)

    let store: SQLiteStore
    let engine: SyncEngine
    let admin: AdminAPI
    private let time: VirtualTime
    private let service: SyncService
    private let callers: AsyncStream<Caller>
    private let calling: AsyncStream<Caller>.Continuation
    private let task = Mutex<Task<Void, Never>?>(nil)

    init(
        _ time: VirtualTime,
        store: SQLiteStore,
        accounts: Accounts,
        clock: WallClock,
        random: RandomSource,
        logger: Logger
    ) {
        self.time = time
        self.store = store
        engine = SyncEngine(
            store: store,
            clock: clock,
            random: random,
            downloadLimitInBytes: 600,
            snapshots: SnapshotPolicy(
                historySizeInBytes: 2_000,
                ratio: 0,
                changesetSizeInBytes: 400,
                compactionSizeInBytes: 0
            )
        )
        service = SyncService(
            apps: accounts.apps,
            backplane: accounts.backplane,
            engine: engine,
            clock: clock,
            random: random,
            timing: ServerTiming(
                clock: time.clock,
                tick: .seconds(3),
                ticksOfSilence: 5,
                softClose: .seconds(2)
            ),
            logger: logger
        )
        admin = AdminAPI(accounts: accounts, sync: service, logger: logger)
        (callers, calling) = AsyncStream.makeStream()
    }

    func begin() {
        let task = Task(executorPreference: time) { [self] in
            await withDiscardingTaskGroup { group in
                group.addTask { await self.service.keepFanningOut() }
                group.addTask { await self.service.keepTime() }
                for await caller in callers {
                    group.addTask {
                        await self.service.serve(
                            caller.link.stream(.server),
                            of: caller.user,
                            caller.subProtocol
                        )
                        caller.link.close(.server)
                    }
                }
                group.cancelAll()
            }
        }
        self.task.withLock { $0 = task }
    }

    func accept(_ link: SimulatedLink, of user: ConnectedUser, _ subProtocol: SubProtocol) {
        calling.yield((link, user, subProtocol))
    }

    /// Ends every connection, and then the process.
    func end() async {
        calling.finish()
        let task = task.withLock { $0 }
        task?.cancel()
        await task?.value
        await store.close()
    }
}

extension SQLiteStore {
    /// Roles are for users that the store knows.
    fileprivate func admitUser() async throws {
        try await write(.app(SimulatedServerMachine.app)) { transaction in
            let id = SimulatedServerMachine.user
            guard try transaction.user(id, of: SimulatedServerMachine.app) == nil else { return }
            let user = User(id: id, identities: [], isDisabled: false)
            try transaction.insert(user, of: SimulatedServerMachine.app, at: 0)
        }
    }

    /// The documents of the clients' shared partition, read as a realm; empty if there is none yet.
    func contents(isFlexible: Bool = false) async throws -> InMemoryRealm {
        try await read { snapshot in
            guard
                let partition = isFlexible
                    ? .flexible : Partition(extendedJSON: Array(SimulatedApp.partition.utf8)),
                let file = try snapshot.file(of: SimulatedServerMachine.app, partition)
            else { return InMemoryRealm(schema: RealmSchema([])) }
            let schema = try snapshot.schema(of: file.id)
            let form = JSONForm(schema: schema)
            var realm = InMemoryRealm(schema: schema)
            for owner in schema.classes {
                var documents: [(ObjectKey, [UInt8])] = []
                try snapshot.forEachDocument(of: owner.name, in: file.id) { key, json in
                    documents.append((key, json))
                    return .next
                }
                for (key, json) in documents {
                    realm.setDocument(
                        try form.decodeDocument(json, of: owner),
                        for: ObjectReference(className: owner.name, key: key)
                    )
                }
            }
            return realm
        }
    }
}
