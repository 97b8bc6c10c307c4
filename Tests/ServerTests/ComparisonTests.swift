import Changesets
import Digests
import Documents
import FoundationEssentials
import Permissions
import Query
import SyncProtocol
import Testing
import Versions

@testable import Server
@testable import ServerAccounts
@testable import ServerConfig
@testable import ServerHTTP
@testable import ServerStore
@testable import SyncServer

@Suite("Digests of a realm, for a client that compares its own")
struct ComparisonTests {
    private static let names = ["Task": ["title", "count", "tags"]]

    /// A client with objects 1 to 3, at the server's version.
    private struct Replica: Sendable {
        let file: SaltedFileIdent
        let version: ServerVersion
    }

    private func request(
        _ replica: Replica,
        partition: String? = "\"main\"",
        classes: [String: [String]] = Self.names,
        list: [String: [Int]]? = nil
    ) -> DigestRequest {
        DigestRequest(
            partition: partition,
            fileIdent: replica.file.ident.rawValue,
            fileIdentSalt: replica.file.salt.rawValue,
            serverVersion: replica.version.rawValue,
            classes: classes,
            list: list
        )
    }

    private func ask(
        _ world: SyncWorld,
        _ request: DigestRequest,
        token: String?,
        app: AppID = TestApps.shop
    ) async throws -> TestApps.Reply {
        let body = String(decoding: try JSONEncoder().encode(request), as: UTF8.self)
        return await world.apps.call("POST", "/app/\(app)/realm/compare", body, token: token)
    }

    private func compared(_ reply: TestApps.Reply) throws -> DigestResponse {
        try #require(reply.decode(DigestResponse.self), "\(reply.status) \(reply.text)")
    }

    // MARK: Partitions

    private func withPartition(
        _ body:
            @escaping @Sendable (SyncWorld, SyncWorld.LoggedIn, TestClient, Replica)
            async throws -> Void
    ) async throws {
        try await SyncWorld.with(.memory) { world in
            let user = try await world.logIn()
            try await world.connect(as: user) { client in
                try await client.bind(1, "\"main\"")
                let file = try await client.expectIdent()
                try await client.send(
                    .ident(
                        .init(
                            session: 1,
                            file: file,
                            download: .zero,
                            latestServerVersion: .zero
                        )
                    )
                )
                _ = try await client.expectDownload()
                try await client.upload([
                    ServerTests.upload(2, on: 0),
                    ServerTests.upload(3, on: 0, Tasks.create(1, title: "one")),
                    ServerTests.upload(4, on: 0, Tasks.create(2, title: "two")),
                    ServerTests.upload(5, on: 0, Tasks.create(3, title: "three")),
                ])
                let download = try await client.expectDownload()
                let replica = Replica(
                    file: file,
                    version: download.progress.download.serverVersion
                )
                try await body(world, user, client, replica)
            }
        }
    }

    @Test("The digest is that of the objects, and a bucket lists them")
    func digest() async throws {
        try await withPartition { world, user, _, replica in
            let reply = try await ask(world, request(replica), token: user.token)
            let response = try compared(reply)
            #expect(response.outcome == .compared)
            #expect(response.classes?.map(\.objects) == [3])
            #expect(response.changed == [])
            let buckets = Array(0..<256)
            let list = try compared(
                try await ask(world, request(replica, list: ["Task": buckets]), token: user.token)
            )
            #expect(list.objects?.count == 3)
            let digests = try (list.objects ?? []).map { entry in
                try #require(ObjectDigest(Hexadecimal.bytes(of: entry.digest) ?? []))
            }
            var sum = ClassDigest()
            for (entry, digest) in zip(list.objects ?? [], digests) {
                let key = Hexadecimal.bytes(of: entry.key) ?? []
                sum.add(digest, in: ClassDigest.bucket(of: key))
            }
            #expect(response.classes?.first?.digest == sum.sumText)
            #expect(response.classes?.first?.buckets == sum.bucketText)
        }
    }

