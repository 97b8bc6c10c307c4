import Changesets
import Documents
import Permissions
import Query
import SyncProtocol
import Testing
import Versions

@testable import ServerAccounts
@testable import ServerConfig
@testable import ServerStore
@testable import SyncServer

@Suite("Conversations of flexible sync")
struct FlexibleConversationTests {
    private static func app(
        _ roles: [RoleDeclaration] = [RoleDeclaration(name: "all", read: .all, write: .all)]
    ) -> ServedAppConfiguration {
        ServedAppConfiguration(
            id: TestApps.shop,
            isDevelopmentMode: true,
            anonymous: true,
            flexible: FlexibleSyncConfiguration(
                queryableFields: QueryableFields(common: ["title", "count"]),
                roles: RoleDeclarations(standard: roles)
            )
        )
    }

    private func with(
        _ carrier: SyncWorld.Carrier,
        _ app: ServedAppConfiguration = Self.app(),
        _ body: @escaping @Sendable (SyncWorld) async throws -> Void
    ) async throws {
        try await SyncWorld.with(carrier, apps: [app], body)
    }

    private static let path = #"{"schemaVersion":0,"sessionReason":0}"#

    private static func query(_ version: UInt64, _ condition: String?) -> ClientMessage.Query {
        let body = condition.map { #"{"Task":"(\#($0))"}"# } ?? "{}"
        return ClientMessage.Query(version: QueryVersion(version), body: Text(body))
    }

    private static func ident(
        _ file: SaltedFileIdent,
        _ query: ClientMessage.Query,
        _ progress: SyncProgress = .zero
    ) -> ClientMessage {
        .ident(
            .init(
                session: 1,
                file: file,
                download: progress.download,
                latestServerVersion: progress.latestServerVersion,
                query: query
            )
        )
    }

    /// Binds a new file, takes the bootstrap of the empty set, and uploads the schema.
    private static func start(_ client: TestClient) async throws -> SaltedFileIdent {
        try await client.bind(1, path)
        let file = try await client.expectIdent()
        try await client.send(ident(file, query(0, nil)))
        let first = try await client.expectDownload()
        #expect(first.extent == .query(QueryVersion(0), .lastOfBootstrap, .complete))
        #expect(!first.changesets.isEmpty)
        try await client.upload([ServerTests.upload(2, on: 0)])
        _ = try await client.expectDownload()
        return file
    }

    /// Sends a QUERY and a MARK; returns the bootstrap's changesets and the last progress.
    private static func subscribe(
        _ client: TestClient,
        _ query: ClientMessage.Query,
        request: UInt64
    ) async throws -> (changesets: [DownloadChangeset], progress: SyncProgress) {
        try await client.send(.query(1, query))
        try await client.send(.mark(1, RequestIdent(request)))
        var changesets: [DownloadChangeset] = []
        var progress = SyncProgress.zero
        while let message = try await client.receive() {
            switch message {
            case .download(let download):
                progress = download.progress
                if case .query(query.version, let state, _) = download.extent, state != .steady {
                    changesets += download.changesets
                }
            case .mark(1, RequestIdent(request)): return (changesets, progress)
            default: throw TestClient.Unexpected(wanted: "DOWNLOAD or MARK", got: message)
            }
        }
        throw TestClient.Unexpected(wanted: "MARK")
    }

    private static func realm(_ changesets: [DownloadChangeset]) throws -> InMemoryRealm {
        var realm = InMemoryRealm()
        for changeset in changesets { try realm.apply(Changeset(decoding: changeset.bytes)) }
        return realm
    }

    @Test("A class that is subscribed to before it exists comes into view once it does")
    func subscriptionBeforeClass() async throws {
        try await with(.memory) { world in
            try await world.connect(mode: .flexible) { early in
                let file = try await early.startFlexible().file
                let query = Self.query(1, "TRUEPREDICATE")
                let known = try await early.subscribe(query, request: 1).progress
                try await world.connect(mode: .flexible) { writer in
                    _ = try await Self.start(writer)
                    _ = try await Self.subscribe(writer, query, request: 1)
                    try await writer.upload([upload(3, on: 0, Tasks.create(1, title: "new"))])
                    try await writer.receive(acknowledging: 3)
                }
                let report = try await early.expectErrorAfterDownloads(session: 1)
                #expect(report.code == 200)
                try await early.send(.unbind(1))
                try await early.rebind(file, query, known)
                #expect(try await early.receive(upToMark: 2).keys() == [.int(1)])
            }
        }
    }

    @Test("Classes that are added leave the rights that a session began with as they were")
    func rightsBeforeClass() async throws {
        try await with(.memory) { world in
            try await world.connect(mode: .flexible) { client in
                _ = try await Self.start(client)
                world.apps.accounts.backplane.control(.app(TestApps.shop), .rebind)
                let query = Self.query(1, "TRUEPREDICATE")
                let received = try await client.subscribe(query, request: 1)
                #expect(received.steady.isEmpty)
            }
        }
    }

    @Test(
        "A client writes, another one subscribes to a part, and gets changes of that part only",
        arguments: SyncWorld.Carrier.allCases
    )
    func conversation(carrier: SyncWorld.Carrier) async throws {
        try await with(carrier) { world in
            try await world.connect(mode: .flexible) { writer in
                try await world.connect(mode: .flexible) { reader in
                    _ = try await Self.start(writer)
                    _ = try await Self.start(reader)
                    _ = try await Self.subscribe(writer, Self.query(1, "TRUEPREDICATE"), request: 1)
                    try await writer.upload([
                        upload(3, on: 0, Tasks.create(1, title: "mine")),
                        upload(4, on: 0, Tasks.create(2, title: "other")),
                    ])
                    let acknowledged = try await writer.expectDownload()
                    #expect(acknowledged.progress.upload == uploadCursor(4, 0))
                    #expect(acknowledged.changesets.isEmpty)

                    let bootstrap = try await Self.subscribe(
                        reader,
                        Self.query(1, "title == \\\"mine\\\""),
                        request: 1
                    )
                    let realm = try Self.realm(bootstrap.changesets)
                    #expect(realm.objects["Task"]?.keys.map(\.self) == [.int(1)])

                    // One change outside of the reader's view, and one that enters it.
                    try await writer.upload([upload(5, on: 0, Tasks.count(2, 7))])
                    try await writer.upload([upload(6, on: 0, Tasks.setTitle(2, "mine"))])
                    let change = try await reader.expectDownload()
                    #expect(change.extent == .query(QueryVersion(1), .steady, .complete))
                    let entered = try Self.realm(bootstrap.changesets + change.changesets)
                    #expect(entered.objects["Task"]?.count == 2)
                    #expect(entered.value("count", of: Tasks.object(2)) == .scalar(.int(7)))
                }
            }
        }
    }

    @Test(
        "A write outside of the view is reported before the version that undoes it",
        arguments: SyncWorld.Carrier.allCases
    )
    func compensation(carrier: SyncWorld.Carrier) async throws {
        try await with(carrier) { world in
            try await world.connect(mode: .flexible) { client in
                _ = try await Self.start(client)
                _ = try await Self.subscribe(client, Self.query(1, "count > 5"), request: 1)
                try await client.upload([upload(3, on: 0, Tasks.create(1, title: "x"))])
                let report = try await client.expectError(session: 1)
                #expect(report.code == 231)
                guard case .compensated(let rejected, let version)? = report.body.details else {
                    throw TestClient.Unexpected(wanted: "rejected updates")
                }
                #expect(rejected.clientVersion == ClientVersion(3))
                #expect(rejected.updates.map(\.className) == ["Task"])
                #expect(
                    rejected.updates.map(\.reason) == [
                        "write to 1 in table \"Task\" not allowed; object is outside of the "
                            + "current query view"
                    ]
                )
                let undo = try await client.expectDownload()
                #expect(undo.changesets.map(\.cursor.serverVersion) == [version])
                #expect(undo.progress.upload.clientVersion == ClientVersion(3))
            }
        }
    }

