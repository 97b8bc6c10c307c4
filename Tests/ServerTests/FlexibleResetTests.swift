import Changesets
import Permissions
import Query
import Scopes
import ServerFixtures
import SyncProtocol
import Testing
import Versions

@testable import ServerAccounts
@testable import ServerConfig
@testable import ServerStore
@testable import SyncServer

/// Client reset, 2.2 and 10, where the realm is one of flexible sync; sync history, 16 and 17.
@Suite("Resets of flexible realms", .timeLimit(.minutes(5)))
struct FlexibleResetTests {
    private static let everything = TestClient.query(1, "TRUEPREDICATE")

    /// A client file with a view, and where it stopped.
    private struct Replica: Sendable {
        let user: SyncWorld.LoggedIn
        let file: SaltedFileIdent
        var progress: SyncProgress
    }

    private func with(
        _ app: ServedAppConfiguration = FlexibleShop.app(),
        _ body: @escaping @Sendable (SyncWorld) async throws -> Void
    ) async throws {
        try await SyncWorld.with(.memory, apps: [app], body)
    }

    /// A client that has made tasks 1 and 2, and went away.
    private static func replica(in world: SyncWorld) async throws -> Replica {
        let user = try await world.logIn()
        return try await world.connect(as: user, mode: .flexible) { client in
            let file = try await client.startFlexible().file
            try await client.upload([ServerTests.upload(2, on: 0)])
            try await client.receive(acknowledging: 2)
            let received = try await client.subscribe(everything, request: 1)
            let base = received.progress.download.serverVersion.rawValue
            try await client.upload([
                upload(3, on: base, Tasks.create(1, title: "one")),
                upload(4, on: base, Tasks.create(2, title: "two")),
            ])
            return Replica(
                user: user,
                file: file,
                progress: try await client.receive(acknowledging: 4)
            )
        }
    }

    /// A client's file as it was, with its subscriptions; returns the error that it gets.
    private static func refusal(
        of replica: Replica,
        in world: SyncWorld,
        version: Int = 14
    ) async throws -> JSONErrorReport {
        try await world.connect(as: replica.user, version: version, mode: .flexible) { client in
            try await client.rebind(replica.file, everything, replica.progress)
            return try await client.expectError(session: 1)
        }
    }

    /// The fresh copy of a client reset: another file of the same user, with the subscriptions.
    private static func freshCopy(
        _ user: SyncWorld.LoggedIn,
        in world: SyncWorld
    ) async throws -> (Replica, keys: Set<ObjectKey>) {
        try await world.connect(as: user, mode: .flexible) { client in
            let file = try await client.startFlexible(TestClient.freshCopyPath).file
            let received = try await client.subscribe(everything, request: 1)
            let replica = Replica(user: user, file: file, progress: received.progress)
            return (replica, try received.keys())
        }
    }

    // MARK: Terminations

    @Test("P10 A termination makes connected and absent clients start over; the objects stay")
    func termination() async throws {
        try await with { world in
            let absent = try await Self.replica(in: world)
            let connected = try await world.logIn()
            let other = try await world.connect(as: connected, mode: .flexible) { client in
                let file = try await client.startFlexible().file
                let received = try await client.subscribe(Self.everything, request: 1)
                #expect(try received.keys() == [.int(1), .int(2)])
                #expect(await FlexibleShop.terminateSync(world) == 200)
                #expect(try await client.expectError(session: 1).code == 200)
                #expect(try await client.receive() == nil)
                return Replica(user: connected, file: file, progress: received.progress)
            }
            #expect(await FlexibleShop.enableSync(world) == 200)
            for replica in [absent, other] {
                let report = try await Self.refusal(of: replica, in: world)
                #expect(report.code == 208)
                #expect(report.body.action == .clientReset)
                #expect(report.body.shouldClientReset)
            }
            // The reset: a fresh copy, then its file with the number of the client's own set.
            let (copy, keys) = try await Self.freshCopy(absent.user, in: world)
            #expect(keys == [.int(1), .int(2)])
            try await world.connect(as: copy.user, mode: .flexible) { client in
                try await client.rebind(
                    copy.file,
                    .init(version: QueryVersion(7), body: Self.everything.body),
                    copy.progress
                )
                let first = try await client.expectDownload()
                #expect(first.extent == .query(QueryVersion(7), .steady, .complete))
                #expect(first.changesets.isEmpty)
                // Recovered: what the client had not uploaded before.
                let base = copy.progress.download.serverVersion.rawValue
                try await client.upload([upload(5, on: base, Tasks.create(3, title: "mine"))])
                try await client.receive(acknowledging: 5)
            }
            let (_, after) = try await Self.freshCopy(other.user, in: world)
            #expect(after == [.int(1), .int(2), .int(3)])
        }
    }

