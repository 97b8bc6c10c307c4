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
    private static func migrate(_ world: SyncWorld, isFlexible: Bool) async throws {
        let action = isFlexible ? "start" : "rollback"
        let reply = await world.admin.call("PUT", migration, #"{"action":"\#(action)"}"#)
        #expect(reply.status == 200, "\(reply.text)")
        #expect(reply.text.contains(#""objects":3"#), "\(reply.text)")
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
            #expect(try await engine.switchMode(of: app, to: .flexible, by: "shop") == 2)
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
            #expect(try await engine.switchMode(of: app, to: .partition, by: "shop") == 2)
            // Repeated, the result is the same.
            #expect(try await engine.switchMode(of: app, to: .partition, by: "shop") == 2)
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
