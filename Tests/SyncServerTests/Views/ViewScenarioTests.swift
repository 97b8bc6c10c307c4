import Changesets
import Documents
import Permissions
import Schemas
import SyncProtocol
import Testing
import Versions

@testable import ServerStore
@testable import SyncServer

@Suite("Views of one client")
struct ViewScenarioTests {
    static func person(_ id: Int64) -> ObjectReference {
        ObjectReference(className: "Person", key: .int(id))
    }

    static func create(
        _ id: Int64,
        age: Int64,
        into writer: inout ChangesetWriter
    ) {
        writer.createObject(person(id))
        writer.update(person(id), "age", to: .scalar(.int(age)))
    }

    static func setAge(_ id: Int64, _ age: Int64, into writer: inout ChangesetWriter) {
        writer.update(person(id), "age", to: .scalar(.int(age)))
    }

    static let all = #"{"Person":"(TRUEPREDICATE)"}"#
    static let adults = #"{"Person":"(age > 18)"}"#

    /// A client that sees all persons, and has made two of them.
    private func writer(in world: ViewWorld) async throws -> ViewClient {
        var writer = try await world.client()
        try await writer.connect(to: world)
        try await writer.subscribe(Self.all, as: 1, at: world)
        try writer.write {
            Self.create(1, age: 20, into: &$0)
            Self.create(2, age: 10, into: &$0)
        }
        try await writer.upload(to: world)
        try await writer.downloadAll(from: world)
        #expect(writer.rejected.isEmpty)
        return writer
    }

    private func reader(_ body: String, in world: ViewWorld) async throws -> ViewClient {
        var reader = try await world.client(of: UserID("bob"))
        try await reader.connect(to: world)
        try await reader.subscribe(body, as: 1, at: world)
        return reader
    }

    @Test("A new file gets the schema, and nothing else, as its first bootstrap")
    func firstBootstrap() async throws {
        let world = try await ViewWorld()
        _ = try await writer(in: world)
        var client = try await world.client()
        try await client.connect(to: world)
        #expect(client.realm.schema["Person"] != nil)
        #expect(client.objects.isEmpty)
        #expect(client.completed == [0])
    }

    @Test("A bootstrap brings the objects of its query")
    func bootstrap() async throws {
        let world = try await ViewWorld()
        _ = try await writer(in: world)
        let reader = try await reader(Self.adults, in: world)
        #expect(reader.objects["Person"]?.keys.sorted { "\($0)" < "\($1)" } == [.int(1)])
        #expect(reader.value("age", of: Self.person(1)) == .scalar(.int(20)))
    }

