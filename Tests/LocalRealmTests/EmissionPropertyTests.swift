import Changesets
import Documents
import FoundationEssentials
import LocalRealm
import SQLite
import Schemas
import TestSupport
import Testing
import Versions

/// How many seeds a property is tried with; `REALM_SEEDS` asks for more.
enum Seeds {
    static func some(_ count: UInt64) -> Range<UInt64> {
        let wanted = ProcessInfo.processInfo.environment["REALM_SEEDS"].flatMap(UInt64.init)
        return 0..<(wanted ?? count)
    }
}

@Suite("Whatever programs write, what is sent says the same")
struct EmissionPropertyTests {
    /// Runs random transactions on a realm; drains now and then, sometimes several groups at once.
    private func run(
        _ world: inout RandomWorld,
        _ fixture: RealmFixture,
        rounds: Int
    ) throws {
        let program = try fixture.connect()
        for _ in 0..<rounds {
            for statement in world.transaction() {
                // Many break a constraint, on purpose.
                try? program.execute(statement)
            }
            if world.chance(30) {
                // As if time had passed before the next transaction.
                try program.execute("UPDATE _realm_capture SET at = at - 60000")
            }
            if world.chance(30) { _ = try fixture.realm.drain() }
        }
        _ = try fixture.realm.drain()
    }

    @Test("Emitted changesets, applied to an empty realm, give the rows of the tables")
    func emission() throws {
        for seed in Seeds.some(60) {
            var world = RandomWorld(seed: seed)
            let fixture = try RealmFixture(world.schema)
            try run(&world, fixture, rounds: 20)
            var model = InMemoryRealm()
            for entry in try fixture.history() {
                try model.apply(entry.changeset)
            }
            let tables = try TableContents(world.schema, fixture.connect())
            #expect(TableContents(model) == tables, "seed \(seed)")
            #expect(model.schema.conflicts(withDeclared: world.schema).isEmpty, "seed \(seed)")
            #expect(try fixture.captured() == [], "seed \(seed)")
            #expect(try fixture.rows("SELECT * FROM _realm_issue") == [], "seed \(seed)")
        }
    }

    @Test("and so they do in the tables of another realm, in one batch or one by one")
    func integration() throws {
        for seed in Seeds.some(40) {
            var world = RandomWorld(seed: seed)
            let fixture = try RealmFixture(world.schema)
            try run(&world, fixture, rounds: 15)
            let other = try RealmFixture(world.chance(50) ? world.schema : nil)
            let history = try fixture.history()
            let downloads = history.enumerated().map { index, entry in
                RealmFixture.download(UInt64(index + 1), entry.changeset.encoded())
            }
            if world.chance(50) {
                try other.receive(upTo: UInt64(downloads.count), downloads)
            } else {
                for download in downloads {
                    try other.receive(
                        upTo: download.cursor.serverVersion.rawValue,
                        [download]
                    )
                }
            }
            let expected = try TableContents(world.schema, fixture.connect())
            let received = try TableContents(world.schema, other.connect())
            #expect(received == expected, "seed \(seed)")
            #expect(try other.captured() == [], "seed \(seed)")
        }
    }

    @Test(
        "After each group another replica is where the rows were then, as long as none is deleted"
    )
    func intermediateStates() throws {
        for seed in Seeds.some(40) {
            var world = RandomWorld(seed: seed)
            let fixture = try RealmFixture(world.schema)
            _ = try fixture.realm.drain()
            let program = try fixture.connect()
            var states: [Int64: TableContents] = [:]
            for group in 0..<Int64(12) {
                let last = try program.integer("SELECT max(seq) FROM _realm_capture") ?? 0
                for _ in 0..<4 {
                    try? program.execute(world.statementThatKeepsObjects())
                }
                let at = RealmFixture.instant + (group + 1) * 60_000
                try program.run(
                    "UPDATE _realm_capture SET at = ? WHERE seq > ?",
                    [.integer(at), .integer(last)]
                )
                let stamp = at - OriginTimestamp.epochOffsetInMilliseconds
                states[stamp] = try TableContents(world.schema, program)
            }
            _ = try fixture.realm.drain()
            var model = InMemoryRealm()
            for entry in try fixture.history() {
                try model.apply(entry.changeset)
                guard let expected = states[entry.timestamp] else { continue }
                #expect(TableContents(model) == expected, "seed \(seed)")
            }
            #expect(TableContents(model) == states.max { $0.key < $1.key }?.value, "seed \(seed)")
        }
    }
}
