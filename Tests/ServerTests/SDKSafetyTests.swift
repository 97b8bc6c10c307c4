import Changesets
import Documents
import Permissions
import Query
import Schemas
import SyncProtocol
import Testing
import Versions

@testable import ServerConfig
@testable import ServerStore
@testable import SyncServer

/// Sync history, 14.6: `sdk_safety` keeps lists and dictionaries out of mixed properties.
@Suite("Collections in mixed properties")
struct SDKSafetyTests {
    private static let reason = "lists and dictionaries in mixed properties are not allowed"

    private static func changeset(_ write: (inout ChangesetWriter) -> Void) -> [UInt8] {
        var writer = ChangesetWriter()
        write(&writer)
        return writer.bytes
    }

    /// `Task` with a mixed property, a list of mixed values and an embedded object with one.
    private static let schema = changeset { writer in
        writer.addEmbeddedClass("Part")
        writer.addColumn("any", to: "Part", type: .null, isNullable: true, collection: .single)
        writer.addTopLevelClass("Task", primaryKey: "_id", type: .int, isNullable: false)
        writer.addColumn("title", to: "Task", type: .string, isNullable: false, collection: .single)
        writer.addColumn("extra", to: "Task", type: .null, isNullable: true, collection: .single)
        writer.addColumn("notes", to: "Task", type: .null, isNullable: true, collection: .list)
        writer.addColumn("tags", to: "Task", type: .string, isNullable: false, collection: .list)
        writer.addColumn(
            "part",
            to: "Task",
            type: .link,
            isNullable: true,
            collection: .single,
            linkTarget: "Part"
        )
    }

    private static let object = Tasks.object(1)

    private func world(isSafe: Bool) async throws -> (ServerFileWorld, ClientFile) {
        var world = try await ServerFileWorld()
        world.policy = SchemaPolicy(allowsAdditions: true, allowsCollectionsInMixed: !isSafe)
        let client = try await world.client()
        try await world.upload(
            [
                upload(2, on: 0, Self.schema),
                upload(3, on: 0, Self.changeset { $0.createObject(Self.object) }),
            ],
            by: client
        )
        return (world, client)
    }

    /// Puts a collection into each of the three.
    private static let places: [@Sendable (inout ChangesetWriter) -> Void] = [
        { $0.update(object, "extra", to: .list) },
        { $0.update(object, "extra", to: .dictionary) },
        { writer in
            writer.arrayInsert(
                object,
                "notes",
                path: [.index(0)],
                .scalar(.int(1)),
                priorSize: 0
            )
            writer.arrayInsert(object, "notes", path: [.index(1)], .dictionary, priorSize: 1)
        },
        { writer in
            writer.update(object, "part", to: .objectValue)
            writer.update(object, "part", path: [.string("any")], to: .list)
        },
    ]

    @Test("An empty list or dictionary is rejected wherever a mixed value can be", arguments: 0..<4)
    func rejected(place: Int) async throws {
        let (world, client) = try await world(isSafe: true)
        let other = try await world.client()
        let outcome = try await world.upload(
            [
                upload(4, on: 0, Self.changeset(Self.places[place])),
                upload(5, on: 0, Tasks.setTitle(1, "kept")),
            ],
            by: client
        )
        let refused = try #require(outcome.refused.first)
        #expect(outcome.refused.count == 1)
        #expect(refused.updates.clientVersion == ClientVersion(4))
        #expect(refused.updates.updates.map(\.reason) == [Self.reason])
        let task = try await world.tasks()[.int(1)] ?? ""
        #expect(task.contains("kept"), "the rest of the upload is integrated: \(task)")

        // No other client gets a collection in a mixed value; the client itself gets the value back.
        for changeset in try await world.scan(for: other).changesets {
            for instruction in try Changeset(decoding: changeset.bytes).instructions {
                #expect(!instruction.bringsCollection, "\(instruction)")
            }
        }
        var own = InMemoryRealm()
        for bytes in [
            Self.schema, Self.changeset { $0.createObject(Self.object) },
            Self.changeset(Self.places[place]), Tasks.setTitle(1, "kept"),
        ] {
            try own.apply(Changeset(decoding: bytes))
        }
        for changeset in try await world.scan(for: client, from: downloadCursor(2, 3)).changesets {
            try own.apply(Changeset(decoding: changeset.bytes))
        }
        #expect(own == (try await world.realm()))
    }

