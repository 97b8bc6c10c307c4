import Changesets
import FoundationEssentials
import LocalRealm
import SQLite
import SchemaFiles
import Scopes
import TestSupport
import Testing

@testable import Agent

@Suite("The schema of a realm file, as `realm-agent schema` prints it")
struct SchemaReportTests {
    private let directory: TemporaryDirectory
    private let path: String

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.file("stock.sqlite")
    }

    private static let yaml = """
        classes:
          Person:
            primary_key: _id
            properties:
              _id: string?
              "first name": { type: string?, default: "it's \\"me\\"" }
          Task:
            primary_key: _id
            properties:
              _id: object_id
              title: { type: string, default: untitled }
              views: { type: int, counter: true }
              likes: { type: int?, default: 3, counter: true }
              weight: { type: double, default: 1.5 }
              ratio: { type: float, default: -0.0 }
              open: { type: bool, default: true }
              due: { type: timestamp, default: 2026-03-04T05:06:07.000000000Z }
              price: { type: decimal, default: "1.00" }
              data: { type: binary, default: AAEC }
              device: { type: uuid?, default: 3b241101-e2bb-4255-8caf-4136c566a962 }
              owner: link<Person>

        """

    private func open(_ yaml: String) throws -> RealmFile {
        let (declaration, diagnostics) = SchemaFile.parse(Array(yaml.utf8), file: "s.yaml")
        let declared = try #require(declaration, "\(diagnostics)")
        var random = SplitMix64(seed: 7)
        return try RealmFile.open(
            LocalRealmConfiguration(
                path: path,
                owner: RealmOwner(appID: "app", userID: "user", scope: .partition(.null)),
                machineID: "machine",
                schema: declared.schema,
                options: declared.options
            ),
            clock: { 1_772_600_767_000 },
            random: &random
        )
    }

    private func parse(_ text: String) throws -> SchemaDeclaration {
        let (declaration, diagnostics) = SchemaFile.parse(Array(text.utf8), file: "s.yaml")
        return try #require(declaration, "\(diagnostics) in\n\(text)")
    }

    @Test("reads as what was declared, counters and defaults included, as YAML and as JSON")
    func roundTrip() throws {
        let realm = try open(Self.yaml)
        // An agent has it open, and a program is writing.
        let program = try Connection(path: path)
        try program.execute("BEGIN IMMEDIATE; INSERT INTO Task(title) VALUES ('x')")
        let report = try SchemaReport(path: path)
        try program.execute("COMMIT")
        realm.close()

        #expect(try parse(report.yaml) == parse(Self.yaml))
        #expect(try parse(report.json) == parse(Self.yaml))
        // What is printed opens the same file, and is what it was then.
        try open(report.yaml).close()
        #expect(try SchemaReport(path: path).yaml == report.yaml)
    }

    @Test("as SQL makes the same tables elsewhere")
    func sql() throws {
        try open(Self.yaml).close()
        let sql = try SchemaReport(path: path).sql
        #expect(sql.contains("Task.due must be a timestamp"))
        let other = try Connection(path: directory.file("other.sqlite"))
        try other.execute(sql)
        #expect(
            try other.rows("SELECT name FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name")
                == [["Person"], ["Task"]]
        )
    }

    @Test("A file that is missing, or is not a realm, is neither created nor changed")
    func noRealm() throws {
        let missing = #expect(throws: SchemaReport.Failure.self) { try SchemaReport(path: path) }
        #expect(missing?.code == "realm.cannot_open")
        #expect(missing?.description.contains(path) == true)
        #expect(!FileManager.default.fileExists(atPath: path))

        let other = try Connection(path: path)
        try other.execute("CREATE TABLE Own(x)")
        other.close()
        let before = FileManager.default.contents(atPath: path)
        let foreign = #expect(throws: SchemaReport.Failure.self) { try SchemaReport(path: path) }
        #expect(foreign?.code == "realm.not_a_realm")
        #expect(FileManager.default.contents(atPath: path) == before)
    }
}