    @Test("A bad query is refused, and its MARK answered")
    func badQuery() async throws {
        try await with(.memory) { world in
            try await world.connect(mode: .flexible) { client in
                _ = try await Self.start(client)
                try await client.send(.query(1, Self.query(1, "count > 2 SORT(title ASC)")))
                try await client.send(.mark(1, RequestIdent(1)))
                guard case .queryError(1, let error)? = try await client.receive() else {
                    throw TestClient.Unexpected(wanted: "QUERY_ERROR")
                }
                #expect(error.version == QueryVersion(1))
                #expect(error.message.description.contains("unexpected SORT"))
                #expect(try await client.receive() == .mark(1, RequestIdent(1)))
            }
        }
    }

    @Test("In development mode a field becomes queryable by use")
    func developmentMode() async throws {
        try await with(.memory) { world in
            try await world.connect(mode: .flexible) { client in
                _ = try await Self.start(client)
                _ = try await Self.subscribe(client, Self.query(1, "tags.@count > 0"), request: 1)
                // As an image of the object tells: it is outside of the view.
                try await client.upload([upload(3, on: 0, Tasks.create(1, title: "x"))])
                #expect(try await client.expectError(session: 1).code == 231)
            }
        }
    }

    @Test("A client that comes back with its view gets no bootstrap")
    func reconnect() async throws {
        try await with(.memory) { world in
            let user = try await world.logIn()
            let query = Self.query(1, "TRUEPREDICATE")
            let (file, progress) = try await world.connect(as: user, mode: .flexible) { client in
                let file = try await Self.start(client)
                let result = try await Self.subscribe(client, query, request: 1)
                return (file, result.progress)
            }
            // Another number of the same query, as after a client reset.
            let again = ClientMessage.Query(version: QueryVersion(9), body: query.body)
            try await world.connect(as: user, mode: .flexible) { client in
                try await client.bind(1, Self.path, needsFileIdent: false)
                try await client.send(Self.ident(file, again, progress))
                let first = try await client.expectDownload()
                #expect(first.extent == .query(QueryVersion(9), .steady, .complete))
                #expect(first.changesets.isEmpty)
            }
        }
    }

