import Changesets
import FoundationEssentials
import Migration
import SchemaFiles
import Scopes
import ServerFixtures
import ServerMigration
import ServerStore
import TestSupport
import Testing
import Versions

/// An app of the golden exports, imported into a store in memory, or in PostgreSQL with
/// `REALM_TEST_STORE=postgresql`.
struct MigrationWorld {
    var store: any Store
    let app: AppID
    let target: ImportTarget
    let folder: String

    /// The apps with data, by the name of its folder.
    static let apps = [
        "toolshed": "toolshed-partition", "rangers": "rangers-flexible", "ferry": "ferry-legacy",
    ]

    /// The forms of each app's data.
    static let forms = [
        "canonical", "relaxed", "array", "dump", "dump-gz", "NAME.archive", "NAME.archive.gz",
    ]

    init(_ folder: String, isStrict: Bool = false) async throws {
        let export = try ExportDirectory.read(
            Vectors.place(of: "migration/apps/\(try #require(Self.apps[folder]))")
        )
        var survey: CustomDataSurvey?
        if let wanted = AppImport.surveyed(export, AppImportOptions()) {
            survey = try CustomDataSurveyor(
                database: wanted.database,
                collection: wanted.collection,
                partitionKey: wanted.partitionKey
            ).run([Vectors.place(of: "migration/data/\(folder)/dump")])
        }
        try await self.init(export, survey, named: folder, isStrict: isStrict)
    }

    /// An app of another export.
    init(
        _ export: ExportFiles,
        _ survey: CustomDataSurvey? = nil,
        named folder: String,
        isStrict: Bool = false
    ) async throws {
        let imported = AppImport.run(export, AppImportOptions(), customData: survey)
        let id = try #require(imported.appID)
        func content(_ path: String) throws -> [UInt8] {
            let file = imported.files.first { $0.path == path }
            return Array(try #require(file, "\(imported.findings.all)").content.utf8)
        }
        let map = try #require(CollectionMap.parse(try content("\(id).map.yaml"), file: "map").map)
        let schema = SchemaFile.parse(try content("schemas/\(id).yaml"), file: "schema")
        self.folder = folder
        self.app = try #require(AppID(id))
        self.store = try await StoreKind.ofRun.makeStore()
        self.target = try ImportTarget(
            app: app,
            map: map,
            declaration: try #require(schema.declaration),
            isQueryable: map.partition == nil ? { @Sendable _, _ in true } : nil,
            isStrict: isStrict
        )
    }

    func files(_ form: String) throws -> [SourceFile] {
        let name = form.replacing("NAME", with: folder)
        return try SourceFiles.find(Vectors.place(of: "migration/data/\(folder)/\(name)"))
    }

    /// Loads one form of the data; returns the report and the lines of unsynced documents.
    func load(
        _ files: [SourceFile],
        _ options: DataImport.Options = DataImport.Options()
    ) async throws -> (report: DataReport, unsynced: [String]) {
        let lines = Lines()
        let run = DataImport(
            into: store,
            target,
            options,
            now: { 1_700_000_000_000 },
            unsynced: { lines.values.append(String(decoding: $0, as: UTF8.self)) }
        )
        return (try await run.run(files), lines.values)
    }

    private final class Lines {
        var values: [String] = []
    }

    /// Every object, by partition, class and key.
    func contents() async throws -> [String: String] {
        let (app, target) = (app, target)
        return try await store.read { snapshot in
            var contents: [String: String] = [:]
            for file in try snapshot.files(of: app) {
                for name in Set(target.map.classes.values) {
                    try snapshot.forEachDocument(of: name, in: file.id) { key, json in
                        contents["\(file.partition) \(name) \(key)"] =
                            String(decoding: json, as: UTF8.self)
                        return .next
                    }
                }
            }
            return contents
        }
    }

    /// The version of each realm.
    func versions() async throws -> [String: UInt64] {
        let app = app
        return try await store.read { snapshot in
            var versions: [String: UInt64] = [:]
            for file in try snapshot.files(of: app) {
                versions["\(file.partition)"] = file.currentVersion.rawValue
            }
            return versions
        }
    }

    /// Writes an object as a client would.
    func overwrite(
        _ object: ObjectReference,
        in partition: Partition,
        replacing old: String,
        with new: String
    ) async throws {
        let app = app
        try await store.write(.app(app)) { transaction in
            guard let file = try transaction.file(of: app, partition),
                let json = try transaction.document(object, in: file.id)
            else { throw MissingObject() }
            let text = String(decoding: json, as: UTF8.self).replacing(old, with: new)
            try transaction.putDocument(Array(text.utf8), of: object, in: file.id)
        }
    }

    struct MissingObject: Error {}
}
