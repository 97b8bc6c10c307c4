import Changesets
import Query
import Scopes
import SyncProtocol
import Synchronization
import Testing
import Versions

@testable import ServerStore
@testable import SyncServer

/// Terminations while views begin (flexible sync, 7; sync history, 17).
@Suite("Views and terminations", .timeLimit(.minutes(5)))
struct ViewResetTests {
    /// Objects enough for several messages.
    private func world() async throws -> ViewWorld {
        let world = try await ViewWorld(
            limits: ViewLimits(messageSizeInBytes: 300, changesetSizeInBytes: 100)
        )
        var writer = try await world.client()
        try await writer.connect(to: world)
        try await writer.subscribe(ViewScenarioTests.all, as: 1, at: world)
        try writer.write { writer in
            for id in Int64(10)..<60 {
                ViewScenarioTests.create(id, age: id, into: &writer)
            }
        }
        try await writer.upload(to: world)
        return world
    }

    private func identify(
        _ file: SaltedFileIdent,
        at world: ViewWorld,
        _ progress: SyncProgress = .zero
    ) async throws -> SyncEngine.Identified {
        try await world.engine.identify(
            .init(
                session: 1,
                file: file,
                download: progress.download,
                latestServerVersion: progress.latestServerVersion,
                query: .init(version: QueryVersion(1), body: Text(ViewScenarioTests.all))
            ),
            in: world.file,
            for: ViewWorld.ann,
            offlineLimitInMilliseconds: nil,
            subscribing: (
                SubscriptionSetBody(decoding: Array(ViewScenarioTests.all.utf8)), world.context
            )
        )
    }

    private func subscribe(
        _ file: SaltedFileIdent,
        _ identified: SyncEngine.Identified,
        at world: ViewWorld,
        _ deliver: @Sendable (EngineViews.Delivery) async throws -> Void
    ) async throws {
        try await world.engine.views.subscribe(
            Subscription(
                client: file.ident,
                sessionEpoch: identified.client.sessionEpoch,
                body: SubscriptionSetBody(decoding: Array(ViewScenarioTests.all.utf8))
            ),
            as: QueryVersion(1),
            from: .zero,
            in: world.file,
            world.context,
            deliver
        )
    }

    private func newFile(at world: ViewWorld) async throws -> SaltedFileIdent {
        let opened = try await world.engine.open(
            .flexible,
            of: ViewWorld.app,
            for: ViewWorld.ann,
            needsFileIdent: true
        )
        return try #require(opened.assigned)
    }

    @Test("A fresh copy that is downloaded during a termination is whole, and void afterwards")
    func terminatedWhileDelivering() async throws {
        let world = try await world()
        let file = try await newFile(at: world)
        let identified = try await identify(file, at: world)
        let parts = Mutex<[ServerSession.BootstrapPart]>([])
        try await subscribe(file, identified, at: world) { delivery in
            guard case .bootstrap(let part, _, _) = delivery else { return }
            let isFirst = parts.withLock { parts in
                parts.append(part)
                return parts.count == 1
            }
            // Nothing waits for the bootstrap.
            if isFirst { try await world.engine.upkeep.terminate(ViewWorld.app) }
        }
        let received = parts.withLock(\.self)
        #expect(received.count > 3)
        #expect(received.last?.isLast == true)
        var objects: Set<ObjectReference> = []
        for changeset in received.flatMap(\.changesets) {
            objects.formUnion(try Changeset(decoding: changeset.bytes).objects)
        }
        #expect(objects.count == 50)
        // Of the generation before: the client starts over, and loses nothing that it had not uploaded.
        let progress = try #require(received.last?.progress)
        await #expect(throws: SessionFault.badClientFileIdent) {
            _ = try await identify(file, at: world, progress)
        }
        // The next copy is of the new generation.
        let fresh = try await newFile(at: world)
        let again = try await identify(fresh, at: world)
        #expect(again.needsBootstrap)
        let count = Mutex(0)
        try await subscribe(fresh, again, at: world) { delivery in
            guard case .bootstrap(let part, _, _) = delivery else { return }
            for changeset in part.changesets {
                let objects = try Changeset(decoding: changeset.bytes).objects.count
                count.withLock { $0 += objects }
            }
        }
        #expect(count.withLock(\.self) == 50)
    }

    @Test("A view that would begin after a termination does not, and its file starts over")
    func terminatedBefore() async throws {
        let world = try await world()
        let file = try await newFile(at: world)
        let identified = try await identify(file, at: world)
        try await world.engine.upkeep.terminate(ViewWorld.app)
        await #expect(throws: IntegrationRefusal.unknownClientFile) {
            try await subscribe(file, identified, at: world) { _ in
                Issue.record("nothing is delivered")
            }
        }
    }

    @Test("A write behind a termination is refused, and its author told so at its IDENT")
    func lateWrite() async throws {
        let world = try await world()
        var client = try await world.client()
        try await client.connect(to: world)
        try await client.subscribe(ViewScenarioTests.all, as: 1, at: world)
        try await world.engine.upkeep.terminate(ViewWorld.app)
        try client.write { ViewScenarioTests.create(99, age: 1, into: &$0) }
        await #expect(throws: IntegrationRefusal.unknownClientFile) {
            try await client.upload(to: world)
        }
        await #expect(throws: SessionFault.badClientFileIdent) {
            try await client.connect(to: world)
        }
        #expect(
            try await world.expectedRealm(ViewScenarioTests.all, of: ViewWorld.ann)["Person"]?
                .count == 50
        )
    }
}
