import Changesets
import Documents
import Migration
import Schemas
import Scopes
import ServerMigration
import ServerStore
import TestSupport
import Testing
import Versions

/// Clients get an import as history: what they build of it must be what the store has.
@Suite(
    "History of imports",
    .enabled(if: Vectors.areRequiredOrPresent, "the golden vectors are not here")
)
struct ImportHistoryVectorTests {
    /// Applies the history of each realm to an empty one, and compares the documents in one canonical form:
    /// a store may keep the same values in other bytes.
    private func check(_ world: MigrationWorld) async throws -> Int {
        let app = world.app
        return try await world.store.read { snapshot in
            var count = 0
            for file in try snapshot.files(of: app) {
                var realm = InMemoryRealm()
                var problem: (any Error)?
                try snapshot.forEachChangeset(of: file.id, in: .zero, after: .zero) { _, bytes in
                    do {
                        try realm.apply(try Changeset(decoding: bytes))
                        return .next
                    } catch {
                        problem = error
                        return .stop
                    }
                }
                if let problem { throw problem }
                let form = JSONForm(schema: realm.schema)
                let schema = try snapshot.schema(of: file.id)
                let storedForm = JSONForm(schema: schema)
                for owner in schema.classes where !owner.isEmbedded {
                    var keys: Set<ObjectKey> = []
                    try snapshot.forEachDocument(of: owner.name, in: file.id) { key, json in
                        keys.insert(key)
                        let document = realm.objects[owner.name]?[key]
                        let made = document.flatMap { document in
                            realm.schema[owner.name].map {
                                form.encode(document, key: key, of: $0)
                            }
                        }
                        do throws(FormError) {
                            let stored = try storedForm.decodeDocument(json, of: owner)
                            let canonical = storedForm.encode(stored, key: key, of: owner)
                            #expect(made == canonical, "\(file.partition) \(owner.name) \(key)")
                        } catch {
                            Issue.record("\(file.partition) \(owner.name) \(key): \(error)")
                        }
                        count += 1
                        return .next
                    }
                    let replayed = Set((realm.objects[owner.name] ?? [:]).keys)
                    #expect(replayed == keys, "\(file.partition) \(owner.name)")
                }
            }
            return count
        }
    }

    @Test(
        "The history of an import builds the objects of the store",
        arguments: MigrationWorld.apps.keys.sorted()
    )
    func replay(folder: String) async throws {
        let world = try await MigrationWorld(folder)
        _ = try await world.load(try world.files("dump"))
        let count = try await check(world)
        #expect(count == (try await world.contents().count))
        print("import history: \(folder), \(count) objects")
    }

    @Test("So does the history after changes, moves and removals")
    func replayChanges() async throws {
        let world = try await MigrationWorld("toolshed")
        _ = try await world.load(try world.files("dump"))
        let folder = try TemporaryDirectory()
        let path = "\(folder.path)/tools.json"
        let text = String(
            decoding: try Vectors.bytes(of: "migration/data/toolshed/canonical/tools.json"),
            as: UTF8.self
        )
        let altered = text.split(separator: "\n").prefix(4).map { line in
            line.replacing("\"public\"", with: "\"moved\"")
                .replacing("\"Saw\"", with: "\"Axe\"")
                .replacing("\"notes\":[\"a\",\"a\"]", with: "\"notes\":[\"b\",\"a\",\"c\"]")
                .replacing("\"Tool 3\"", with: "\"Tool three\"")
        }
        try Files.write(altered.joined(separator: "\n") + "\n", to: path)
        var options = DataImport.Options()
        options.deletesMissing = true
        let (report, _) = try await world.load(
            try SourceFiles.find("lending.tools=\(path)"),
            options
        )
        let tools = try #require(report.classes["Tool"])
        #expect(tools.moved == 2)
        #expect(tools.updated == 1)
        #expect(tools.removed == 15)
        _ = try await check(world)
    }
}
