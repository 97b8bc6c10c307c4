import BSON
import Changesets
import FoundationEssentials
import Migration
import Scopes
import ServerMigration
import ServerStore
import TestSupport
import Testing

@Suite(
    "Exports of stores",
    .enabled(if: Vectors.areRequiredOrPresent, "the golden vectors are not here")
)
struct DataExportVectorTests {
    @Test(
        "An export imported elsewhere gives the same objects",
        arguments: ["toolshed", "rangers", "ferry"]
    )
    func roundTrip(folder: String) async throws {
        let world = try await MigrationWorld(folder)
        _ = try await world.load(try world.files("dump"))
        let place = try TemporaryDirectory()
        let output = try OutputDirectory("\(place.path)/export")
        let report = try await DataExport(
            world.store,
            world.app,
            map: world.target.map,
            isRelaxed: false
        ).run(partition: nil, className: nil, to: output)
        let contents = try await world.contents()
        #expect(report.files.values.reduce(0, +) == contents.count)
        #expect(report.exitStatus == 0)

        let other = try await MigrationWorld(folder)
        let again = try await other.load(try SourceFiles.find(output.path))
        #expect(again.unsynced.isEmpty)
        #expect(again.report.classes.values.allSatisfy { $0.counts.converted == 0 })
        #expect(try await other.contents() == contents)
        print("export vectors: \(folder), \(contents.count) objects")
    }

    @Test("One partition and one class are exported alone; the key field comes from the partition")
    func selection() async throws {
        let world = try await MigrationWorld("toolshed")
        _ = try await world.load(try world.files("dump"))
        let place = try TemporaryDirectory()
        let output = try OutputDirectory("\(place.path)/export")
        let report = try await DataExport(
            world.store,
            world.app,
            map: world.target.map,
            isRelaxed: true
        ).run(partition: .string("north"), className: "Tool", to: output)
        #expect(report.files == ["lending.tools.json": 1])
        let data = try Data(contentsOf: URL(filePath: "\(output.path)/lending.tools.json"))
        let line = try JSONTree(parsing: Array(data).dropLast())
        #expect(line["_branch"]?.text == "north")
    }
}
