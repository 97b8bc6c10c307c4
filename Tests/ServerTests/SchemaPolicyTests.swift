import Changesets
import Testing
import Versions

@testable import ServerStore
@testable import SyncServer

@Suite("Schema changes by clients")
struct SchemaPolicyTests {
    private func reason(
        _ world: ServerFileWorld,
        _ client: ClientFile,
        _ bytes: [UInt8],
        version: UInt64 = 3
    ) async throws -> String? {
        do {
            let base = try await world.serverFile().currentVersion.rawValue
            try await world.upload([upload(version, on: base, bytes)], by: client)
            return nil
        } catch IntegrationRefusal.schemaChange(let reason) {
            return reason
        }
    }

    private func instruction(_ instruction: Instruction, _ texts: [Text]) -> [UInt8] {
        var strings = StringTable()
        for text in texts { _ = strings.intern(text) }
        return Changeset(strings: strings, instructions: [instruction]).encoded()
    }

    @Test("In development mode clients add classes and properties, and repeat existing ones")
    func development() async throws {
        let world = try await ServerFileWorld()
        let client = try await world.client()
        try await world.upload([upload(2, on: 0)], by: client)
        #expect(try await reason(world, client, Tasks.schema, version: 3) == nil)
        #expect(
            try await reason(world, client, Tasks.addColumn("due", .timestamp), version: 4) == nil
        )
        #expect(try await reason(world, client, Tasks.addClass("Person"), version: 5) == nil)
    }

    @Test("Without it they may only repeat existing ones")
    func closed() async throws {
        var world = try await ServerFileWorld()
        let client = try await world.client()
        try await world.upload([upload(2, on: 0)], by: client)
        world.policy = SchemaPolicy(allowsAdditions: false)
        #expect(try await reason(world, client, Tasks.schema, version: 3) == nil)
        #expect(
            try await reason(world, client, Tasks.addColumn("due", .timestamp), version: 4)
                == "Task.due is not part of the schema, and development mode is off"
        )
        #expect(
            try await reason(world, client, Tasks.addClass("Person"), version: 4)
                == "class Person is not part of the schema, and development mode is off"
        )
    }

    @Test("Classes and properties are never removed, and never change their type")
    func destructive() async throws {
        let world = try await ServerFileWorld()
        let client = try await world.client()
        try await world.upload([upload(2, on: 0)], by: client)
        let (task, title) = (InternIndex(0), InternIndex(1))
        #expect(
            try await reason(world, client, instruction(.eraseTable(className: task), ["Task"]))
                == "class Task cannot be removed by a client"
        )
        #expect(
            try await reason(
                world,
                client,
                instruction(.eraseColumn(className: task, field: title), ["Task", "title"])
            ) == "Task.title cannot be removed by a client"
        )
        let conflict = try await reason(world, client, Tasks.addColumn("title", .int))
        #expect(conflict == "Task.title is string, but is declared as int?")
    }

    @Test("Objects made before a property was added have its default value afterwards")
    func defaults() async throws {
        let world = try await ServerFileWorld()
        let client = try await world.client()
        try await world.upload(
            [upload(2, on: 0), upload(3, on: 0, Tasks.create(1, title: "x"))],
            by: client
        )
        try await world.upload(
            [
                upload(4, on: 2, Tasks.addColumn("due", .timestamp)),
                upload(5, on: 2, Tasks.setTitle(1, "y")),
            ],
            by: client
        )
        #expect(
            try await world.tasks()[.int(1)]
                == "{\"_id\":1,\"title\":\"y\",\"count\":0,\"tags\":[],\"due\":null}"
        )
    }
}
