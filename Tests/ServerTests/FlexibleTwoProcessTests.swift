import Changesets
import Documents
import FoundationEssentials
import ServerFixtures
import SyncProtocol
import Testing
import Versions

@testable import ServerAccounts
@testable import ServerConfig
@testable import ServerStore
@testable import SyncServer

/// Two processes of one server, in one process of the test: each with its own connections, its own index of
/// views and, on PostgreSQL, its own store and end of the backplane.
@Suite("Two processes, flexible sync", .serialized, .timeLimit(.minutes(5)))
struct FlexibleTwoProcessTests {
    private static let till = AppID.named("till")

    private static func declaration(_ roles: String) -> String {
        """
        {"sync": {"mode": "flexible", "queryable_fields": ["title", "count"]},
         "development_mode": true, "providers": {"anonymous": true}, "rules": {"default": \(roles)}}
        """
    }

    private static let open = #"{"read": true, "write": true}"#

    private func with(
        _ kind: BackplaneKind,
        _ body: @escaping @Sendable (SyncWorld, SyncWorld) async throws -> Void
    ) async throws {
        try await SyncWorld.withTwoProcesses(kind, apps: [FlexibleShop.app()], body)
    }

    private static let everything = TestClient.query(1, "TRUEPREDICATE")

    /// A client with a view, and the schema.
    private static func start(
        _ client: TestClient,
        _ condition: String = "TRUEPREDICATE"
    ) async throws -> (file: SaltedFileIdent, progress: SyncProgress) {
        let file = try await client.startFlexible().file
        try await client.upload([ServerTests.upload(2, on: 0)])
        try await client.receive(acknowledging: 2)
        let received = try await client.subscribe(
            TestClient.query(1, condition),
            request: 1
        )
        return (file, received.progress)
    }