    @Test("Objects that changed since the client's version are named and left out")
    func changed() async throws {
        try await withPartition { world, user, client, replica in
            let before = try compared(
                try await ask(world, request(replica), token: user.token)
            )
            try await client.upload([ServerTests.upload(6, on: 0, Tasks.setTitle(2, "changed"))])
            _ = try await client.expectDownload()
            let after = try compared(try await ask(world, request(replica), token: user.token))
            #expect(after.outcome == .compared)
            #expect(
                after.changed?.map(\.key)
                    == [Hexadecimal.text(of: CanonicalForm.bytes(of: .int(2)))]
            )
            #expect(after.classes?.map(\.objects) == [2])
            #expect(after.serverVersion > before.serverVersion)
            try await client.upload([ServerTests.upload(7, on: 0, Tasks.addColumn("new", .int))])
            _ = try await client.expectDownload()
            let moved = try compared(try await ask(world, request(replica), token: user.token))
            // The client does not know the new property.
            #expect(moved.outcome == .schema)
            #expect(moved.schema == ["Task.new"])
        }
    }

    @Test("Schemas that differ are named")
    func schema() async throws {
        try await withPartition { world, user, _, replica in
            let other = ["Task": ["title", "count", "more"], "Gone": []]
            let response = try compared(
                try await ask(world, request(replica, classes: other), token: user.token)
            )
            #expect(response.outcome == .schema)
            #expect(response.schema == ["Gone", "Task.more", "Task.tags"])
        }
    }

    @Test("Only the owner of the client file gets digests, with its salt, in its app")
    func authorisation() async throws {
        try await withPartition { world, user, _, replica in
            let other = try await world.logIn()
            #expect(try await ask(world, request(replica), token: other.token).status == 403)
            #expect(try await ask(world, request(replica), token: nil).status == 401)
            let salt = Replica(
                file: SaltedFileIdent(
                    ident: replica.file.ident,
                    salt: Salt(replica.file.salt.rawValue ^ 1)
                ),
                version: replica.version
            )
            #expect(try await ask(world, request(salt), token: user.token).status == 403)
            let elsewhere = request(replica, partition: "\"other\"")
            #expect(try await ask(world, elsewhere, token: user.token).status == 403)
            let none = request(replica, partition: nil)
            #expect(try await ask(world, none, token: user.token).status == 400)
            let app = try await ask(
                world,
                request(replica),
                token: user.token,
                app: TestApps.office
            )
            #expect(app.status == 401)
            let path = "/app/\(TestApps.shop)/realm/compare"
            #expect(await world.apps.call("POST", path, "{", token: user.token).status == 400)
            #expect(await world.apps.call("GET", path, token: user.token).status == 405)
        }
    }

    @Test("A user asks a limited number of times per minute, others are not affected")
    func rate() async throws {
        try await withPartition { world, user, _, replica in
            var statuses: [Int] = []
            for _ in 0...ServerLimits.standard.comparisonsPerMinute {
                statuses.append(try await ask(world, request(replica), token: user.token).status)
            }
            #expect(statuses.dropLast().allSatisfy { $0 == 200 })
            #expect(statuses.last == 429)
            let other = try await world.logIn()
            #expect(try await ask(world, request(replica), token: other.token).status == 403)
        }
    }

    @Test("The list ends at its limit, and says so")
    func truncated() async throws {
        try await withPartition { world, user, _, replica in
            let limits = ComparisonLimits(listedObjects: 2, partSizeInBytes: 1)
            let app = try #require(world.apps.accounts.apps.syncApp(TestApps.shop))
            let list = request(replica, list: ["Task": Array(0..<256)])
            let response = try await world.sync.engine.digests(
                list,
                for: user.user.id,
                of: app,
                limits
            )
            #expect(response.objects?.count == 2)
            #expect(response.isTruncated == true)
            // Parts of one object each give the same digest.
            let whole = try await world.sync.engine.digests(
                request(replica),
                for: user.user.id,
                of: app,
                ComparisonLimits()
            )
            let parts = try await world.sync.engine.digests(
                request(replica),
                for: user.user.id,
                of: app,
                limits
            )
            #expect(whole == parts)
        }
    }

    // MARK: Flexible sync

    /// Subscribes, and returns the client's version after the bootstrap.
    private static func subscribe(
        _ client: TestClient,
        _ query: ClientMessage.Query
    ) async throws -> ServerVersion {
        try await client.subscribe(query, request: query.version.rawValue)
            .progress.download.serverVersion
    }

    @Test("With subscriptions, only objects in the client's view count or are named")
    func view() async throws {
        try await SyncWorld.with(.memory, apps: [FlexibleShop.app()]) { world in
            let user = try await world.logIn()
            try await world.connect(as: user, mode: .flexible) { client in
                let file = try await client.startFlexible().file
                try await client.upload([ServerTests.upload(2, on: 0)])
                _ = try await client.expectDownload()
                _ = try await Self.subscribe(client, TestClient.query(1, "TRUEPREDICATE"))
                try await client.upload([
                    ServerTests.upload(3, on: 0, Tasks.create(1, title: "mine")),
                    ServerTests.upload(4, on: 0, Tasks.create(2, title: "other")),
                    ServerTests.upload(5, on: 0, Tasks.create(3, title: "mine")),
                ])
                _ = try await client.expectDownload()
                let all = try await Self.subscribe(client, TestClient.query(2, "count >= 0"))
                let mine = try await Self.subscribe(
                    client,
                    TestClient.query(3, #"title == \"mine\""#)
                )
                let outdated = try compared(
                    try await ask(
                        world,
                        request(Replica(file: file, version: all), partition: nil),
                        token: user.token
                    )
                )
                #expect(outdated.outcome == .moved)
                let replica = Replica(file: file, version: mine)
                let response = try compared(
                    try await ask(world, request(replica, partition: nil), token: user.token)
                )
                #expect(response.outcome == .compared)
                #expect(response.classes?.map(\.objects) == [2])

                // Another client changes an object outside of the view and one inside of it.
                try await world.connect(mode: .flexible) { writer in
                    _ = try await writer.startFlexible()
                    let base = try await Self.subscribe(
                        writer,
                        TestClient.query(1, "TRUEPREDICATE")
                    )
                    try await writer.upload([
                        ServerTests.upload(2, on: base.rawValue, Tasks.count(2, 1)),
                        ServerTests.upload(3, on: base.rawValue, Tasks.count(3, 1)),
                    ])
                    _ = try await writer.expectDownload()
                }
                let later = try compared(
                    try await ask(world, request(replica, partition: nil), token: user.token)
                )
                #expect(
                    later.changed?.map(\.key)
                        == [Hexadecimal.text(of: CanonicalForm.bytes(of: .int(3)))]
                )
                #expect(later.classes?.map(\.objects) == [1])
            }
        }
    }

    @Test("Fields that the user may not read count with the defaults that its client has")
    func hiddenFields() async throws {
        let masking = FlexibleShop.app([
            RoleDeclaration(
                name: "others",
                write: .all,
                fields: ["title": FieldPermission(read: false, write: false)],
                additionalFields: FieldPermission(read: true, write: true)
            )
        ])
        try await SyncWorld.with(.memory, apps: [FlexibleShop.app()]) { world in
            /// The digest of the objects with a new client's rights, and the title that it has.
            @Sendable func digest() async throws -> (String?, Value?) {
                let user = try await world.logIn()
                return try await world.connect(as: user, mode: .flexible) { client in
                    let file = try await client.startFlexible().file
                    let received = try await client.subscribe(
                        TestClient.query(1, "count > 0"),
                        request: 1
                    )
                    let version = received.progress.download.serverVersion
                    let replica = Replica(file: file, version: version)
                    let response = try compared(
                        try await ask(world, request(replica, partition: nil), token: user.token)
                    )
                    #expect(response.outcome == .compared)
                    #expect(response.classes?.map(\.objects) == [1])
                    return (
                        response.classes?.first?.digest,
                        try received.realm().value("title", of: Tasks.object(1))
                    )
                }
            }
            try await world.connect(mode: .flexible) { writer in
                _ = try await writer.startFlexible()
                try await writer.upload([ServerTests.upload(2, on: 0)])
                try await writer.receive(acknowledging: 2)
                let base = try await Self.subscribe(writer, TestClient.query(1, "TRUEPREDICATE"))
                    .rawValue
                try await writer.upload([
                    ServerTests.upload(3, on: base, Tasks.create(1, title: "secret")),
                    ServerTests.upload(4, on: base, Tasks.count(1, 7)),
                ])
                let next = try await writer.receive(acknowledging: 4).download.serverVersion
                let whole = try await digest()
                #expect(whole.1 == .scalar(.string("secret")))
                FlexibleShop.put(masking, in: world)
                #expect(try await writer.expectError(session: 1).code == 200)
                let masked = try await digest()
                #expect(masked.1 == .scalar(.string("")))
                #expect(masked.0 != whole.0)
                FlexibleShop.put(FlexibleShop.app(), in: world)
                try await world.connect(mode: .flexible) { other in
                    _ = try await other.startFlexible()
                    let base = try await Self.subscribe(
                        other,
                        TestClient.query(1, "TRUEPREDICATE")
                    )
                    #expect(base > next)
                    try await other.upload([
                        ServerTests.upload(2, on: base.rawValue, Tasks.setTitle(1, ""))
                    ])
                    try await other.receive(acknowledging: 2)
                }
                // What the masked client has is the object with an empty title.
                #expect(try await digest().0 == masked.0)
            }
        }
    }
}
