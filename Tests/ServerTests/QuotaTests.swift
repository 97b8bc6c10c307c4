import Changesets
import Scopes
import ServerFixtures
import SyncProtocol
import Testing
import Versions

@testable import SQLiteServerStore
@testable import Server
@testable import ServerAccounts
@testable import ServerConfig
@testable import ServerStore
@testable import SyncServer

/// The quotas of one user, and the removal of unused files.
@Suite("Quotas")
struct QuotaTests {
    private static func app(_ quotas: UserQuotas) -> ServedAppConfiguration {
        var app = TestApps.configurations[0]
        app.quotas = quotas
        return app
    }

    /// An error that makes the client come back later, and give up nothing.
    private func expectBackOff(_ report: JSONErrorReport, _ text: String) {
        #expect(report.code == 201)
        #expect(report.body.action == .transient)
        #expect(report.body.tryAgain)
        #expect(report.body.backoff != nil)
        #expect(report.body.message.contains(text), "\(report.body.message)")
    }

    @Test("Beyond the quota of realms and client files one must wait, the others still sync")
    func realms() async throws {
        let quotas = UserQuotas(realms: 2, clientFiles: 4)
        try await SyncWorld.with(.memory, apps: [Self.app(quotas)]) { world in
            let user = try await world.logIn()
            try await world.connect(as: user) { client in
                let (file, _) = try await client.start(1, "\"a\"")
                try await client.start(2, "\"b\"")
                try await client.bind(3, "\"c\"")
                expectBackOff(try await client.expectError(session: 3), "realms")
                let realms = try await world.apps.store.read { try $0.files(of: TestApps.shop) }
                #expect(realms.count == 2)
                try await client.start(4, "\"a\"")
                try await client.start(5, "\"b\"")
                try await client.bind(6, "\"a\"")
                expectBackOff(try await client.expectError(session: 6), "client files")
                // A file that it has needs no room.
                try await client.send(.unbind(1))
                #expect(try await client.receive() == .unbound(1))
                try await client.bind(7, "\"a\"", needsFileIdent: false)
                try await client.ident(7, file)
                _ = try await client.expectDownload(7)
            }
            // Another user has a quota of its own.
            try await world.connect { other in _ = try await other.start(1, "\"c\"") }
        }
    }

    @Test("Uploads beyond a user's bytes wait at the client, until history is trimmed")
    func bytes() async throws {
        let quotas = UserQuotas(historyBytes: Tasks.schema.count)
        try await SyncWorld.with(.memory, apps: [Self.app(quotas)]) { world in
            let user = try await world.logIn()
            try await world.connect(as: user) { client in
                try await client.start()
                try await client.upload([upload(2, on: 0)])
                _ = try await client.expectDownload()
                try await client.upload([upload(3, on: 0, Tasks.create(1, title: "a"))])
                expectBackOff(try await client.expectError(session: 1), "uploaded")
            }
            let store = world.apps.store
            let size = try await store.read { try $0.historySize(of: user.user.id) }
            #expect(size == Int64(Tasks.schema.count))
            let file = try #require(try await store.read { try $0.files(of: TestApps.shop) }.first)
            #expect(file.currentVersion == ServerVersion(1))
            try await store.write { try $0.trimHistory(of: file.id, upTo: ServerVersion(1)) }
            #expect(try await store.read { try $0.historySize(of: user.user.id) } == 0)
        }
    }

    @Test("Beyond the quota of sessions revoked ones end first, then the oldest")
    func sessions() async throws {
        let apps = try await TestApps(apps: [Self.app(UserQuotas(sessions: 2))])
        _ = await apps.register("ann@example.net", "correct horse")
        var tokens: [String?] = []
        func logIn() async {
            apps.clock.advance(bySeconds: 1)
            tokens.append(
                await apps.logIn("ann@example.net", "correct horse").fields["refresh_token"]
            )
        }
        func alive() async -> [Int] {
            var alive: [Int] = []
            for (number, token) in tokens.enumerated() {
                let reply = await apps.call("POST", "/auth/session", token: token)
                if reply.status == 201 { alive.append(number) }
            }
            return alive
        }
        for _ in 0..<3 { await logIn() }
        #expect(await alive() == [1, 2])
        _ = await apps.call("DELETE", "/auth/session", token: tokens[2])
        await logIn()
        #expect(await alive() == [1, 3])
        await logIn()
        #expect(await alive() == [3, 4])
    }

    // MARK: What was never used

    private static let day: Int64 = 86_400