    @Test(
        "Growth at one process reaches the sessions of the other whose views it concerns, and no others",
        arguments: BackplaneKind.here
    )
    func growth(kind: BackplaneKind) async throws {
        try await with(kind) { one, other in
            try await one.connect(mode: .flexible) { writer in
                let (_, progress) = try await Self.start(writer)
                try await other.connect(mode: .flexible) { near in
                    try await other.connect(mode: .flexible) { far in
                        _ = try await Self.start(near, #"title == \"near\""#)
                        _ = try await Self.start(far, #"title == \"far\""#)
                        var base = progress.download.serverVersion.rawValue
                        var version = UInt64(2)
                        func write(_ bytes: [UInt8]) async throws {
                            version += 1
                            try await writer.upload([upload(version, on: base, bytes)])
                            let progress = try await writer.receive(acknowledging: version)
                            base = progress.download.serverVersion.rawValue
                        }
                        try await write(Tasks.create(1, title: "near"))
                        let entered = try await near.expectDownload()
                        #expect(entered.changesets.count == 1)
                        // It leaves one view, and enters the other.
                        try await write(Tasks.setTitle(1, "far"))
                        let left = try await near.expectDownload()
                        #expect(try Self.objects([entered, left]) == [])
                        // The first message for this session: nothing concerned it before.
                        let first = try await far.expectDownload()
                        #expect(try Self.objects([first]) == [.int(1)])
                        #expect(first.progress.download.serverVersion.rawValue >= base)
                    }
                }
            }
        }
    }

    private static func objects(_ downloads: [ServerMessage.Download]) throws -> Set<ObjectKey> {
        try TestClient.Received(bootstrap: downloads.flatMap(\.changesets)).keys()
    }

    @Test(
        "A write that one process rejected is reported by the other, with the version that undoes it",
        arguments: BackplaneKind.here
    )
    func rejection(kind: BackplaneKind) async throws {
        try await with(kind) { one, other in
            let user = try await one.logIn()
            let (file, progress) = try await one.connect(as: user, mode: .flexible) { client in
                let (file, progress) = try await Self.start(client, "count > 5")
                let base = progress.download.serverVersion.rawValue
                try await client.upload([upload(3, on: base, Tasks.create(1, title: "x"))])
                // The connection breaks before the client has the report.
                #expect(try await client.expectError(session: 1).code == 231)
                return (file, progress)
            }
            try await other.connect(as: user, mode: .flexible) { client in
                try await client.rebind(file, TestClient.query(1, "count > 5"), progress)
                let report = try await client.expectError(session: 1)
                #expect(report.code == 231)
                guard case .compensated(let rejected, let version)? = report.body.details else {
                    throw TestClient.Unexpected(wanted: "rejected updates")
                }
                #expect(rejected.clientVersion == ClientVersion(3))
                #expect(rejected.updates.map(\.key) == [.int(1)])
                let undo = try await client.expectDownload()
                #expect(undo.changesets.map(\.cursor.serverVersion) == [version])
                #expect(undo.progress.upload.clientVersion == ClientVersion(3))
                // Uploaded once more: no second report.
                let base = progress.download.serverVersion.rawValue
                try await client.upload([upload(3, on: base, Tasks.create(1, title: "x"))])
                let rest = try await client.receive(upToMark: 1)
                #expect(rest.steady.isEmpty)
            }
        }
    }

    @Test(
        "Roles that are changed at one process count at the other, whose sessions bind again",
        arguments: BackplaneKind.here.filter { $0 == .postgreSQL }
    )
    func roles(kind: BackplaneKind) async throws {
        try await with(kind) { one, other in
            let creation = AppDeclaration(id: Self.till, Self.declaration(Self.open))
            let created = await one.admin.call("POST", "apps", creation.text)
            #expect(created.status == 201, "\(created.text)")
            await other.apps.accounts.follow(Self.till)
            let user = try await other.logIn(to: Self.till)
            try await other.connect(as: user, mode: .flexible) { client in
                let (file, progress) = try await Self.start(client)
                let base = progress.download.serverVersion.rawValue
                try await client.upload([
                    upload(3, on: base, Tasks.create(1, title: "mine")),
                    upload(4, on: base, Tasks.create(2, title: "other")),
                ])
                try await client.receive(acknowledging: 4)
                // The same rights in other words: no session ends, though the class is newer than
                // its IDENT.
                let same = AppDeclaration(
                    id: Self.till,
                    Self.declaration(#"[{"name": "all", "read": true, "write": true}]"#)
                )
                #expect(await one.admin.call("PUT", "apps/till", same.text).status == 200)
                await other.apps.accounts.follow(Self.till)
                try await client.upload([upload(5, on: base, Tasks.setTitle(2, "another"))])
                let known = try await client.receive(acknowledging: 5)
                let narrow = AppDeclaration(
                    id: Self.till,
                    Self.declaration(#"{"read": "title == 'mine'"}"#)
                )
                #expect(await one.admin.call("PUT", "apps/till", narrow.text).status == 200)
                let report = try await client.expectError(session: 1)
                #expect(report.code == 200)
                #expect(report.body.action == .transient)
                try await client.send(.unbind(1))
                try await client.rebind(file, Self.everything, known)
                let received = try await client.receive(upToMark: 1)
                let erased = try received.bootstrap.flatMap { changeset in
                    try Changeset(decoding: changeset.bytes).objects.map(\.key)
                }
                #expect(erased == [.int(2)])
            }
            let wrong = await one.admin.call("PUT", "apps/till", #"{"configuration":"[]"}"#)
            #expect(wrong.status == 400)
            let file = await one.admin.call("PUT", "apps/shop-abcde", #"{"configuration":"{}"}"#)
            #expect(file.status == 409)
        }
    }

    @Test(
        "A process that read a declaration before another one changed it does not write it back",
        arguments: BackplaneKind.here.filter { $0 == .postgreSQL }
    )
    func staleFollower(kind: BackplaneKind) async throws {
        try await with(kind) { one, other in
            let old = Self.declaration(Self.open)
            let creation = AppDeclaration(id: Self.till, old)
            #expect(await one.admin.call("POST", "apps", creation.text).status == 201)
            let new = Self.declaration(#"{"read": "title == 'mine'"}"#)
            let change = AppDeclaration(id: Self.till, new)
            #expect(await one.admin.call("PUT", "apps/till", change.text).status == 200)
            let app = try ServedAppConfiguration(id: Self.till, declaration: old)
            try await other.apps.accounts.serve(app, declaration: old)
            let stored = try await one.apps.accounts.store.read { try $0.app(Self.till) }
            #expect(stored?.declaration == new)
            // One that was read before the app was deleted does not bring it back.
            let deletion = await one.admin.call("DELETE", "apps/till?confirm=till")
            #expect(deletion.status == 204, "\(deletion.text)")
            await #expect(throws: AccountRefusal.self) {
                try await other.apps.accounts.serve(app, declaration: old)
            }
            let remains = try await one.apps.accounts.store.read { try $0.app(Self.till) }
            #expect(remains == nil)
        }
    }

    @Test(
        "A termination at one process ends the sessions of the other, and their idents are void there",
        arguments: BackplaneKind.here
    )
    func termination(kind: BackplaneKind) async throws {
        try await with(kind) { one, other in
            let user = try await other.logIn()
            let (file, progress) = try await other.connect(as: user, mode: .flexible) { client in
                let (file, progress) = try await Self.start(client)
                #expect(await FlexibleShop.terminateSync(one) == 200)
                let report = try await client.expectError(session: 1)
                // The session ends, or finds first that its ident is void.
                #expect([200, 208].contains(report.code))
                #expect(try await client.receive() == nil)
                return (file, progress)
            }
            #expect(await FlexibleShop.enableSync(one) == 200)
            await other.apps.accounts.follow(TestApps.shop)
            try await other.connect(as: user, mode: .flexible) { client in
                try await client.rebind(file, Self.everything, progress)
                let report = try await client.expectError(session: 1)
                #expect(report.code == 208)
            }
        }
    }
}

/// The bodies that declare an app on the admin socket.
private struct AppDeclaration: Encodable {
    let id: String
    let configuration: String

    init(id: AppID, _ configuration: String) {
        self.id = id.rawValue
        self.configuration = configuration
    }

    var text: String {
        (try? JSONEncoder().encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }
}