    @Test("A query that matches nothing has a bootstrap with a changeset")
    func emptyBootstrap() async throws {
        let world = try await ViewWorld()
        let reader = try await reader(#"{"Person":"(age > 1000)"}"#, in: world)
        #expect(reader.completed == [0, 1])
        #expect(reader.objects.isEmpty)
    }

    @Test("Objects enter and leave a view as they change")
    func movement() async throws {
        let world = try await ViewWorld()
        var writer = try await writer(in: world)
        var reader = try await reader(Self.adults, in: world)
        try writer.write { Self.setAge(2, 30, into: &$0) }
        try await writer.upload(to: world)
        try await reader.downloadAll(from: world)
        #expect(Set(reader.objects["Person"]?.keys ?? [:].keys) == [.int(1), .int(2)])
        try writer.write { Self.setAge(1, 5, into: &$0) }
        try await writer.upload(to: world)
        try await reader.downloadAll(from: world)
        #expect(Set(reader.objects["Person"]?.keys ?? [:].keys) == [.int(2)])
        // Another client's objects outside of the view make no message.
        try writer.write { Self.setAge(1, 6, into: &$0) }
        try await writer.upload(to: world)
        try await reader.downloadAll(from: world)
        #expect(reader.lastChangesets.isEmpty)
    }

    @Test("A new query erases what leaves, brings what enters, and leaves the rest alone")
    func secondQuery() async throws {
        let world = try await ViewWorld()
        var writer = try await writer(in: world)
        try writer.write { Self.create(3, age: 40, into: &$0) }
        try await writer.upload(to: world)
        var reader = try await reader(Self.adults, in: world)
        try reader.write { $0.update(Self.person(3), "name", to: .scalar(.string("unsynced"))) }
        try await reader.subscribe(#"{"Person":"(age < 15 OR age > 30)"}"#, as: 2, at: world)
        #expect(Set(reader.objects["Person"]?.keys ?? [:].keys) == [.int(2), .int(3)])
        #expect(reader.value("name", of: Self.person(3)) == .scalar(.string("unsynced")))
        try await reader.upload(to: world)
        try await reader.downloadAll(from: world)
        #expect(reader.rejected.isEmpty)
        #expect(
            try await world.expectedRealm(Self.all, of: ViewWorld.ann)["Person"]?[.int(3)]?
                .values[1] == .scalar(.string("unsynced"))
        )
    }

    @Test("A client that comes back continues where it stopped")
    func reconnect() async throws {
        let world = try await ViewWorld()
        var writer = try await writer(in: world)
        var reader = try await reader(Self.adults, in: world)
        try writer.write { Self.setAge(2, 30, into: &$0) }
        try await writer.upload(to: world)
        let completed = reader.completed
        try await reader.connect(to: world)
        #expect(reader.completed == completed)
        try await reader.downloadAll(from: world)
        #expect(Set(reader.objects["Person"]?.keys ?? [:].keys) == [.int(1), .int(2)])
    }

    @Test("A write outside of the view is undone and reported, before and after a reconnect")
    func compensation() async throws {
        let world = try await ViewWorld()
        _ = try await writer(in: world)
        var reader = try await reader(Self.adults, in: world)
        try reader.write { writer in
            // Moves an object out of the view; changes one properly; takes the key of an unseen one.
            Self.setAge(1, 3, into: &writer)
            Self.create(7, age: 77, into: &writer)
            Self.create(2, age: 99, into: &writer)
        }
        try await reader.upload(to: world)
        // The report is lost with the connection.
        try await reader.connect(to: world)
        try await reader.downloadAll(from: world)
        #expect(Set(reader.objects["Person"]?.keys ?? [:].keys) == [.int(1), .int(7)])
        #expect(reader.value("age", of: Self.person(1)) == .scalar(.int(20)))
        #expect(Set(reader.rejected.map(\.key)) == [.int(1), .int(2)])
        #expect(
            reader.rejected.allSatisfy {
                $0.reason.contains("object is outside of the current query view")
            }
        )
        try await reader.upload(to: world)
        try await reader.connect(to: world)
        try await reader.downloadAll(from: world)
        #expect(reader.rejected.count == 2)
    }

    private static func rename(_ id: Int64, _ name: Text, into writer: inout ChangesetWriter) {
        writer.update(person(id), "name", to: .scalar(.string(name)))
    }