    @Test("What follows inside the collection is left out with it, until the value is replaced")
    func contents() async throws {
        let (world, client) = try await world(isSafe: true)
        let outcome = try await world.upload(
            [
                upload(
                    4,
                    on: 0,
                    Self.changeset { writer in
                        writer.update(Self.object, "extra", to: .list)
                        writer.arrayInsert(
                            Self.object,
                            "extra",
                            path: [.index(0)],
                            .scalar(.int(7)),
                            priorSize: 0
                        )
                    }
                ),
                upload(
                    5,
                    on: 0,
                    Self.changeset { $0.update(Self.object, "extra", to: .scalar(.string("flat"))) }
                ),
            ],
            by: client
        )
        #expect(outcome.healing.misfits.map(\.problem) == [.collectionInMixed])
        #expect(outcome.healing.misfits.map(\.count) == [2])
        #expect(try await world.tasks()[.int(1)]?.contains("\"extra\":\"flat\"") == true)

        // Again, once it has the correction.
        let current = outcome.currentVersion.rawValue
        let late = try await world.upload(
            [
                upload(
                    6,
                    on: current,
                    Self.changeset {
                        $0.update(Self.object, "extra", to: .dictionary)
                        $0.update(
                            Self.object,
                            "extra",
                            path: [.string("a")],
                            to: .scalar(.int(1))
                        )
                    }
                )
            ],
            by: client
        )
        #expect(late.refused.count == 1)
        #expect(try await world.tasks()[.int(1)]?.contains("\"extra\":\"flat\"") == true)
    }

    @Test("Without the switch they are integrated, and typed lists are with it, too")
    func allowed() async throws {
        let (open, client) = try await world(isSafe: false)
        let outcome = try await open.upload(
            [upload(4, on: 0, Self.changeset { $0.update(Self.object, "extra", to: .list) })],
            by: client
        )
        #expect(outcome.refused.isEmpty && outcome.healing.misfits.isEmpty)
        #expect(try await open.tasks()[.int(1)]?.contains("\"extra\":[]") == true)

        let (safe, other) = try await world(isSafe: true)
        let typed = try await safe.upload(
            [upload(4, on: 0, Tasks.appendTag(1, "a", at: 0))],
            by: other
        )
        #expect(typed.healing.misfits.isEmpty)
        #expect(try await safe.tasks()[.int(1)]?.contains("\"tags\":[\"a\"]") == true)
    }

    @Test("A collection in a property of another type is refused as before")
    func wrongType() async throws {
        let (world, client) = try await world(isSafe: true)
        await #expect(throws: IntegrationRefusal.self) {
            try await world.upload(
                [upload(4, on: 0, Self.changeset { $0.update(Self.object, "title", to: .list) })],
                by: client
            )
        }
    }

    @Test(
        "The configured app tells its client, in both modes of sync",
        arguments: SyncWorld.Carrier.allCases,
        [false, true]
    )
    func conversation(carrier: SyncWorld.Carrier, isFlexible: Bool) async throws {
        let app = ServedAppConfiguration(
            id: TestApps.shop,
            isDevelopmentMode: true,
            isSDKSafe: true,
            anonymous: true,
            flexible: isFlexible
                ? FlexibleSyncConfiguration(
                    queryableFields: QueryableFields(common: ["title"]),
                    roles: RoleDeclarations(
                        standard: [RoleDeclaration(name: "all", read: .all, write: .all)]
                    )
                ) : nil
        )
        try await SyncWorld.with(carrier, apps: [app]) { world in
            try await world.connect(mode: isFlexible ? .flexible : .partitionBased) { client in
                if isFlexible {
                    _ = try await client.startFlexible()
                } else {
                    try await client.start()
                }
                try await client.upload([upload(2, on: 0, Self.schema)])
                _ = try await client.expectDownload()
                if isFlexible {
                    let query = TestClient.query(1, "TRUEPREDICATE")
                    _ = try await client.subscribe(query, request: 1)
                }
                try await client.upload([
                    upload(
                        3,
                        on: 0,
                        Self.changeset {
                            $0.createObject(Self.object)
                            $0.update(Self.object, "extra", to: .dictionary)
                        }
                    )
                ])
                let report = try await client.expectError(session: 1)
                #expect(report.code == 231)
                guard case .compensated(let rejected, _)? = report.body.details else {
                    throw TestClient.Unexpected(wanted: "rejected updates")
                }
                #expect(rejected.updates.map(\.reason) == [Self.reason])
            }
        }
    }
}

extension Instruction {
    fileprivate var bringsCollection: Bool {
        switch self {
        case .update(let update): update.payload == .list || update.payload == .dictionary
        case .arrayInsert(_, let payload, _): payload == .list || payload == .dictionary
        default: false
        }
    }
}