    @Test(
        "Client files without IDENT go after a day, and realms that never got anything after them"
    )
    func sweeping() async throws {
        try await SyncWorld.with(.memory) { world in
            let user = try await world.logIn()
            let store = world.apps.store
            @Sendable func sweep(after days: Int64) async throws -> [Partition] {
                world.apps.clock.advance(bySeconds: days * Self.day + 1)
                for app in world.apps.accounts.apps.syncApps { await world.sync.sweep(app) }
                return try await store.read { try $0.files(of: TestApps.shop).map(\.partition) }
            }
            let (bound, idle) = try await world.connect(as: user) { client in
                try await client.bind(1, "\"bound\"")
                let bound = try await client.expectIdent(1)
                let (idle, _) = try await client.start(2, "\"idle\"")
                try await client.start(3, "\"used\"")
                try await client.upload([upload(2, on: 0)], in: 3)
                _ = try await client.expectDownload(3)
                return (bound, idle)
            }
            #expect(try await sweep(after: 0).count == 3)
            #expect(try await sweep(after: 1) == [.string("idle"), .string("used")])
            // A client with the ident that is gone starts over, and no realm is made for it.
            try await world.connect(as: user) { client in
                try await client.bind(1, "\"bound\"", needsFileIdent: false)
                try await client.ident(1, bound)
                #expect(try await client.expectError(session: 1).code == 208)
                // What was opened, and perhaps written to since, stays for the offline limit.
                try await client.bind(2, "\"idle\"", needsFileIdent: false)
                try await client.ident(2, idle)
                _ = try await client.expectDownload(2)
                // Who is connected has not gone, however long that is.
                #expect(try await sweep(after: 31) == [.string("idle"), .string("used")])
            }
            #expect(try await sweep(after: 0) == [.string("used")])
            #expect(try await sweep(after: 3650) == [.string("used")])
        }
    }

    @Test("A realm with objects, or with a void history, never counts as unused")
    func keeping() async throws {
        let world = try await ServerFileWorld()
        let client = try await world.client()
        try await world.upload(
            [upload(2, on: 0), upload(3, on: 0, Tasks.create(1, title: "a"))],
            by: client
        )
        try await world.engine.upkeep.terminate(ServerFileWorld.app)
        world.clock.advance(bySeconds: 3650 * Self.day)
        try await world.engine.upkeep.sweep(
            ServerFileWorld.app,
            offlineLimitInMilliseconds: 1000,
            connected: []
        )
        #expect(try await world.serverFile().generation == 1)
        #expect(try await world.tasks().count == 1)
    }

    @Test("Very many unused realms are removed piece by piece")
    func manyRealms() async throws {
        let world = try await ServerFileWorld()
        for number in 0..<450 {
            _ = try await world.engine.open(
                .int(Int64(number)),
                of: ServerFileWorld.app,
                for: ServerFileWorld.ann,
                needsFileIdent: true
            )
        }
        world.clock.advance(bySeconds: Self.day + 1)
        try await world.engine.upkeep.sweep(
            ServerFileWorld.app,
            offlineLimitInMilliseconds: nil,
            connected: [world.file]
        )
        let files = try await world.store.read { try $0.files(of: ServerFileWorld.app) }
        #expect(files.map(\.id) == [world.file])
    }

    @Test(
        "What a user has uploaded is counted, and forgotten with the history",
        arguments: StoreKind.allCases
    )
    func accounting(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let app = AppID.named("shop-abcde")
            let (ann, bob) = (UserID("ann"), UserID("bob"))
            let file = try await store.write { transaction in
                let file = try transaction.makeFile(of: app, .null)
                for (ident, owner) in [(UInt64(2), ann), (3, ann), (4, bob)] {
                    try transaction.put(
                        ClientFile(
                            ident: FileIdent(ident),
                            salt: Salt(1),
                            owner: owner,
                            generation: 0,
                            lastSeenAt: 0
                        ),
                        in: file.id
                    )
                }
                let versions = [(UInt64(1), UInt64(0)), (2, 2), (3, 3), (4, 4), (5, 2)]
                let entries = versions.map { version, origin in
                    HistoryEntry(
                        version: SaltedServerVersion(
                            version: ServerVersion(version),
                            salt: Salt(1)
                        ),
                        origin: FileIdent(origin),
                        clientVersion: ClientVersion(version),
                        timestamp: OriginTimestamp(1),
                        changeset: Array(repeating: 0, count: Int(version) * 10),
                        cumulativeSizeInBytes: version
                    )
                }
                try transaction.append(Array(entries.prefix(4)), to: file.id)
                try transaction.append(Array(entries.dropFirst(4)), to: file.id)
                // What is known of a client is replaced, what it has uploaded is not.
                if let client = try transaction.clientFile(FileIdent(2), in: file.id) {
                    try transaction.put(client, in: file.id)
                }
                return file.id
            }
            func sizes() async throws -> [Int64] {
                try await store.read { try [$0.historySize(of: ann), $0.historySize(of: bob)] }
            }
            #expect(try await sizes() == [100, 40])
            let usage = try await store.read { try $0.usage(of: ann, in: file) }
            #expect(usage == UserUsage(realms: 1, clientFiles: 2, isInRealm: true))
            let elsewhere = try await store.read { try $0.usage(of: bob, in: ServerFileID(99)) }
            #expect(elsewhere == UserUsage(realms: 1, clientFiles: 1))
            #expect(
                try await store.read { try $0.usage(of: UserID("eve"), in: nil) } == UserUsage()
            )
            try await store.write { try $0.trimHistory(of: file, upTo: ServerVersion(2)) }
            #expect(try await sizes() == [80, 40])
            try await store.write { try $0.trimHistory(of: file, upTo: ServerVersion(100)) }
            #expect(try await sizes() == [0, 0])
        }
    }
}
