import Changesets
import ServerFixtures
import SyncProtocol
import TestSupport
import Testing
import Transport
import Versions

@testable import ServerAccounts
@testable import ServerStore
@testable import SyncServer

/// Failures of a store, as clients see them.
@Suite("Failures of the store", .timeLimit(.minutes(5)))
struct StoreFailureTests {
    /// One connected client of a server whose store fails on demand.
    private static func withClient(
        timing: ServerTiming = ServerTiming(),
        _ body: @escaping @Sendable (FailingStore, TestClient) async throws -> Void
    ) async throws {
        let store = FailingStore(try await .strictInMemory())
        let apps = try await TestApps(store: store)
        let service = SyncService.testing(apps, timing: timing)
        let subProtocol = SubProtocol(mode: .partitionBased, version: 14)
        let user = ConnectedUser(id: UserID("ann"), app: TestApps.shop, mustLeaveAt: .max)
        let (stream, server) = InMemoryStream.makePair(subProtocol: subProtocol.token)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await service.serve(server, of: user, subProtocol) }
            try await body(store, TestClient(stream))
            await stream.close(.normal, reason: "")
            try await group.waitForAll()
        }
    }

    private static func expectClose(_ code: CloseCode, of client: TestClient) async throws {
        let error = await #expect(throws: TransportError.self) {
            while try await client.receive() != nil {}
        }
        guard case .closed(code, _)? = error else {
            Issue.record("closed otherwise: \(String(describing: error))")
            return
        }
    }

    @Test("A store that is away for a moment ends no session: requests are served after it")
    func away() async throws {
        try await Self.withClient { store, client in
            store.fail(2, .unreachable)
            try await client.bind()
            let file = try await client.expectIdent()
            store.fail(2, .unreachable)
            try await client.ident(1, file)
            _ = try await client.expectDownload()
            store.fail(2, .unreachable)
            try await client.upload([upload(2, on: 0)])
            #expect(try await client.expectDownload().progress.upload == uploadCursor(2, 0))
        }
    }

    @Test("A store that stays away gives a transient error with a back-off")
    func awayForLong() async throws {
        // No time to wait: the first failure is the last.
        try await Self.withClient(timing: ServerTiming(storeTimeout: .zero)) { store, client in
            try await client.start()
            store.fail(.max, .unreachable)
            try await client.upload([upload(2, on: 0)])
            let error = try await client.expectError(session: 1)
            #expect(error.code == 201)
            #expect(error.body.backoff == ConnectionLimits.backoff)
        }
    }

    @Test("A store that has changed ends the connection with 1001, at an upload as at a download")
    func changed() async throws {
        try await Self.withClient { store, client in
            try await client.start()
            store.fail(1, .changed)
            try await client.upload([upload(2, on: 0)])
            try await Self.expectClose(.goingAway, of: client)
        }
        try await Self.withClient { store, client in
            try await client.start()
            store.fail(1, .changed)
            try await client.send(.mark(1, RequestIdent(1)))
            try await Self.expectClose(.goingAway, of: client)
        }
    }

    @Test("Data that cannot be stored is a bad changeset or partition, not tried again")
    func unacceptable() async throws {
        try await Self.withClient { store, client in
            store.fail(1, .unacceptable)
            try await client.bind()
            #expect(try await client.expectError(session: 1).code == 204)
        }
        try await Self.withClient { store, client in
            try await client.start()
            store.fail(1, .unacceptable)
            try await client.upload([upload(2, on: 0)])
            let error = try await client.expectError(session: 1)
            #expect(error.code == 212)
            #expect(error.body.backoff == nil)
            #expect(store.remaining == 0)
        }
    }

    @Test(
        "Over HTTP what cannot be stored is 400, and a store that cannot be used 503",
        arguments: StoreError.Kind.allCases
    )
    func http(kind: StoreError.Kind) async throws {
        let store = FailingStore(try await .strictInMemory())
        let apps = try await TestApps(store: store)
        store.fail(1, kind)
        let reply = await apps.logInAnonymously()
        #expect(reply.status == (kind == .unacceptable ? 400 : 503))
        #expect(
            reply.fields["error_code"]
                == (kind == .unacceptable ? "BadRequest" : "MaintenanceInProgress")
        )
    }

    // MARK: A store that goes back

    @Test("Uploads that a store has forgotten leave no hole: the session's next one ends it")
    func forgottenUploads() async throws {
        try await Self.withClient { store, client in
            let (file, _) = try await client.start()
            try await client.upload([upload(2, on: 0)])
            _ = try await client.expectDownload()
            try await store.rewind(file.ident) { $0.upload = .zero }
            try await client.upload([upload(3, on: 0, Tasks.create(1, title: "x"))])
            try await Self.expectClose(.goingAway, of: client)
            let objects = try await store.read { snapshot in
                try snapshot.files(of: TestApps.shop).reduce(0) {
                    try $0 + snapshot.objectCounts(in: $1.id).values.reduce(0, +)
                }
            }
            #expect(objects == 0)
        }
    }

    @Test("Integrated uploads count before the client knows: a store that lost them is noticed")
    func lostBeforeAcknowledged() throws {
        var session = SessionWork()
        var connection = ServerConnection(
            subProtocol: SubProtocol(mode: .partitionBased, version: 14)
        )
        let effects = connection.received(
            .bind(.init(session: 1, path: "\"store-42\"", needsFileIdent: true))
        )
        guard case .work(let key, _)? = effects.first else {
            Issue.record("no work: \(effects)")
            return
        }
        session.begin(key)
        session.identified(
            key,
            ClientFile(
                ident: FileIdent(2),
                salt: Salt(1),
                owner: UserID("u"),
                generation: 3,
                upload: uploadCursor(4, 0),
                sessionEpoch: 5,
                lastSeenAt: 0
            ),
            in: ServerFileID(1),
            latest: .zero,
            rights: nil
        )
        let told = try #require(session[key]?.told)
        #expect(told.clientVersion == ClientVersion(4))
        #expect(told.generation == 3)
        #expect(told.sessionEpoch == 5)
        let outcome = UploadIntegration.Outcome(
            currentVersion: ServerVersion(6),
            integratedCount: 1,
            upload: uploadCursor(9, 0),
            refused: [],
            healing: Healing()
        )
        session.integrated(key, upTo: ClientVersion(9), outcome)
        #expect(session[key]?.client?.upload == uploadCursor(9, 0))
        #expect(session[key]?.told?.clientVersion == ClientVersion(9))
        let newest = SaltedServerVersion(version: ServerVersion(7), salt: Salt(2))
        session.told(key, newest)
        #expect(session[key]?.told?.newest == newest)
    }

    @Test("Versions that a store has forgotten end the sessions that know them")
    func forgottenVersions() async throws {
        try await Self.withClient { store, client in
            try await client.start()
            try await client.upload([upload(2, on: 0)])
            _ = try await client.expectDownload()
            try await store.write(for: .upkeep) { transaction in
                for var file in try transaction.files(of: TestApps.shop) {
                    file.currentVersion = .zero
                    try transaction.update(file)
                }
            }
            try await client.send(.mark(1, RequestIdent(1)))
            try await Self.expectClose(.goingAway, of: client)
        }
    }
}

extension Store {
    /// Changes the record of a client file, as a store that went back has another one.
    fileprivate func rewind(
        _ ident: FileIdent,
        _ change: @escaping @Sendable (inout ClientFile) -> Void
    ) async throws {
        try await write(for: .upkeep) { transaction in
            for file in try transaction.files(of: TestApps.shop) {
                guard var client = try transaction.clientFile(ident, in: file.id) else { continue }
                change(&client)
                try transaction.put(client, in: file.id)
            }
        }
    }
}