    @Test("Nothing of the views of before is left behind a termination")
    func remains() async throws {
        try await with { world in
            let replica = try await Self.replica(in: world)
            #expect(await FlexibleShop.terminateSync(world) == 200)
            try await world.sync.engine.upkeep.removeRemains(of: TestApps.shop)
            let (epochs, touched) = try await world.apps.store.read { snapshot in
                let file = try #require(try snapshot.file(of: TestApps.shop, .flexible))
                var touched = 0
                try snapshot.forEachTouchedObject(
                    of: file.id,
                    after: .zero,
                    upTo: file.currentVersion
                ) { _ in
                    touched += 1
                    return .next
                }
                return (try snapshot.viewEpochs(of: replica.file.ident, in: file.id), touched)
            }
            #expect(epochs.isEmpty)
            #expect(touched == 0)
        }
    }

    @Test("D9 One client starts over on command, at once if it is connected; the other continues")
    func oneClient() async throws {
        try await with { world in
            let absent = try await Self.replica(in: world)
            let (other, _) = try await Self.freshCopy(absent.user, in: world)
            try await world.connect(as: absent.user, mode: .flexible) { client in
                try await client.rebind(absent.file, Self.everything, absent.progress)
                _ = try await client.expectDownload()
                let body =
                    #"{"partition":"\"realm-server:flexible\"","client":"#
                    + "\(absent.file.ident.rawValue)}"
                let reply = await world.admin.call(
                    "POST",
                    "apps/shop-abcde/realms/reset-client?confirm=shop-abcde",
                    body
                )
                #expect(reply.status == 204, "\(reply.text)")
                #expect(try await client.expectError(session: 1).code == 200)
            }
            #expect(try await Self.refusal(of: absent, in: world).code == 208)
            try await world.connect(as: other.user, mode: .flexible) { client in
                try await client.rebind(other.file, Self.everything, other.progress)
                #expect(
                    try await client.expectDownload().extent
                        == .query(QueryVersion(1), .steady, .complete)
                )
            }
        }
    }

    // MARK: Trimming, absence

    private static let month = Int64(31 * 86_400)

    private static func trim(_ world: SyncWorld) async throws -> ServerFile {
        try await world.sync.engine.upkeep.trim(
            TestApps.shop,
            offlineLimitInMilliseconds: 30 * 86_400_000,
            connected: world.sync.registry.members
        )
        return try await world.apps.store.read { snapshot in
            try #require(try snapshot.file(of: TestApps.shop, .flexible))
        }
    }

    @Test("History goes away once the clients that may return have it; the others start over")
    func trimming() async throws {
        try await with { world in
            let absent = try await Self.replica(in: world)
            let user = try await world.logIn()
            try await world.connect(as: user, mode: .flexible) { client in
                _ = try await client.startFlexible()
                let received = try await client.subscribe(
                    TestClient.query(1, #"title == \"one\""#),
                    request: 1
                )
                #expect(try received.keys() == [.int(1)])
                world.apps.clock.advance(bySeconds: Self.month)
                // It has told that it needs nothing up to there.
                let end = received.progress.download.serverVersion.rawValue
                try await client.upload([], progress: uploadCursor(2, end), locked: end)
                let unsent = try await client.receive(upToMark: 2)
                #expect(unsent.bootstrap.isEmpty && unsent.steady.isEmpty)
                let file = try await Self.trim(world)
                #expect(file.baseVersion.version > absent.progress.download.serverVersion)
                #expect(file.baseVersion.version.rawValue == end)
                // Its view continues: one object leaves, one enters.
                try await client.upload([upload(3, on: end, Tasks.count(1, 5))], locked: end)
                try await client.receive(acknowledging: 3)
                let second = try await client.subscribe(
                    TestClient.query(2, #"title == \"two\""#),
                    request: 4
                )
                #expect(try second.keys() == [.int(2)])
            }
            let report = try await Self.refusal(of: absent, in: world)
            #expect(report.code == 222)
            #expect(report.body.action == .clientReset)
            // New clients need none of the history.
            let (copy, keys) = try await Self.freshCopy(absent.user, in: world)
            #expect(keys == [.int(1), .int(2)])
            // What the server kept for the absent client went with the history that it needed.
            let left = try await world.apps.store.read { snapshot in
                let file = try #require(try snapshot.file(of: TestApps.shop, .flexible)?.id)
                return (
                    try snapshot.viewEpochs(of: absent.file.ident, in: file).count,
                    try snapshot.viewEpochs(of: copy.file.ident, in: file).count
                )
            }
            #expect(left.0 == 0)
            #expect(left.1 > 0)
        }
    }

    @Test("Behind the offline limit a client starts over, also if its history is still there")
    func offlineLimit() async throws {
        try await with { world in
            let absent = try await Self.replica(in: world)
            world.apps.clock.advance(bySeconds: Self.month - 2 * 86_400)
            // Within the limit it continues, and counts from now on.
            try await world.connect(as: absent.user, mode: .flexible) { client in
                try await client.rebind(absent.file, Self.everything, absent.progress)
                _ = try await client.expectDownload()
            }
            world.apps.clock.advance(bySeconds: Self.month)
            let report = try await Self.refusal(of: absent, in: world)
            #expect(report.code == 222)
            #expect(report.body.action == .clientReset)
        }
    }

    // MARK: Recovery

    @Test("Without client_recovery every reset discards what was not uploaded")
    func noRecovery() async throws {
        let app = FlexibleShop.app(allowsClientRecovery: false)
        try await with(app) { world in
            let replica = try await Self.replica(in: world)
            // A field is not queryable any more: 217; at protocol 13 other rights: 228.
            let narrow = FlexibleShop.app(
                queryable: [],
                isDevelopmentMode: false,
                allowsClientRecovery: false
            )
            let counted = TestClient.query(2, "count > -5")
            try await world.connect(as: replica.user, mode: .flexible) { client in
                try await client.rebind(replica.file, Self.everything, replica.progress)
                _ = try await client.expectDownload()
                _ = try await client.subscribe(counted, request: 1)
                FlexibleShop.put(narrow, in: world)
                Self.expectDiscard(try await client.expectError(session: 1), 217)
            }
            FlexibleShop.put(app, in: world)
            try await world.connect(version: 13, mode: .flexible) { client in
                _ = try await client.startFlexible()
                FlexibleShop.put(
                    FlexibleShop.app(
                        [RoleDeclaration(name: "all", read: .all)],
                        allowsClientRecovery: false
                    ),
                    in: world
                )
                Self.expectDiscard(try await client.expectError(session: 1), 228)
            }
            #expect(await FlexibleShop.terminateSync(world) == 200)
            #expect(await FlexibleShop.enableSync(world) == 200)
            Self.expectDiscard(try await Self.refusal(of: replica, in: world), 208)
        }
    }

    private static func expectDiscard(_ report: JSONErrorReport, _ code: Int) {
        #expect(report.code == code)
        #expect(report.body.shouldClientReset)
        #expect(report.body.isRecoveryModeDisabled)
        #expect(report.body.action == .clientResetNoRecovery)
    }

    @Test("The switch counts for sessions that exist already")
    func recoverySwitch() async throws {
        try await with { world in
            let replica = try await Self.replica(in: world)
            try await world.connect(as: replica.user, mode: .flexible) { client in
                try await client.rebind(replica.file, Self.everything, replica.progress)
                _ = try await client.expectDownload()
                let app = FlexibleShop.app(
                    queryable: [],
                    isDevelopmentMode: false,
                    allowsClientRecovery: false
                )
                FlexibleShop.put(app, in: world)
                // The primary key is queryable: the view is valid, and the session continues.
                _ = try await client.receive(upToMark: 1)
                try await client.send(.query(1, TestClient.query(2, "count > 1")))
                guard case .queryError? = try await client.receive() else {
                    throw TestClient.Unexpected(wanted: "QUERY_ERROR")
                }
                try await client.send(.unbind(1))
                guard case .unbound(1)? = try await client.receive() else {
                    throw TestClient.Unexpected(wanted: "UNBOUND")
                }
                var wrong = replica.progress
                wrong.latestServerVersion = SaltedServerVersion(
                    version: ServerVersion(1 << 40),
                    salt: Salt(5)
                )
                try await client.rebind(replica.file, Self.everything, wrong)
                Self.expectDiscard(try await client.expectError(session: 1), 209)
            }
        }
    }

    // MARK: Backups

    @Test("Behind a restored backup clients that know more start over: 209, 210 and 211")
    func restoredBackup() async throws {
        try await withTemporaryDirectory { directory in
            let storage = try RestorableStore(.ofRun, directory: directory)
            let writer = try await Self.run(storage, seed: 1) { try await Self.replica(in: $0) }
            var reader = try await Self.run(storage, seed: 11) { world in
                try await Self.freshCopy(world.logIn(), in: world).0
            }
            let absent = try await Self.run(storage, seed: 21) { world in
                try await Self.freshCopy(world.logIn(), in: world).0
            }
            try storage.backUp()
            // What the backup lacks: a task, and another set of the reader.
            let lost = try await Self.run(storage, seed: 31) { [reader] world in
                let written = try await world.connect(as: writer.user, mode: .flexible) { client in
                    try await client.rebind(writer.file, Self.everything, writer.progress)
                    let base = try await client.expectDownload().progress.download.serverVersion
                    try await client.upload([
                        upload(5, on: base.rawValue, Tasks.create(3, title: "three"))
                    ])
                    return try await client.receive(acknowledging: 5)
                }
                let read = try await world.connect(as: reader.user, mode: .flexible) { client in
                    try await client.rebind(reader.file, Self.everything, reader.progress)
                    return try await client.subscribe(
                        TestClient.query(2, #"title == \"three\""#),
                        request: 1
                    )
                }
                #expect(try read.keys() == [.int(3)])
                return (written, read.progress)
            }
            try storage.restore()
            let known = Replica(user: writer.user, file: writer.file, progress: lost.0)
            reader.progress = lost.1
            try await Self.run(storage, seed: 41) { [reader] world in
                #expect(try await Self.refusal(of: known, in: world).code == 209)
                #expect(try await Self.refusal(of: reader, in: world).code == 209)
                // New versions with the same numbers.
                let (copy, keys) = try await Self.freshCopy(writer.user, in: world)
                #expect(keys == [.int(1), .int(2)])
                try await world.connect(as: copy.user, mode: .flexible) { client in
                    try await client.rebind(copy.file, Self.everything, copy.progress)
                    var base = try await client.expectDownload().progress.download.serverVersion
                    for version in UInt64(2)..<12 {
                        try await client.upload([
                            upload(
                                version,
                                on: base.rawValue,
                                Tasks.create(Int64(version) + 10, title: "new")
                            )
                        ])
                        base = try await client.receive(acknowledging: version).download
                            .serverVersion
                    }
                }
                #expect(try await Self.refusal(of: known, in: world).code == 210)
                #expect(try await Self.refusal(of: reader, in: world).code == 211)
                // A client that knew no more than the backup continues.
                try await world.connect(as: absent.user, mode: .flexible) { client in
                    try await client.rebind(absent.file, Self.everything, absent.progress)
                    let received = try await client.receive(upToMark: 1)
                    #expect(received.bootstrap.isEmpty)
                    #expect(try received.keys().count == 10)
                }
            }
            await storage.stop()
        }
    }

    /// Runs one process of the server on a store.
    private static func run<Result: Sendable>(
        _ storage: RestorableStore,
        seed: UInt64,
        _ body: @escaping @Sendable (SyncWorld) async throws -> Result
    ) async throws -> Result {
        let result = try await SyncWorld.with(
            .memory,
            apps: [FlexibleShop.app()],
            store: try await storage.open(),
            seed: seed,
            body
        )
        await storage.stop()
        return result
    }

    // MARK: Modes

    @Test("A connection of the other mode ends when the app's mode changes")
    func modeChange() async throws {
        try await with { world in
            let user = try await world.logIn()
            try await world.connect(as: user, mode: .flexible) { client in
                _ = try await client.startFlexible()
                var app = FlexibleShop.app()
                app.flexible = nil
                FlexibleShop.put(app, in: world)
                #expect(try await client.expectError(session: 1).code == 200)
                #expect(try await client.receive() == nil)
            }
            try await world.connect(as: user, mode: .flexible) { client in
                let error = try await client.expectError(session: nil)
                #expect(error.code == 114)
            }
            try await world.connect(as: user) { client in
                // The realm of flexible mode is not a partition.
                try await client.bind(1, #""realm-server:flexible""#)
                #expect(try await client.expectError(session: 1).code == 204)
                try await client.send(.unbind(1))
                try await client.start(2)
                FlexibleShop.put(FlexibleShop.app(), in: world)
                #expect(try await client.expectError(session: 2).code == 200)
                #expect(try await client.receive() == nil)
            }
        }
    }
}
