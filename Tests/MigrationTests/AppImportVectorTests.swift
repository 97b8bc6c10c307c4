import Changesets
import Migration
import Permissions
import Query
import SchemaFiles
import Schemas
import ServerConfig
import ServerStore
import Settings
import TestSupport
import Testing

@Suite(
    "Exports of apps",
    .enabled(if: Vectors.areRequiredOrPresent, "the golden vectors are not here")
)
struct AppImportVectorTests {
    private func schema(_ bytes: [UInt8], _ name: String) throws -> SchemaDeclaration {
        let (declaration, diagnostics) = SchemaFile.parse(bytes, file: name)
        return try #require(declaration, "\(diagnostics)")
    }

    private func configuration(_ text: String) throws -> ServedAppConfiguration {
        let source = ConfigurationSource(file: "app.yaml", bytes: Array(text.utf8))
        let (configuration, diagnostics) = ServerConfigurationReader.read([source])
        return try #require(configuration?.apps.first, "\(diagnostics)\n\(text)")
    }

    private static let surveys: [String: CustomDataSurvey] = [
        "toolshed-partition": CustomDataSurvey(partitions: ["private"], keyType: .objectID),
        "rangers-flexible": CustomDataSurvey(
            fields: ["_id", "uid", "isChief", "district", "deputies"],
            keyType: .objectID
        ),
    ]