    @Test("Unsynced changes of an object that left the view and came back are rejected")
    func leftAndBack() async throws {
        let world = try await ViewWorld()
        var writer = try await writer(in: world)
        var reader = try await reader(Self.adults, in: world)
        try reader.write { Self.rename(1, "unsynced", into: &$0) }
        for age in [Int64(5), 30] {
            try writer.write { Self.setAge(1, age, into: &$0) }
            try await writer.upload(to: world)
        }
        try await reader.upload(to: world)
        try await reader.downloadAll(from: world)
        #expect(reader.rejected.map(\.key) == [.int(1)])
        #expect(
            try await reader.objects == world.expectedRealm(Self.adults, of: UserID("bob"))
        )
    }

    @Test("So are changes that a program makes between two versions of one message")
    func writeWithinRange() async throws {
        let world = try await ViewWorld()
        var writer = try await writer(in: world)
        try writer.write { Self.create(3, age: 50, into: &$0) }
        try await writer.upload(to: world)
        var reader = try await reader(Self.adults, in: world)
        // One object leaves and comes back; then another one changes twice.
        for age in [Int64(5), 30] {
            try writer.write { Self.setAge(1, age, into: &$0) }
        }
        for name in ["a", "b"] as [Text] { try writer.write { Self.rename(3, name, into: &$0) } }
        try await writer.upload(to: world)
        var hasWritten = false
        _ = try await reader.downloadOnce(from: world) { client in
            guard !hasWritten else { return }
            hasWritten = true
            try client.write { Self.rename(1, "between", into: &$0) }
        }
        #expect(reader.lastChangesets.count == 2)
        try await reader.upload(to: world)
        try await reader.downloadAll(from: world)
        #expect(reader.rejected.map(\.key) == [.int(1)])
        #expect(
            try await reader.objects == world.expectedRealm(Self.adults, of: UserID("bob"))
        )
    }

    @Test("A change of the roles brings the difference at the next IDENT")
    func roleChange() async throws {
        let world = try await ViewWorld()
        _ = try await writer(in: world)
        var reader = try await reader(Self.all, in: world)
        #expect(reader.objects["Person"]?.count == 2)
        world.setRoles(
            RoleDeclarations(standard: [
                RoleDeclaration(name: "adults", read: .matching("age > 18"))
            ])
        )
        try await reader.connect(to: world)
        #expect(Set(reader.objects["Person"]?.keys ?? [:].keys) == [.int(1)])
        try reader.write { Self.setAge(1, 21, into: &$0) }
        try await reader.upload(to: world)
        try await reader.downloadAll(from: world)
        #expect(reader.value("age", of: Self.person(1)) == .scalar(.int(20)))
        #expect(reader.rejected.map(\.key) == [.int(1)])
    }

    @Test("A bootstrap in many messages and changesets")
    func largeBootstrap() async throws {
        let world = try await ViewWorld(
            limits: ViewLimits(messageSizeInBytes: 2000, changesetSizeInBytes: 300)
        )
        var writer = try await writer(in: world)
        try writer.write { writer in
            for id in Int64(10)..<200 { Self.create(id, age: id, into: &writer) }
        }
        try await writer.upload(to: world)
        let reader = try await reader(Self.adults, in: world)
        #expect(reader.objects["Person"]?.count == 182)
        #expect(reader.lastChangesets.count > 10)
    }

    @Test("An interrupted bootstrap begins again")
    func interruptedBootstrap() async throws {
        let world = try await ViewWorld(
            limits: ViewLimits(messageSizeInBytes: 300, changesetSizeInBytes: 100)
        )
        var writer = try await writer(in: world)
        try writer.write { writer in
            for id in Int64(10)..<100 { Self.create(id, age: id, into: &writer) }
        }
        try await writer.upload(to: world)
        var reader = try await world.client(of: UserID("bob"))
        try await reader.connect(to: world)
        try await reader.subscribe(Self.adults, as: 1, at: world, messages: 3)
        #expect(reader.objects.isEmpty)
        try await reader.connect(to: world)
        try await reader.subscribe(Self.adults, as: 1, at: world)
        #expect(reader.objects["Person"]?.count == 82)
    }

    @Test("Asymmetric objects are stored, and never come back")
    func asymmetric() async throws {
        let world = try await ViewWorld()
        var writer = try await writer(in: world)
        var reader = try await reader(Self.all, in: world)
        let reading = ObjectReference(className: "Reading", key: .int(1))
        try writer.write { writer in
            writer.createObject(reading)
            writer.update(reading, "value", to: .scalar(.int(5)))
        }
        try await writer.upload(to: world)
        try await reader.downloadAll(from: world)
        #expect(reader.objects["Reading"] == nil)
        let stored = try await world.store.read { [file = world.file] in
            try $0.document(reading, in: file)
        }
        #expect(stored != nil)
        #expect(writer.forbidden.isEmpty && writer.rejected.isEmpty)
    }
}
