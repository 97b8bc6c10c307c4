import Changesets
import Permissions
import SyncProtocol
import Synchronization
import Testing
import Versions

@testable import ServerStore
@testable import SyncServer

@Suite("Objects of asymmetric classes go to a sink")
struct IngestionTests {
    /// Keeps objects in memory, and can fail.
    private final class TestSink: ObjectSink {
        let objects = Mutex<[IngestedObject]>([])
        let failure = Mutex<SinkFailure?>(nil)

        func take(_ new: [IngestedObject]) async throws(SinkFailure) {
            if let failure = failure.withLock({ $0 }) { throw failure }
            objects.withLock { $0 += new }
        }

        var documents: [String] {
            objects.withLock { $0.map { String(decoding: $0.document, as: UTF8.self) } }
        }
    }

    private static func insert(_ id: Int64, _ value: Int64, into writer: inout ChangesetWriter) {
        let reading = ObjectReference(className: "Reading", key: .int(id))
        writer.createObject(reading)
        writer.update(reading, "value", to: .scalar(.int(value)))
    }

    private func start(
        _ sink: TestSink,
        roles: RoleDeclarations = ViewWorld.allUsers
    ) async throws -> (ViewWorld, ViewClient) {
        let world = try await ViewWorld(roles: roles)
        world.setSink(sink)
        var client = try await world.client()
        try await client.connect(to: world)
        return (world, client)
    }

    private func stored(_ world: ViewWorld) async throws -> Int {
        try await world.store.read { [file = world.file] snapshot in
            try snapshot.objectCounts(in: file)["Reading"] ?? 0
        }
    }

    @Test(
        "In the order of the upload, with the user, before it is acknowledged; the store keeps none"
    )
    func order() async throws {
        let sink = TestSink()
        var (world, client) = try await start(sink)
        try client.write { Self.insert(2, 20, into: &$0) }
        try client.write {
            Self.insert(1, 10, into: &$0)
            Self.insert(3, 30, into: &$0)
        }
        try await client.upload(to: world)
        #expect(
            sink.documents == [
                #"{"_id":2,"value":20}"#, #"{"_id":1,"value":10}"#, #"{"_id":3,"value":30}"#,
            ]
        )
        #expect(sink.objects.withLock { $0.allSatisfy { $0.user == ViewWorld.ann } })
        #expect(try await stored(world) == 0)
        #expect(client.forbidden.isEmpty)
        // Repeated uploads are recognised.
        try await client.upload(to: world)
        #expect(sink.documents.count == 3)
    }

    @Test("While the sink takes nothing, nothing of the upload is integrated")
    func failing() async throws {
        let sink = TestSink()
        var (world, client) = try await start(sink)
        let before = try await world.serverFile().currentVersion
        try client.write { Self.insert(1, 10, into: &$0) }
        sink.failure.withLock { $0 = SinkFailure(.full, code: "server.spool_full", "full") }
        await #expect(throws: SinkFailure.self) { try await client.upload(to: world) }
        #expect(try await world.serverFile().currentVersion == before)
        sink.failure.withLock { $0 = nil }
        try await client.upload(to: world)
        #expect(sink.documents == [#"{"_id":1,"value":10}"#])
        #expect(try await world.serverFile().currentVersion > before)
    }

    @Test("A rejected insertion does not reach the sink")
    func rejected() async throws {
        let sink = TestSink()
        let roles = RoleDeclarations(standard: [RoleDeclaration(name: "reader", read: .all)])
        var (world, client) = try await start(sink, roles: roles)
        try client.write { Self.insert(1, 10, into: &$0) }
        try await client.upload(to: world)
        #expect(sink.documents.isEmpty)
        #expect(client.forbidden.map(\.className) == ["Reading"])
    }
}