    @Test(
        "The schema of each export is the expected one",
        arguments: [
            ("toolshed-partition", "toolshed-qwzkp"), ("rangers-flexible", "rangers-mfexy"),
            ("ferry-legacy", "ferry-bnmlk"),
        ]
    )
    func schemas(folder: String, id: String) throws {
        let app = AppImport.run(
            try ExportFiles(fixture: folder),
            AppImportOptions(),
            customData: Self.surveys[folder]
        )
        let text = try #require(app.content("schemas/\(id).yaml"), "\(app.findings.all)")
        let expected = try schema(
            Vectors.bytes(of: "migration/expected/\(id).schema.yaml"),
            "expected"
        )
        let made = try schema(Array(text.utf8), "made")
        let classes = { (schema: RealmSchema) in Set(schema.classes.map(\.name)) }
        #expect(classes(made.schema) == classes(expected.schema))
        for owner in expected.schema.classes {
            let other = made.schema[owner.name]
            #expect(other?.kind == owner.kind, "\(owner.name)")
            #expect(
                Set(other?.properties ?? []) == Set(owner.properties),
                "\(owner.name)"
            )
        }
        #expect(made.options == expected.options)
    }

    @Test("The configuration of a partition-based app is the expected one")
    func toolshed() throws {
        let files = try ExportFiles(fixture: "toolshed-partition")
        let app = AppImport.run(files, AppImportOptions())
        let text = try #require(app.content("toolshed-qwzkp.yaml"), "\(app.findings.all)")
        let expected = String(
            decoding: try Vectors.bytes(of: "migration/expected/toolshed-qwzkp.yaml"),
            as: UTF8.self
        )
        var wanted = try configuration(expected)
        // Without the data it is not known where custom user data lies.
        wanted.customUserData = nil
        #expect(try configuration(text) == wanted)
        #expect(app.findings.exitStatus == 1)

        let surveyed = AppImport.run(
            files,
            AppImportOptions(),
            customData: Self.surveys["toolshed-partition"]
        )
        let withData = try configuration(try #require(surveyed.content("toolshed-qwzkp.yaml")))
        #expect(withData.customUserData == (try configuration(expected)).customUserData)
        // Access rules know custom user data once it is there.
        #expect(
            withData.access.write?.text
                == "partition == user.id OR partition IN user.custom_data.branches"
        )
    }

    @Test("What a partition-based app loses is in the report, and nothing else is an error")
    func toolshedReport() throws {
        let app = AppImport.run(
            try ExportFiles(fixture: "toolshed-partition"),
            AppImportOptions()
        )
        let codes = Set(app.findings.all.filter { $0.severity == .error }.map(\.code))
        #expect(
            codes == [
                "import.rule_unsupported", "import.provider_unsupported", "import.jwt_claim",
                "import.custom_user_data",
            ]
        )
        let rule = try #require(app.places("import.rule_unsupported").first)
        #expect(rule.contains("sync/config.json partition.permissions.write.$or[1]"))
        #expect(app.places("import.secret").count == 2)
        #expect(
            app.places("import.no_class").contains { $0.contains("lending.audit, lending.scratch") }
        )
        let constraint = try #require(app.places("import.constraint").first)
        for part in ["Tool.name maxLength", "Tool.size enum", "Tool.readings minItems"] {
            #expect(constraint.contains(part))
        }
        #expect(app.places("import.rules_without_effect").count == 1)
        #expect(app.places("import.function").contains { $0.contains("resetByDesk") })
        #expect(app.places("import.function").contains { $0.contains("makePerson") })
        #expect(app.places("import.not_imported").count == 1)
    }

    @Test(
        "Every export that synced gives a configuration that the server reads",
        arguments: [
            "toolshed-partition", "rangers-flexible", "kiosk-oldroles", "ferry-legacy",
            "sandbox-devmode",
        ]
    )
    func readable(folder: String) throws {
        let app = AppImport.run(
            try ExportFiles(fixture: folder),
            AppImportOptions(),
            customData: Self.surveys[folder]
        )
        let id = try #require(app.appID)
        let text = try #require(app.content("\(id).yaml"), "\(app.findings.all)")
        let configuration = try configuration(text)
        #expect(configuration.id.rawValue == id)
        let isPartition = folder == "toolshed-partition" || folder == "ferry-legacy"
        #expect((configuration.flexible == nil) == isPartition)
        let map = try #require(app.content("\(id).map.yaml"))
        let parsed = CollectionMap.parse(Array(map.utf8), file: "map")
        #expect(parsed.map?.app == id, "\(parsed.problems)")
        for file in app.files where file.isProgram {
            #expect(file.content.hasPrefix("#!/bin/sh\n"))
            #expect(file.content.hasSuffix("exit 1\n"))
        }
    }

    @Test("Secrets are in no file", arguments: ["toolshed-partition", "rangers-flexible"])
    func secrets(folder: String) throws {
        let app = AppImport.run(try ExportFiles(fixture: folder), AppImportOptions())
        for file in app.files {
            for secret in ["mailKeySecret", "googleSecret", "1234-abc.apps.example"] {
                #expect(!file.content.contains(secret), "\(file.path)")
            }
        }
    }

    @Test("An app that never synced is not imported", arguments: ["stub-nosync", "half-nosync"])
    func neverSynced(folder: String) throws {
        let app = AppImport.run(try ExportFiles(fixture: folder), AppImportOptions())
        #expect(app.findings.exitStatus == 2)
        #expect(app.places("import.no_sync").count == 1)
        #expect(app.files.isEmpty)
    }

    @Test("Exports in subdirectories are named, and none is chosen")
    func subdirectories() throws {
        let files = ExportFiles(contents: [
            "one/realm_config.json": Array("{}".utf8), "two/root_config.json": Array("{}".utf8),
        ])
        let app = AppImport.run(files, AppImportOptions())
        #expect(app.findings.exitStatus == 2)
        #expect(app.places("import.not_an_export").first?.contains("one, two") == true)
    }

    @Test("Every mistake of an export is reported in one run, and nothing is written")
    func tangle() throws {
        let app = AppImport.run(try ExportFiles(fixture: "tangle-bad"), AppImportOptions())
        #expect(app.findings.exitStatus == 2)
        #expect(app.files.isEmpty)
        let expected: [(code: String, places: [String])] = [
            ("import.syntax", ["auth/providers.json"]), ("import.no_app_id", [""]),
            ("import.bad_partition", ["partition.type"]), ("import.sync_off", ["state"]),
            (
                "import.class_conflict",
                ["one.A, two.A", "Types.g", "Types.e and Types.f differ (a)"]
            ),
            ("import.no_primary_key", ["one.NoId"]), ("import.bad_primary_key", ["one.BadId"]),
            ("import.no_title", ["one.NoTitle"]), ("import.bad_name", ["one.Long"]),
            (
                "import.bad_type",
                ["Types.n ", "Types.r ", "Types.u ", "Types.t ", "Types.nn ", "Types.o "]
            ),
            ("import.bad_relationship", ["Types.many", "Types.lost", "Types.s", "Types.gone"]),
            ("import.plain_reference", ["Types.far"]), ("import.bad_default", ["Types.d"]),
            ("import.required_link", ["Types.l"]),
        ]
        for (code, places) in expected {
            let found = app.places(code)
            for place in places {
                #expect(found.contains { $0.contains(place) }, "\(code) \(place): \(found)")
            }
        }
        print("tangle: \(app.findings.all.count) findings")
    }

    @Test("Roles of before 2023 are the rules of the classes that they name")
    func oldRoles() throws {
        let app = AppImport.run(try ExportFiles(fixture: "kiosk-oldroles"), AppImportOptions())
        let text = try #require(app.content("kiosk-wqhzt.yaml"))
        let roles = try #require(try configuration(text).flexible?.roles.classes)
        let ticket = try #require(roles["Ticket"])
        // Users had no custom data: no user ever had the first role.
        #expect(ticket.map(\.applyWhen) == ["false", nil])
        #expect(ticket.last?.read == .matching("ownerId == $user.id"))
        #expect(ticket.last?.write == .nothing)
        let reply = try #require(roles["Reply"])
        #expect(reply.map(\.applyWhen) == ["user.id == '62babea7438539ea57480001'", nil])
        #expect(reply.map(\.write) == [.all, .matching("ownerId == $user.id")])
    }

    @Test("Roles of a flexible app never allow more than they did")
    func rangers() throws {
        let app = AppImport.run(
            try ExportFiles(fixture: "rangers-flexible"),
            AppImportOptions(),
            customData: Self.surveys["rangers-flexible"]
        )
        let text = try #require(app.content("rangers-mfexy.yaml"), "\(app.findings.all)")
        let flexible = try #require(try configuration(text).flexible)
        let sighting = try #require(flexible.roles.classes["Sighting"])
        #expect(sighting.map(\.name) == ["helper", "nonSync", "byFunction", "shared"])
        #expect(sighting[0].applyWhen == "user.type == 'server'")
        #expect(sighting[0].read == .all)
        #expect(sighting[0].write == .nothing)
        // Without filters a role gave nothing to sync.
        #expect(sighting[1].read == .nothing)
        // A function decided who has it: no user gets past this role.
        #expect(sighting[2].applyWhen == nil)
        #expect(sighting[2].read == .nothing)
        #expect(app.places("import.apply_when_unsupported").count == 1)
        let trail = try #require(flexible.roles.classes["Trail"])
        #expect(trail[0].read == .matching("owner_id == $user.id"), "\(trail)")
        #expect(flexible.roles.classes["Staff"] == [])
        #expect(
            flexible.queryableFields.classes["Sighting"] == [
                "district", "rangerIds", "owner_id", "species", "count",
            ]
        )
        #expect(flexible.indexedField == "district")
    }
}