    @Test("After a change of roles only sessions with other rights bind again, old ones start over")
    func changedRoles() async throws {
        try await with(.memory) { world in
            // The class exists before the sessions that are looked at.
            try await world.connect(mode: .flexible) { _ = try await Self.start($0) }
            for (version, code) in [(14, 200), (13, 228)] {
                try await world.connect(version: version, mode: .flexible) { client in
                    _ = try await Self.start(client)
                    // The same rights: the session continues.
                    try Self.change(world, [RoleDeclaration(name: "all", read: .all, write: .all)])
                    #expect(try await client.catchUp(request: 1) == nil)
                    try Self.change(world, [RoleDeclaration(name: "all", read: .all)])
                    let report = try await client.expectError(session: 1)
                    #expect(report.code == code)
                }
                try Self.change(world, [RoleDeclaration(name: "all", read: .all, write: .all)])
            }
        }
    }

    private static func change(_ world: SyncWorld, _ roles: [RoleDeclaration]) throws {
        let directory = world.apps.accounts.apps
        var served = try #require(directory[TestApps.shop])
        served.configuration.flexible?.roles = RoleDeclarations(standard: roles)
        directory.put(served)
        world.apps.accounts.backplane.control(.app(TestApps.shop), .rebind)
    }

    @Test("Clients of partition-based sync are told to use flexible sync")
    func wrongMode() async throws {
        try await with(.memory) { world in
            try await world.connect { client in
                let report = try await client.expectError(session: nil)
                #expect(report.code == 113)
            }
        }
    }
}
