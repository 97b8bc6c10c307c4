import BSON
import Changesets
import JSON
import Migration
import Scopes
import ServerMigration
import ServerStore
import TestSupport
import Testing

@Suite(
    "Data of exports",
    .enabled(if: Vectors.areRequiredOrPresent, "the golden vectors are not here")
)
struct DataImportVectorTests {
    @Test(
        "Each form gives the expected counts and unsynced documents",
        arguments: MigrationWorld.apps.keys.sorted()
    )
    func counts(folder: String) async throws {
        let expected = try JSONTree(
            parsing: Vectors.bytes(of: "migration/expected/\(folder).report.json")
        )
        let lines = try Vectors.bytes(of: "migration/expected/\(folder).unsynced.json")
            .split(separator: UInt8(ascii: "\n"))
        let unsynced = try lines.map { try JSONTree(parsing: Array($0)) }
        var stores: [[String: String]] = []
        for form in MigrationWorld.forms {
            let world = try await MigrationWorld(folder)
            let (report, found) = try await world.load(try world.files(form))
            let made = try JSONTree(parsing: report.json.json())
            for member in expected.members ?? [] {
                for count in member.value.members ?? [] where count.name != "constraint" {
                    // Values are not checked against rules of the JSON schema (moving an app, 2).
                    let value = made[member.name.description]?[count.name.description]
                    let place = "\(form) \(member.name) \(count.name)"
                    guard let wanted = count.value.members else {
                        #expect(value == count.value, "\(place)")
                        continue
                    }
                    #expect(Set(value?.members ?? []) == Set(wanted), "\(place)")
                }
            }
            #expect(made.members?.count == expected.members?.count, "\(form)")
            let foundTrees = try found.map { try JSONTree(parsing: Array($0.utf8)) }
            for wanted in unsynced {
                let isThere = foundTrees.contains { line in
                    (wanted.members ?? []).allSatisfy { line[$0.name.description] == $0.value }
                }
                #expect(isThere, "\(form) \(wanted)")
            }
            #expect(foundTrees.count == unsynced.count, "\(form)")
            #expect(report.exitStatus == (unsynced.isEmpty ? 0 : 1))
            stores.append(try await world.contents())
        }
        #expect(stores.allSatisfy { $0 == stores[0] })
        #expect(!stores[0].isEmpty)
        print(
            "data vectors: \(folder), \(MigrationWorld.forms.count) forms, \(stores[0].count) objects"
        )
    }

    @Test("Again without changes writes nothing", arguments: MigrationWorld.apps.keys.sorted())
    func again(folder: String) async throws {
        let world = try await MigrationWorld(folder)
        let first = try await world.load(try world.files("dump"))
        let contents = try await world.contents()
        let versions = try await world.versions()
        #expect(first.report.changes == contents.count)
        for form in ["NAME.archive", "canonical"] {
            let again = try await world.load(try world.files(form))
            #expect(again.report.changes == 0)
            #expect(again.report.json == first.report.json)
        }
        #expect(try await world.contents() == contents)
        #expect(try await world.versions() == versions)
    }

    @Test("A dry run writes nothing, and says the same but for links")
    func dryRun() async throws {
        let world = try await MigrationWorld("toolshed")
        var options = DataImport.Options()
        options.isDryRun = true
        let dry = try await world.load(try world.files("dump"), options)
        #expect(try await world.contents().isEmpty)
        let wet = try await world.load(try world.files("dump"))
        #expect(dry.report.classes["Tool"]?.stored == wet.report.classes["Tool"]?.stored)
        #expect(dry.unsynced == wet.unsynced)
    }

    private static let first = ObjectReference(
        className: "Tool",
        key: .objectID(ObjectID("000000000000000000000001") ?? .zero)
    )

    private func altered(_ world: MigrationWorld, _ old: String, _ new: String) throws
        -> [SourceFile]
    {
        let folder = try TemporaryDirectory()
        let path = "\(folder.path)/tools.json"
        let text = String(
            decoding: try Vectors.bytes(of: "migration/data/toolshed/canonical/tools.json"),
            as: UTF8.self
        )
        let lines = text.split(separator: "\n").prefix(1).map { $0.replacing(old, with: new) }
        try Files.write(lines.joined(separator: "\n") + "\n", to: path)
        Files.keep(folder)
        return try SourceFiles.find("lending.tools=\(path)")
    }

    @Test("Changed by a client: kept; by the source: updated; by both: kept, unless told otherwise")
    func changes() async throws {
        let world = try await MigrationWorld("toolshed")
        _ = try await world.load(try world.files("dump"))
        let partition = Partition.string("public")

        let updated = try await world.load(try altered(world, "Tool 1\"", "Tool one\""))
        #expect(updated.report.classes["Tool"]?.updated == 1)
        #expect(try await text(of: Self.first, in: partition, world).contains("Tool one"))

        try await world.overwrite(Self.first, in: partition, replacing: "Tool one", with: "Client")
        let same = try await world.load(try altered(world, "Tool 1\"", "Tool one\""))
        #expect(same.report.changes == 0)
        let both = try await world.load(try altered(world, "Tool 1\"", "Tool uno\""))
        #expect(both.report.classes["Tool"]?.kept == 1)
        #expect(try await text(of: Self.first, in: partition, world).contains("Client"))

        var options = DataImport.Options()
        options.overwrites = true
        let over = try await world.load(try altered(world, "Tool 1\"", "Tool uno\""), options)
        #expect(over.report.classes["Tool"]?.updated == 1)
        #expect(try await text(of: Self.first, in: partition, world).contains("Tool uno"))
    }

