import Changesets
import Documents
import FoundationEssentials
import LocalRealm
import SQLite
import Schemas
import TestSupport
import Testing
import Versions

/// The number of seeds for a property; `REALM_SEEDS` raises it.
enum Seeds {
    static func some(_ count: UInt64) -> Range<UInt64> {
        let wanted = ProcessInfo.processInfo.environment["REALM_SEEDS"].flatMap(UInt64.init)
        return 0..<(wanted ?? count)
    }
}

@Suite("Captured changesets match the writes of programs")
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

    @Test(
        "Captured changesets, applied to an empty realm, give the rows of the tables",
        arguments: [RandomWorld.Model.scalars, .whole]
    )
    func emission(model: RandomWorld.Model) throws {
        for seed in Seeds.some(30) {
            var world = RandomWorld(seed: seed, model)
            // Short logs are drained in pieces, too.
            let limit = world.chance(50) ? 3 : 100_000
            let size = world.chance(50) ? 100 : 512 << 10
            let fixture = try RealmFixture(world.schema) {
                $0.drainLimitInRows = limit
                $0.changesetSizeInBytes = size
            }
            try run(&world, fixture, rounds: 20)
            var model = InMemoryRealm()
            for entry in try fixture.history() {
                try model.apply(entry.changeset)
            }
            let tables = try TableContents(world.schema, fixture.connect())
            #expect(TableContents(model) == tables, "seed \(seed)")
            #expect(model.schema.conflicts(withDeclared: world.schema).isEmpty, "seed \(seed)")
            #expect(try fixture.captured() == [], "seed \(seed)")
            #expect(
                try fixture.rows("SELECT value, reason FROM _realm_issue") == [],
                "seed \(seed)"
            )
            #expect(
                try fixture.rows(BacklinkScan.stored)
                    == BacklinkScan.links(in: tables, world.schema),
                "seed \(seed)"
            )
        }
    }

    @Test(
        "and so they do in the tables of another realm, in one batch or one by one",
        arguments: [RandomWorld.Model.scalars, .whole]
    )
    func integration(model: RandomWorld.Model) throws {
        for seed in Seeds.some(20) {
            var world = RandomWorld(seed: seed, model)
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
            #expect(
                try other.rows(BacklinkScan.stored)
                    == BacklinkScan.links(in: received, world.schema),
                "seed \(seed)"
            )
            #expect(try other.captured() == [], "seed \(seed)")
        }
    }

    @Test(
        "After each group another replica has the rows of that time, as long as none is deleted",
        arguments: [RandomWorld.Model.scalars, .whole]
    )
    func intermediateStates(model: RandomWorld.Model) throws {
        for seed in Seeds.some(20) {
            var world = RandomWorld(seed: seed, model)
            let limit = world.chance(50) ? 3 : 100_000
            let fixture = try RealmFixture(world.schema) { $0.drainLimitInRows = limit }
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
            let history = try fixture.history()
            for (index, entry) in history.enumerated() {
                try model.apply(entry.changeset)
                // A group may be several changesets of one stamp.
                let isLast = history[(index + 1)...].first?.timestamp != entry.timestamp
                guard isLast, let expected = states[entry.timestamp] else { continue }
                #expect(TableContents(model) == expected, "seed \(seed)")
            }
            #expect(TableContents(model) == states.max { $0.key < $1.key }?.value, "seed \(seed)")
        }
    }
}

/// The content of `_realm_backlink`, and the expected one.
private enum BacklinkScan {
    /// `Task links to Person 5 in p3`, sorted.
    static let stored = """
        SELECT DISTINCT s.name || '.' || p.name || ' of ' || quote(b.key) || ' to ' || t.name || ' '
          || quote(b.target_key)
        FROM _realm_backlink b JOIN _realm_class s ON s.id = b.class
          JOIN _realm_class t ON t.id = b.target_class JOIN _realm_property p ON p.id = b.prop
        ORDER BY 1
        """

    static func links(in tables: TableContents, _ schema: RealmSchema) -> [String] {
        var lines: Set<String> = []
        for (className, objects) in tables.objects {
            guard let owner = schema[className] else { continue }
            for (key, document) in objects {
                for (property, value) in zip(owner.properties, document.values) {
                    // A link in a column of its own has an index.
                    if property.collection == .single, case .scalar = value,
                        property.type != .mixed
                    {
                        continue
                    }
                    for link in links(in: value) {
                        lines.insert(
                            "\(className).\(property.name) of \(quoted(key)) to "
                                + "\(link.className) \(quoted(link.key))"
                        )
                    }
                }
            }
        }
        return lines.sorted { Array($0.utf8).lexicographicallyPrecedes(Array($1.utf8)) }
    }

    private static func links(in value: Documents.Value) -> [ObjectReference] {
        switch value {
        case .scalar(.link(let link)): [link]
        case .scalar: []
        case .list(let elements): elements.flatMap { links(in: $0) }
        case .set(let set): set.elements.flatMap { links(in: .scalar($0)) }
        case .dictionary(let members): members.values.flatMap { links(in: $0) }
        case .object(let document): document.values.flatMap { links(in: $0) }
        }
    }

    private static func quoted(_ key: ObjectKey) -> String {
        switch key {
        case .null: "X''"
        case .int(let value): "\(value)"
        case .string(let value): "'\(value)'"
        case .objectID(let value): "'\(value)'"
        case .uuid(let value): "'\(value)'"
        case .globalKey(let value): "'\(value.high):\(value.low)'"
        }
    }
}
