import BSON
import Changesets
import FoundationEssentials
import Migration
import ServerMigration
import TestSupport
import Testing

/// Exports and dumps that are well formed, and unlike the golden ones.
@Suite("Sources of other shapes")
struct SourceShapeTests {
    /// Of an app with one class for each collection.
    private static func export(_ collections: [String], key: String = "string") -> ExportFiles {
        var contents: [String: String] = [
            "realm_config.json": #"{"app_id":"shop-abcde","config_version":20210101}"#,
            "sync/config.json": """
            {"type":"partition","state":"enabled","service_name":"mongodb-atlas",
            "partition":{"key":"_p","type":"\(key)","permissions":{"read":true,"write":true}}}
            """,
            "data_sources/mongodb-atlas/config.json": #"{"name":"mongodb-atlas"}"#,
        ]
        for (number, collection) in collections.enumerated() {
            contents["data_sources/mongodb-atlas/d/\(collection)/schema.json"] = """
                {"title":"Class\(number)","bsonType":"object","required":["_id"],"properties":
                {"_id":{"bsonType":"string"},"n":{"bsonType":"int"}}}
                """
        }
        return ExportFiles(contents: contents.mapValues { Array($0.utf8) })
    }

    private func document(_ id: Text, _ partition: Text = "p", _ number: Int32 = 0) -> BSONDocument
    {
        var document = BSONDocument()
        document.append("_id", .string(id))
        document.append("_p", .string(partition))
        document.append("n", .int32(number))
        return document
    }

    private func write(_ files: [String: [UInt8]]) throws -> String {
        let folder = try TemporaryDirectory()
        for (name, bytes) in files {
            let path = "\(folder.path)/\(name)"
            let parent = URL(filePath: path).deletingLastPathComponent()
            try FileManager.default.createDirectory(at: parent, withIntermediateDirectories: true)
            try Files.write(bytes, to: path)
        }
        Files.keep(folder)
        return folder.path
    }

    @Test("A dump has names with %XX, collections without documents, and a file about itself")
    func dump() async throws {
        let names = ["My Items", "Häuser", "a.b", "100%", "empty"]
        let world = try await MigrationWorld(Self.export(names), named: "shop")
        let folder = try write([
            "d/My%20Items.bson": document("1").encoded(),
            "d/H%C3%A4user.bson": document("2").encoded(),
            "d/a.b.bson": document("3").encoded(),
            "d/100%25.bson": document("4").encoded(),
            "d/empty.bson": [],
            "d/empty.metadata.json": Array("{}".utf8),
            "d/prelude.json": Array(#"{"ServerVersion":"7.0"}"#.utf8),
            "prelude.json": Array(#"{"ServerVersion":"7.0"}"#.utf8),
            "oplog.bson": [],
        ])
        let (report, _) = try await world.load(try SourceFiles.find(folder))
        #expect(report.exitStatus == 0)
        #expect(
            report.classes.mapValues(\.stored) == [
                "Class0": 1, "Class1": 1, "Class2": 1, "Class3": 1,
            ]
        )
        let again = try await ImportVerify(world.store, world.target)
            .run(try SourceFiles.find(folder))
        #expect(again.exitStatus == 0)
    }

    @Test("An export of ours in which a class has no objects is read again")
    func emptyExport() async throws {
        let world = try await MigrationWorld(Self.export(["full", "empty"]), named: "shop")
        let folder = try write([
            "d.full.json": Array(#"{"_id":"1","_p":"p"}"#.utf8), "d.empty.json": [],
        ])
        let (report, _) = try await world.load(try SourceFiles.find(folder))
        #expect(report.classes.mapValues(\.stored) == ["Class0": 1])
        let error = await #expect(throws: MigrationFailure.self) {
            _ = try await world.load(try SourceFiles.find("\(folder)/d.empty.json"))
        }
        #expect(error?.code == "import.bad_source")
    }

    @Test("Of documents with one id the last is verified, as it is the one that was stored")
    func repeatedDocuments() async throws {
        let world = try await MigrationWorld(Self.export(["items"]), named: "shop")
        let documents = [
            document("moved", "p"), document("changed", "p", 1), document("other", "p"),
            document("moved", "q"), document("changed", "p", 2),
        ]
        let folder = try write(["d/items.bson": documents.flatMap { $0.encoded() }])
        let files = try SourceFiles.find(folder)
        let (report, _) = try await world.load(files)
        #expect(report.classes["Class0"]?.repeated == 2)
        let verified = try await ImportVerify(world.store, world.target).run(files)
        #expect(verified.exitStatus == 0, "\(verified.differences)")
        #expect(verified.differences.isEmpty)
        #expect(verified.classes["Class0"]?.equal == 3)
        #expect(verified.classes["Class0"]?.repeated == 2)
    }

    @Test("Whole doubles are partitions of integers, but not in strict runs, nor beyond 2^53")
    func doublePartitions() async throws {
        func partition(_ value: Double, isStrict: Bool) async throws -> String? {
            let world = try await MigrationWorld(
                Self.export(["items"], key: "long"),
                named: "shop",
                isStrict: isStrict
            )
            var document = BSONDocument()
            document.append("_id", .string("1"))
            document.append("_p", .double(value))
            let folder = try write(["d/items.bson": document.encoded()])
            let (report, _) = try await world.load(try SourceFiles.find(folder))
            return report.classes["Class0"]?.partitions.keys.first
        }
        #expect(try await partition(5, isStrict: false) == "5")
        #expect(try await partition(5, isStrict: true) == nil)
        #expect(try await partition(0x1p60, isStrict: false) == nil)
        #expect(try await partition(5.5, isStrict: false) == nil)
    }

    @Test("Databases may be named as the folders of other programs, which are not read")
    func folderNames() throws {
        let folder = try write([
            "realm_config.json": Array("{}".utf8),
            "data_sources/mongodb-atlas/hosting/node_modules/schema.json": Array("{}".utf8),
            "hosting/files/metadata.json": Array("not JSON".utf8),
            "functions/node_modules/a/package.json": Array("not JSON".utf8),
        ])
        let paths = try ExportDirectory.read(folder).paths
        #expect(paths.contains("data_sources/mongodb-atlas/hosting/node_modules/schema.json"))
        #expect(!paths.contains { $0.hasPrefix("hosting/") || $0.contains("package.json") })
    }
}