    @Test("An object whose partition changed moves")
    func moving() async throws {
        let world = try await MigrationWorld("toolshed")
        _ = try await world.load(try world.files("dump"))
        let moved = try await world.load(try altered(world, "\"public\"", "\"elsewhere\""))
        #expect(moved.report.classes["Tool"]?.moved == 1)
        let contents = try await world.contents()
        #expect(
            contents.keys.filter { $0.contains("000000000000000000000001") && $0.contains("Tool") }
                .count == 1
        )
        #expect(!(try await text(of: Self.first, in: .string("elsewhere"), world)).isEmpty)
    }

    @Test("What the source lost stays, or goes if asked for, unless a client changed it")
    func missing() async throws {
        let world = try await MigrationWorld("toolshed")
        _ = try await world.load(try world.files("dump"))
        let count = try await world.contents().count
        let one = try altered(world, "Tool 1\"", "Tool 1\"")
        _ = try await world.load(one)
        #expect(try await world.contents().count == count)

        let changed = ObjectReference(
            className: "Tool",
            key: .objectID(ObjectID("000000000000000000000002") ?? .zero)
        )
        try await world.overwrite(
            changed,
            in: .string("public"),
            replacing: "Tool 2",
            with: "Client"
        )
        var options = DataImport.Options()
        options.deletesMissing = true
        let report = try await world.load(one, options).report
        // Of 19 tools one is in the source, and one was changed.
        #expect(report.classes["Tool"]?.removed == 17)
        #expect(!(try await text(of: changed, in: .string("public"), world)).isEmpty)
    }

    @Test("Of two documents with one id the later wins")
    func repeated() async throws {
        let world = try await MigrationWorld("toolshed")
        let files =
            try altered(world, "Tool 1\"", "Early\"")
            + altered(world, "Tool 1\"", "Late\"")
        let report = try await world.load(files).report
        #expect(report.classes["Tool"]?.read == 2)
        #expect(report.classes["Tool"]?.stored == 1)
        #expect(report.classes["Tool"]?.repeated == 1)
        #expect(try await text(of: Self.first, in: .string("public"), world).contains("Late"))
    }

    @Test("Strictly, a value of another type is not stored")
    func strict() async throws {
        let world = try await MigrationWorld("toolshed", isStrict: true)
        let report = try await world.load(try world.files("dump")).report
        #expect(report.classes["Tool"]?.counts.converted == 0)
        #expect(report.classes["Tool"]?.stored == 17)
    }

    private func text(
        of object: ObjectReference,
        in partition: Partition,
        _ world: MigrationWorld
    ) async throws -> String {
        let app = world.app
        return try await world.store.read { snapshot in
            guard let file = try snapshot.file(of: app, partition) else { return "" }
            let json = try snapshot.document(object, in: file.id)
            return json.map { String(decoding: $0, as: UTF8.self) } ?? ""
        }
    }

    // MARK: Damage

    @Test(
        "Damaged sources are reported, and what came before is loaded",
        arguments: [
            "truncated.bson", "length.bson", "huge.bson", "type.bson", "crc.archive",
            "cut.archive",
        ]
    )
    func damaged(name: String) async throws {
        let world = try await MigrationWorld("toolshed")
        let path = Vectors.place(of: "migration/bad/\(name)")
        let text = name.hasSuffix(".bson") ? "lending.tools=\(path)" : path
        let report = try await world.load(try SourceFiles.find(text)).report
        #expect(report.isDamaged)
        #expect(report.exitStatus == 1)
        #expect(report.findings.count == 1)
    }

    @Test("Bad lines are left out, and the next one is read")
    func badLines() async throws {
        let world = try await MigrationWorld("toolshed")
        let path = Vectors.place(of: "migration/bad/lines.json")
        let (report, unsynced) = try await world.load(
            try SourceFiles.find("lending.members=\(path)")
        )
        #expect(report.classes["Member"]?.read == 8)
        #expect(report.classes["Member"]?.stored == 1)
        #expect(unsynced.count == 7)
        #expect(unsynced.allSatisfy { $0.contains("unreadable") })
    }

    @Test("Deep documents, and text that is not UTF-8, do no harm")
    func strange() async throws {
        let world = try await MigrationWorld("toolshed")
        for name in ["deep.bson", "utf8.bson"] {
            let path = Vectors.place(of: "migration/bad/\(name)")
            let report = try await world.load(try SourceFiles.find("lending.tools=\(path)")).report
            #expect(report.classes["Tool"]?.unsynced == 1, "\(name)")
        }
    }

    @Test("A source of no known form is not read", arguments: ["magic.archive", "nothing.json"])
    func unknown(name: String) async throws {
        let world = try await MigrationWorld("toolshed")
        let error = await #expect(throws: MigrationFailure.self) {
            let path = Vectors.place(of: "migration/bad/\(name)")
            _ = try await world.load(try SourceFiles.find(path))
        }
        #expect(error?.code == "import.bad_source")
        #expect(error?.exitStatus == 2)
    }

    @Test("Altered archives are read or reported, and never trap", arguments: 0..<8)
    func fuzzing(seed: UInt64) async throws {
        var random = SplitMix64(seed: seed)
        let name = seed % 2 == 0 ? "toolshed.archive" : "toolshed.archive.gz"
        let good = try Vectors.bytes(of: "migration/data/toolshed/\(name)")
        let folder = try TemporaryDirectory()
        let path = "\(folder.path)/\(name)"
        let world = try await MigrationWorld("toolshed")
        for _ in 0..<40 {
            var bytes = good
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let place = Int.random(in: bytes.indices, using: &random)
                bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            }
            try Files.write(bytes, to: path)
            _ = try? await world.load(try SourceFiles.find(path))
        }
        Files.keep(folder)
    }

    @Test(
        "Sources that are cut off, or altered, are read or reported, and never trap",
        arguments: [
            "toolshed.archive", "toolshed.archive.gz", "dump/lending/tools.bson",
            "dump-gz/lending/tools.bson.gz", "canonical/tools.json",
        ]
    )
    func cutOff(name: String) async throws {
        let good = try Vectors.bytes(of: "migration/data/toolshed/\(name)")
        let folder = try TemporaryDirectory()
        let world = try await MigrationWorld("toolshed")
        var options = DataImport.Options()
        options.isDryRun = true
        let path = "\(folder.path)/source"
        let text = name.contains("archive") ? path : "lending.tools=\(path)"
        var random = SplitMix64(seed: UInt64(good.count))
        var outcomes = (whole: 0, reported: 0, refused: 0)
        func read(_ bytes: [UInt8]) async throws {
            try Files.write(bytes, to: path)
            do {
                let result = try await world.load(try SourceFiles.find(text), options)
                let hasFindings = result.report.isDamaged || !result.unsynced.isEmpty
                outcomes.whole += hasFindings ? 0 : 1
                outcomes.reported += hasFindings ? 1 : 0
            } catch is MigrationFailure {
                outcomes.refused += 1
            }
        }
        for length in stride(from: 0, to: good.count, by: max(1, good.count / 200)) {
            try await read(Array(good[..<length]))
        }
        // Cut off before its end, no form but lines of JSON reads as whole.
        if !name.hasSuffix(".json") { #expect(outcomes.whole <= 10, "\(outcomes)") }
        for _ in 0..<200 {
            var bytes = good
            let place = Int.random(in: bytes.indices, using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
            case 1: bytes.remove(at: place)
            case 2: bytes.insert(UInt8.random(in: 0...255, using: &random), at: place)
            default:
                let end = min(bytes.count, place + Int.random(in: 1...64, using: &random))
                bytes.replaceSubrange(place..<end, with: repeatElement(0xff, count: end - place))
            }
            try await read(bytes)
        }
        #expect(outcomes.reported + outcomes.refused > 100, "\(outcomes)")
        Files.keep(folder)
    }

    // MARK: Verification

    @Test("Verification finds an altered value, a missing object and an extra one")
    func verify() async throws {
        let world = try await MigrationWorld("toolshed")
        _ = try await world.load(try world.files("dump"))
        let verify = ImportVerify(world.store, world.target)
        let clean = try await verify.run(try world.files("NAME.archive.gz"))
        #expect(clean.exitStatus == 0)
        let count = try await world.contents().count
        #expect(clean.classes.values.reduce(0) { $0 + $1.equal } == count)

        // As if the import had written it.
        let app = world.app
        try await world.overwrite(
            Self.first,
            in: .string("public"),
            replacing: "Tool 1\"",
            with: "Tool X\""
        )
        let altered = try await verify.run(try world.files("dump"))
        #expect(altered.classes["Tool"]?.changedSince == 1)
        #expect(altered.exitStatus == 0)
        try await world.store.write(.app(app)) { transaction in
            guard let file = try transaction.file(of: app, .string("public")) else { return }
            try transaction.put(nil, of: Self.first, in: app)
            let other = ObjectReference(className: "Member", key: .string("ann"))
            guard let json = try transaction.document(other, in: file.id) else { return }
            try transaction.removeDocument(other, in: file.id)
            let extra = ObjectReference(className: "Member", key: .string("zed"))
            try transaction.putDocument(json, of: extra, in: file.id)
        }
        let broken = try await verify.run(try world.files("dump"))
        #expect(broken.classes["Tool"]?.differ == 1)
        #expect(broken.classes["Member"]?.missing == 1)
        #expect(broken.classes["Member"]?.extra == 1)
        #expect(broken.exitStatus == 1)
        #expect(broken.differences.contains { $0.className == "Tool" && $0.place == "name" })
    }
}
