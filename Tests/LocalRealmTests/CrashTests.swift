import Changesets
import FaultInjection
import Glibc
import LocalRealm
import SQLite
import Schemas
import TestSupport
import Testing
import Versions

/// The three operations that write most, each on a realm with just enough data.
enum CrashScenario: Int, CaseIterable, Codable {
    case drain
    case integrate
    case schemaChange

    static let declared = RealmSchema([
        ClassSchema(
            name: "Note",
            kind: .topLevel(.int),
            properties: [
                .init(name: "text", type: .string, isNullable: false),
                .init(name: "next", type: .link(target: "Note"), isNullable: true),
                .init(name: "tags", type: .string, isNullable: false, collection: .list),
                .init(name: "place", type: .link(target: "Place"), isNullable: true),
            ]
        ),
        ClassSchema(name: "Label", kind: .topLevel(.string)),
        ClassSchema(
            name: "Place",
            kind: .embedded,
            properties: [.init(name: "x", type: .double, isNullable: false)]
        ),
    ])

    /// A default of an existing column, which only an edit of the table's definition can change.
    static let options: [PropertyName: PropertyOptions] = [
        .init(className: "Note", property: "text"): .init(defaultValue: .string("empty"))
    ]

    /// Makes a realm with synced rows, and local writes waiting in the log.
    static func prepare(_ path: String) throws {
        let realm = try RealmFixture.open(path, .notes)
        defer { realm.close() }
        _ = try realm.drain()
        try realm.storeFileIdent(SaltedFileIdent(ident: FileIdent(2), salt: Salt(9)))
        let program = try Connection(path: path)
        try program.execute("INSERT INTO Note VALUES (1, 'one'), (2, 'two'), (3, 'three')")
        _ = try realm.drain()
        try program.execute(
            "UPDATE Note SET text = 'changed' WHERE _id = 1; DELETE FROM Note WHERE _id = 3"
        )
    }

    /// Opens the realm through a file layer, and does the work; the layer is armed in between.
    func run(_ path: String, vfs: String?, armed: () -> Void) throws(LocalRealmError) {
        if self == .schemaChange { armed() }
        let isChange = self == .schemaChange
        let realm = try RealmFixture.open(
            path,
            isChange ? Self.declared : .notes,
            options: isChange ? Self.options : [:],
            vfs: vfs
        )
        defer { realm.close() }
        if self != .schemaChange { armed() }
        try work(realm)
    }

    /// The required state once the work has been done, even after several attempts.
    func check(_ path: String, _ comment: Comment) throws {
        let connection = try Connection(path: path)
        func rows(_ sql: String) throws -> [[SQLiteValue]] { try connection.rows(sql) }
        #expect(try rows("PRAGMA integrity_check") == [["ok"]], comment)
        #expect(try rows("SELECT * FROM _realm_capture") == [], comment)
        let history = try rows(
            "SELECT changeset FROM _realm_history WHERE size > 0 ORDER BY version"
        ).map { row in
            guard case .blob(let bytes) = row[0] else { return [""] }
            return ChangesetText.lines(try Changeset(decoding: bytes))
        }
        let local = ["Note 1: text = \"changed\"", "EraseObject Note 3"]
        let notes = try rows("SELECT _id, text FROM Note ORDER BY _id")
        switch self {
        case .drain:
            #expect(history.last == local, comment)
            #expect(notes == [[1, "changed"], [2, "two"]], comment)
        case .schemaChange:
            let schema = [
                "AddTable Label _id string", "AddTable Place embedded",
                "AddColumn Note.next link? Note", "AddColumn Note.tags string",
                "AddColumn Note.place link? Place", "AddColumn Place.x double",
            ]
            #expect(history.last == schema + local, comment)
            #expect(
                try rows("SELECT next, tags, place FROM Note") == [
                    [nil, "[]", nil], [nil, "[]", nil],
                ],
                comment
            )
            let defaults = "SELECT dflt_value FROM pragma_table_info('Note') WHERE name = 'text'"
            #expect(try rows(defaults) == [["'empty'"]], comment)
            #expect(try rows("SELECT * FROM Label") == [], comment)
        case .integrate:
            #expect(history.last == local, comment)
            #expect(notes == [[1, "theirs"], [2, "two"], [10, ""], [20, ""]], comment)
        }
        #expect(history.flatMap { $0 }.filter { $0 == local[0] }.count == 1, comment)
    }
}

