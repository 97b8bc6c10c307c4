import Changesets
import Documents
import Permissions
import Query
import Schemas
import Scopes
import ServerFixtures
import SyncProtocol
import Testing
import Versions

@testable import ServerAccounts
@testable import ServerConfig
@testable import ServerStore
@testable import SyncServer

@Suite("Switching an app between partition-based and flexible sync")
struct ModeSwitchTests {
    private static let shop = TestApps.shop

    private static func app(isFlexible: Bool) -> ServedAppConfiguration {
        ServedAppConfiguration(
            id: shop,
            partitionKey: "_partition",
            isDevelopmentMode: true,
            anonymous: true,
            flexible: isFlexible
                ? FlexibleSyncConfiguration(
                    queryableFields: QueryableFields(common: ["_partition"]),
                    roles: RoleDeclarations(standard: [
                        RoleDeclaration(name: "all", read: .all, write: .all)
                    ])
                ) : nil
        )
    }

    private static let migration = "apps/shop-abcde/sync/migration?confirm=shop-abcde"

    /// Moves the objects, changes the configuration, and lets clients sync again.
    private static func migrate(
        _ world: SyncWorld,
        isFlexible: Bool,
        moving count: Int = 3
    ) async throws {
        let action = isFlexible ? "start" : "rollback"
        let reply = await world.admin.call("PUT", migration, #"{"action":"\#(action)"}"#)
        #expect(reply.status == 200, "\(reply.text)")
        #expect(reply.text.contains(#""objects":\#(count)"#), "\(reply.text)")
        let directory = world.apps.accounts.apps
        var served = try #require(directory[shop])
        served.configuration = app(isFlexible: isFlexible)
        directory.put(served)
        let enabled = await world.admin.call("PUT", "apps/shop-abcde/sync", #"{"state":"enabled"}"#)
        #expect(enabled.status == 200)
    }

    private static func titles(
        _ client: TestClient,
        in partition: String
    ) async throws -> [ObjectKey: Value] {
        try await client.bind(1, partition)
        let file = try await client.expectIdent()
        try await client.ident(1, file)
        try await client.send(.mark(1, RequestIdent(1)))
        return try await received(client)
    }

    private static func received(_ client: TestClient) async throws -> [ObjectKey: Value] {
        var realm = InMemoryRealm()
        while true {
            switch try await client.receive() {
            case .download(let download):
                for changeset in download.changesets {
                    try realm.apply(Changeset(decoding: changeset.bytes))
                }
            case .mark: return (realm.objects["Task"] ?? [:]).compactMapValues(\.values.first)
            case let other: throw TestClient.Unexpected(wanted: "DOWNLOAD or MARK", got: other)
            }
        }
    }

    /// One task in partition `a`, two in `b`.
    private static func fill(_ world: SyncWorld) async throws {
        for (partition, keys) in [("\"a\"", 1...1), ("\"b\"", 2...3)] {
            try await world.connect { client in
                try await client.bind(1, partition)
                let file = try await client.expectIdent()
                try await client.ident(1, file)
                _ = try await client.expectDownload()
                try await client.upload(
                    [upload(2, on: 0)]
                        + keys.enumerated().map { index, key in
                            upload(
                                UInt64(index + 3),
                                on: 0,
                                Tasks.create(Int64(key), title: "t\(key)")
                            )
                        }
                )
                let last = ClientVersion(UInt64(keys.count + 2))
                while try await client.expectDownload().progress.upload.clientVersion < last {}
            }
        }
    }

    @Test("Partitions become one realm; their clients are told the query that has their objects")
    func toFlexible() async throws {
        try await SyncWorld.with(.memory, apps: [Self.app(isFlexible: false)]) { world in
            try await Self.fill(world)
            try await Self.migrate(world, isFlexible: true)
            try await world.connect { client in
                try await client.bind(1, "\"b\"")
                let report = try await client.expectError(session: 1)
                #expect(report.code == 232)
                #expect(report.body.action == .migrateToFlexibleSync)
                #expect(report.body.details == .migration(partitionQuery: #"_partition == "b""#))
                // Others on the connection get theirs.
                try await client.bind(2, "null")
                let other = try await client.expectError(session: 2)
                #expect(other.body.details == .migration(partitionQuery: "_partition == NULL"))
            }
            // Clients that do not know the error end as before.
            try await world.connect(version: 8) { client in
                let report = try await client.expectError(session: nil)
                #expect(report.code == 113)
            }
            try await world.connect(mode: .flexible) { client in
                try await client.bind(1, #"{"schemaVersion":0,"sessionReason":1}"#)
                let file = try await client.expectIdent()
                let empty = ClientMessage.Query(version: QueryVersion(0), body: "{}")
                try await client.send(
                    .ident(
                        .init(
                            session: 1,
                            file: file,
                            download: .zero,
                            latestServerVersion: .zero,
                            query: empty
                        )
                    )
                )
                let body: Text = #"{"Task":"(_partition == \"b\")"}"#
                try await client.send(.query(1, .init(version: QueryVersion(1), body: body)))
                try await client.send(.mark(1, RequestIdent(1)))
                let titles = try await Self.received(client)
                #expect(Set(titles.keys) == [.int(2), .int(3)])
            }
        }
    }

    @Test("Back in partitions each has its objects again; only realms that had switched are told")
    func toPartitions() async throws {
        try await SyncWorld.with(.memory, apps: [Self.app(isFlexible: false)]) { world in
            try await Self.fill(world)
            try await Self.migrate(world, isFlexible: true)
            try await Self.migrate(world, isFlexible: false)
            try await world.connect { client in
                let titles = try await Self.titles(client, in: "\"a\"")
                #expect(Set(titles.keys) == [.int(1)])
            }
            try await world.connect { client in
                let titles = try await Self.titles(client, in: "\"b\"")
                #expect(Set(titles.keys) == [.int(2), .int(3)])
            }
            try await world.connect(mode: .flexible) { client in
                let binding = FlexibleBinding(migratedPartition: "\"b\"")
                try await client.bind(1, binding.encoded.description)
                let report = try await client.expectError(session: 1)
                #expect(report.code == 234)
                #expect(report.body.action == .revertToPartitionBasedSync)
            }
            try await world.connect(mode: .flexible) { client in
                try await client.bind(1, #"{"schemaVersion":0,"sessionReason":0}"#)
                let report = try await client.expectError(session: nil)
                #expect(report.code == 114)
            }
        }
    }

    @Test("Without partition_key, or with two objects of one key, nothing changes")
    func refused() async throws {
        var app = Self.app(isFlexible: false)
        app.partitionKey = nil
        try await SyncWorld.with(.memory, apps: [app]) { world in
            let reply = await world.admin.call("PUT", Self.migration, #"{"action":"start"}"#)
            #expect(reply.status == 400)
        }
        try await SyncWorld.with(.memory, apps: [Self.app(isFlexible: false)]) { world in
            try await Self.fill(world)
            try await world.connect { client in
                try await client.bind(1, "\"c\"")
                let file = try await client.expectIdent()
                try await client.ident(1, file)
                _ = try await client.expectDownload()
                try await client.upload([
                    upload(2, on: 0), upload(3, on: 0, Tasks.create(1, title: "again")),
                ])
                while try await client.expectDownload().progress.upload.clientVersion
                    < ClientVersion(3)
                {}
            }
            let reply = await world.admin.call("PUT", Self.migration, #"{"action":"start"}"#)
            #expect(reply.status == 409)
            #expect(reply.text.contains("same key"))
            try await world.connect { client in
                let titles = try await Self.titles(client, in: "\"a\"")
                #expect(Set(titles.keys) == [.int(1)])
            }
        }
    }

    private static func task(_ id: Int64, in partition: String?) -> [UInt8] {
        var writer = ChangesetWriter()
        writer.createObject(Tasks.object(id))
        writer.update(Tasks.object(id), "title", to: .scalar(.string(Text("t\(id)"))))
        if let partition {
            writer.update(Tasks.object(id), "_partition", to: .scalar(.string(Text(partition))))
        }
        return writer.bytes
    }

    /// The fresh copy of a client that followed to flexible sync.
    private static func copy(
        _ user: SyncWorld.LoggedIn,
        of partition: String,
        in world: SyncWorld
    ) async throws -> (file: SaltedFileIdent, received: TestClient.Received) {
        try await world.connect(as: user, mode: .flexible) { client in
            let file = try await client.startFlexible(TestClient.freshCopyPath).file
            let query = TestClient.query(1, #"_partition == \"\#(partition)\""#)
            return (file, try await client.subscribe(query, request: 1))
        }
    }

    /// Flexible sync, 16.1: the client's reset uploads again what had not arrived.
    @Test("Unsynced changes come along both ways; those that do not fit are undone and reported")
    func unsyncedChanges() async throws {
        try await SyncWorld.with(.memory, apps: [Self.app(isFlexible: false)]) { world in
            try await Self.fill(world)
            let user = try await world.logIn()
            try await world.connect(as: user) { client in
                let (_, download) = try await client.start(1, "\"b\"")
                let base = download.progress.download.serverVersion.rawValue
                // Acknowledged: it must move. What the client writes after it is not uploaded.
                try await client.upload([upload(2, on: base, Self.task(4, in: nil))])
                try await client.receive(acknowledging: 2)
            }
            try await Self.migrate(world, isFlexible: true, moving: 4)
            try await world.connect(as: user) { client in
                try await client.bind(1, "\"b\"")
                #expect(try await client.expectError(session: 1).code == 232)
            }
            let (file, received) = try await Self.copy(user, of: "b", in: world)
            #expect(try received.keys() == [.int(2), .int(3), .int(4)])
            // Recovered: a change, an object of the partition, and one that names none.
            let binding = FlexibleBinding(migratedPartition: "\"b\"")
            let query = TestClient.query(1, #"_partition == \"b\""#)
            try await world.connect(as: user, mode: .flexible) { client in
                try await client.bind(1, binding.encoded.description, needsFileIdent: false)
                try await client.identify(file, query, received.progress)
                _ = try await client.expectDownload()
                let base = received.progress.download.serverVersion.rawValue
                try await client.upload([
                    upload(3, on: base, Tasks.setTitle(2, "changed offline")),
                    upload(4, on: base, Self.task(5, in: "b")),
                    upload(5, on: base, Self.task(6, in: nil)),
                ])
                let report = try await client.expectError(session: 1)
                guard case .compensated(let rejected, _)? = report.body.details else {
                    throw TestClient.Unexpected(wanted: "rejected updates")
                }
                #expect(rejected.updates.map(\.key) == [.int(6)])
                try await client.receive(acknowledging: 5)
            }
            let (_, after) = try await Self.copy(user, of: "b", in: world)
            #expect(try after.keys() == [.int(2), .int(3), .int(4), .int(5)])
            #expect(
                try after.realm().value("title", of: Tasks.object(2))
                    == .scalar(.string("changed offline"))
            )

            try await Self.migrate(world, isFlexible: false, moving: 5)
            try await world.connect(as: user, mode: .flexible) { client in
                try await client.bind(1, binding.encoded.description, needsFileIdent: false)
                #expect(try await client.expectError(session: 1).code == 234)
            }
            try await world.connect(as: user) { client in
                let (_, download) = try await client.start(1, "\"b\"")
                let base = download.progress.download.serverVersion.rawValue
                try await client.upload([upload(2, on: base, Self.task(7, in: "b"))])
                try await client.receive(acknowledging: 2)
            }
            try await world.connect { client in
                let titles = try await Self.titles(client, in: "\"b\"")
                #expect(Set(titles.keys) == [.int(2), .int(3), .int(4), .int(5), .int(7)])
                #expect(titles[.int(2)] == .scalar(.string("changed offline")))
            }
        }
    }

    @Test(
        "What was acknowledged has moved, however uploads and the switch interleave",
        arguments: StoreKind.allCases
    )
    func concurrentUploads(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let app = TestApps.shop
            let engine = SyncEngine(
                store: store,
                clock: ManualClock().wallClock,
                random: .seeded(1)
            )
            try await store.write(.app(app)) { transaction in
                try transaction.insert(AppRecord(id: app, domainID: "d", keys: []), at: 0)
            }
            let acknowledged = try await withThrowingTaskGroup(of: Set<Int64>.self) { group in
                for writer in Int64(1)...4 {
                    group.addTask { try await Self.writeOn(writer, engine, app) }
                }
                // Each has written some.
                for _ in 0..<100_000 {
                    if try await Self.objects(of: store, app) >= 40 { break }
                    await Task.yield()
                }
                _ = try await engine.upkeep.switchMode(of: app, to: .flexible, by: "shop")
                return try await group.reduce(into: Set<Int64>()) { $0.formUnion($1) }
            }
            let moved = try await store.read { snapshot in
                let file = try #require(try snapshot.file(of: app, .flexible)?.id)
                var keys: Set<ObjectKey> = []
                try snapshot.forEachDocument(of: "Task", in: file) { key, _ throws(StoreError) in
                    keys.insert(key)
                    return .next
                }
                return keys
            }
            #expect(acknowledged.count >= 40)
            #expect(acknowledged.allSatisfy { moved.contains(.int($0)) })
        }
    }

    /// Makes objects in a partition of its own until the server refuses; returns those that it was told to
    /// have.
    private static func writeOn(
        _ writer: Int64,
        _ engine: SyncEngine,
        _ app: AppID
    ) async throws -> Set<Int64> {
        let user = UserID("ann")
        let opened = try await engine.open(.int(writer), of: app, for: user, needsFileIdent: true)
        let assigned = try #require(opened.assigned)
        let client = try await engine.identify(
            .init(
                session: 1,
                file: assigned,
                download: .zero,
                latestServerVersion: .zero
            ),
            in: opened.file,
            for: user
        )
        var made: Set<Int64> = []
        for version in UInt64(2)..<2_000 {
            let key = writer * 10_000 + Int64(version)
            let bytes = version == 2 ? Tasks.schema : Tasks.create(key, title: "x")
            do {
                _ = try await engine.integrate(
                    Upload(
                        client: client.ident,
                        sessionEpoch: client.sessionEpoch,
                        changesets: [upload(version, on: 0, bytes)],
                        progress: uploadCursor(version, 0),
                        lockedServerVersion: .zero
                    ),
                    into: opened.file,
                    policy: SchemaPolicy(allowsAdditions: true)
                )
            } catch IntegrationRefusal.unknownClientFile {
                return made
            }
            if version > 2 { made.insert(key) }
        }
        throw TestClient.Unexpected(wanted: "the end of the generation")
    }

    private static func objects(of store: any Store, _ app: AppID) async throws -> Int {
        try await store.read { snapshot in
            try snapshot.files(of: app).reduce(0) { sum, file in
                try sum + (snapshot.objectCounts(in: file.id)["Task"] ?? 0)
            }
        }
    }

    @Test("Every store moves the objects", arguments: StoreKind.allCases)
    func stores(kind: StoreKind) async throws {
        try await kind.withStore { store in
            let app = AppID.named("shop-abcde")
            let schema = RealmSchema([
                ClassSchema(
                    name: "Task",
                    kind: .topLevel(PrimaryKeySchema(name: "_id", type: .int, isNullable: false)),
                    properties: [
                        PropertySchema(name: "title", type: .string, isNullable: false)
                    ]
                )
            ])
            try await store.write(.app(app)) { transaction in
                for (partition, key) in [(Partition.int(1), Int64(1)), (.int(2), 2)] {
                    let file = try transaction.makeFile(of: app, partition)
                    try transaction.putSchema(schema, of: file.id)
                    let object = ObjectReference(className: "Task", key: .int(key))
                    let json = Array(#"{"_id":\#(key),"title":"t\#(key)"}"#.utf8)
                    try transaction.putDocument(json, of: object, in: file.id)
                }
            }
            let engine = SyncEngine(
                store: store,
                clock: ManualClock().wallClock,
                random: .seeded(1)
            )
            #expect(try await engine.upkeep.switchMode(of: app, to: .flexible, by: "shop") == 2)
            let documents = try await store.read { snapshot in
                let file = try #require(try snapshot.file(of: app, .flexible)?.id)
                return try ([1, 2] as [Int64]).map { key in
                    try snapshot.document(
                        ObjectReference(className: "Task", key: .int(key)),
                        in: file
                    ).map { String(decoding: $0.filter { $0 != 0x20 }, as: UTF8.self) } ?? ""
                }
            }
            #expect(documents.map { $0.contains(#""shop":1"#) } == [true, false])
            #expect(documents.map { $0.contains(#""shop":2"#) } == [false, true])
            #expect(try await engine.upkeep.switchMode(of: app, to: .partition, by: "shop") == 2)
            // Repeated, the result is the same.
            #expect(try await engine.upkeep.switchMode(of: app, to: .partition, by: "shop") == 2)
            let counts = try await store.read { snapshot in
                try ([1, 2] as [Int64]).map { partition in
                    let file = try #require(try snapshot.file(of: app, .int(partition))?.id)
                    return try snapshot.objectCounts(in: file)["Task"] ?? 0
                }
            }
            #expect(counts == [1, 1])
        }
    }
}
