import Changesets
import Migration
import Testing

/// Exports that are well formed, and unlike the golden ones.
@Suite("Exports of other shapes")
struct ExportShapeTests {
    private static let sync = """
        {"type":"partition","state":"enabled","service_name":"mongodb-atlas",
        "partition":{"key":"_p","type":"string","permissions":{"read":true,"write":true}}}
        """

    private func run(_ files: [String: String]) -> ImportedApp {
        var contents: [String: [UInt8]] = [
            "realm_config.json": Array(#"{"app_id":"shop-abcde","config_version":20210101}"#.utf8),
            "sync/config.json": Array(Self.sync.utf8),
        ]
        for (path, text) in files { contents[path] = Array(text.utf8) }
        return AppImport.run(ExportFiles(contents: contents), AppImportOptions())
    }

    private func schema(_ title: String, _ properties: String) -> String {
        #"{"title":"\#(title)","bsonType":"object","required":["_id"],"properties":{\#(properties)}}"#
    }

    private static let id = #""_id":{"bsonType":"objectId"}"#

    @Test("Byte order marks and line breaks of Windows are read")
    func byteOrderMark() {
        let files = [
            "data_sources/mongodb-atlas/config.json": #"{"name":"mongodb-atlas"}"#,
            "data_sources/mongodb-atlas/d/Item List/schema.json": schema("Item", Self.id),
        ]
        let marked = files.mapValues { "\u{feff}" + $0.replacing(",", with: ",\r\n") }
        let app = run(marked)
        #expect(app.findings.exitStatus == 0, "\(app.findings.all)")
        #expect(app.content("shop-abcde.map.yaml")?.contains("\"d.Item List\": Item") == true)
    }

    @Test("The folder of the synced service may have another name than the service")
    func renamedFolder() {
        let app = run([
            "data_sources/Cluster0/config.json":
                #"{"name":"mongodb-atlas","type":"mongodb-atlas"}"#,
            "data_sources/Cluster0/d/item/schema.json": schema("Item", Self.id),
            "data_sources/Cluster0/d/item/relationships.json": "{}",
        ])
        #expect(app.content("shop-abcde.map.yaml")?.contains("d.item: Item") == true)
        #expect(app.places("import.not_imported").isEmpty)
    }

    @Test("An export without any class is not taken for a whole one in silence")
    func noClasses() {
        let app = run(["data_sources/mongodb-atlas/config.json": #"{"name":"mongodb-atlas"}"#])
        let warning = app.findings.all.first { $0.code == "import.no_class" }
        #expect(warning?.severity == .warning)
    }

    @Test(
        "Names that the server would refuse are refused here",
        arguments: [
            (#"Nul\u0000"#, #""a":{"bsonType":"string"}"#, "control characters"),
            ("Item", #""tab\tname":{"bsonType":"string"}"#, "control characters"),
            ("Item", #""":{"bsonType":"string"}"#, "is empty"),
            (
                "Item", #""e":{"bsonType":"object","title":"E\n","properties":{"a":{}}}"#,
                "control characters"
            ),
        ]
    )
    func badNames(title: String, property: String, problem: String) {
        let app = run([
            "data_sources/mongodb-atlas/config.json": #"{"name":"mongodb-atlas"}"#,
            "data_sources/mongodb-atlas/d/item/schema.json":
                schema(title, "\(Self.id),\(property)"),
        ])
        #expect(app.findings.exitStatus == 2)
        #expect(app.places("import.bad_name").contains { $0.contains(problem) })
    }
}