@Suite("Crashes and failing disks")
struct CrashTests {
    let directory: TemporaryDirectory
    let path: String

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.file("stock.sqlite")
    }

    /// The number of file changes that the work makes when nothing fails.
    private func changeCount(_ scenario: CrashScenario) throws -> Int {
        let path = directory.file("count.sqlite")
        try CrashScenario.prepare(path)
        let files = FaultyFiles()
        try scenario.run(path, vfs: files.name) { files.heal() }
        try scenario.check(path, "without a fault")
        return files.changes
    }

    @Test("Without a fault", arguments: CrashScenario.allCases)
    func faultless(scenario: CrashScenario) throws {
        #expect(try changeCount(scenario) > 5)
    }

    @Test(
        "A process killed at any write leaves a file that continues normally",
        arguments: CrashScenario.allCases
    )
    func kill(scenario: CrashScenario) async throws {
        let count = try changeCount(scenario)
        var random = SplitMix64(seed: UInt64(scenario.rawValue))
        let changes = (1...count).shuffled(using: &random).prefix(Seeds.some(4).count)
        for change in changes {
            let path = directory.file("\(change).sqlite")
            try CrashScenario.prepare(path)
            let isTorn = change.isMultiple(of: 2)
            await #expect(processExitsWith: .signal(SIGKILL)) {
                [
                    path = path as String, scenario = scenario as CrashScenario,
                    change = change as Int, isTorn = isTorn as Bool
                ] in
                let files = FaultyFiles()
                try scenario.run(path, vfs: files.name) {
                    files.arm(isTorn ? .tornKill : .kill, at: change)
                }
            }
            try scenario.run(path, vfs: nil) {}
            try scenario.check(path, "killed at change \(change)")
        }
    }

    @Test(
        "The same for every single write, with a file layer that freezes instead",
        arguments: CrashScenario.allCases
    )
    func freeze(scenario: CrashScenario) throws {
        for change in 1...(try changeCount(scenario)) {
            let path = directory.file("frozen-\(change).sqlite")
            try CrashScenario.prepare(path)
            let files = FaultyFiles()
            // If only the closing failed, the work was done.
            try? scenario.run(path, vfs: files.name) { files.arm(.freeze, at: change) }
            try scenario.run(path, vfs: nil) {}
            try scenario.check(path, "frozen at change \(change)")
        }
    }

    @Test(
        "A full or failing disk is reported as such, and the same call succeeds afterwards",
        arguments: [CrashScenario.drain, .integrate]
    )
    func failures(scenario: CrashScenario) throws {
        for fault in [FaultyFiles.Fault.diskFull, .shortWrite, .error] {
            var change = 0
            var isReached = true
            while isReached {
                change += 1
                let path = directory.file("\(fault)-\(change).sqlite")
                try CrashScenario.prepare(path)
                let files = FaultyFiles()
                let realm = try RealmFixture.open(path, .notes, vfs: files.name)
                let before = realm.status
                files.arm(fault, at: change)
                do throws(LocalRealmError) {
                    try scenario.work(realm)
                    isReached = files.changes >= change
                } catch {
                    #expect([.diskFull, .inputOutput].contains(error.kind), "\(error)")
                    #expect(error.isTransient)
                    #expect(realm.status == before)
                }
                files.heal()
                try scenario.work(realm)
                realm.close()
                try scenario.check(path, "\(fault) at change \(change)")
            }
        }
    }

    @Test("A schema change that meets a full or failing disk is reported, and succeeds afterwards")
    func schemaChangeFailures() throws {
        for fault in [FaultyFiles.Fault.diskFull, .shortWrite, .error] {
            var change = 0
            var isReached = true
            while isReached {
                change += 1
                let path = directory.file("schema-\(fault)-\(change).sqlite")
                try CrashScenario.prepare(path)
                let files = FaultyFiles()
                do throws(LocalRealmError) {
                    try CrashScenario.schemaChange.run(path, vfs: files.name) {
                        files.arm(fault, at: change)
                    }
                    isReached = files.changes >= change
                } catch {
                    #expect([.diskFull, .inputOutput].contains(error.kind), "\(error)")
                    #expect(error.isTransient)
                }
                try CrashScenario.schemaChange.run(path, vfs: nil) {}
                try CrashScenario.schemaChange.check(path, "\(fault) at change \(change)")
            }
        }
    }

    @Test(
        "A realm that crashes repeatedly still ends with the rows of all others",
        arguments: [RandomWorld.Model.scalars, .convergent]
    )
    func dyingRealms(model: RandomWorld.Model) throws {
        for seed in Seeds.some(12) {
            var world = RandomWorld(seed: seed, model)
            let server = ServerModel()
            let mortal = try RealmFixture(world.schema)
            let other = try RealmFixture(world.schema)
            try mortal.realm.storeFileIdent(server.register())
            try other.realm.storeFileIdent(server.register())
            for _ in 0..<12 {
                let files = FaultyFiles()
                try mortal.reopen(world.schema, vfs: files.name) {
                    if world.chance(70) { $0.preparedRows = 1...100_000 }
                }
                files.arm(.freeze, at: Int.random(in: 1...40, using: &world.random))
                for _ in 0..<6 {
                    try world.write(to: world.pick([mortal, other]))
                    try? mortal.exchange(with: server, uploadsOnly: world.chance(30))
                    if world.chance(30) { try other.exchange(with: server) }
                }
            }
            try mortal.reopen(world.schema)
            for _ in 0..<2 {
                try mortal.exchange(with: server)
                try other.exchange(with: server)
            }
            let expected = TableContents(server.state)
            for fixture in [mortal, other] {
                let contents = try TableContents(world.schema, fixture.connect())
                #expect(contents == expected, "seed \(seed)")
                #expect(try fixture.history().isEmpty, "seed \(seed)")
            }
        }
    }
}

extension CrashScenario {
    /// Only the work, on an open realm; nothing is left to do the second time.
    fileprivate func work(_ realm: RealmFile) throws(LocalRealmError) {
        switch self {
        case .drain, .schemaChange:
            _ = try realm.drain()
        case .integrate:
            guard realm.status.progress.download.serverVersion == .zero else { return }
            _ = try realm.integrate(
                Self.downloads,
                progress: RealmFixture.progress(2, downloaded: 3),
                downloadableBytes: 0
            )
        }
    }

    fileprivate static let downloads = (1...2).map { version in
        RealmFixture.download(UInt64(version), after: 3, timestamp: 1 << 60) { writer in
            writer.createObject(.init("Note", Int64(10 * version)))
            writer.update(.init("Note", 1), "text", to: .scalar(.string("theirs")))
        }
    }
}
