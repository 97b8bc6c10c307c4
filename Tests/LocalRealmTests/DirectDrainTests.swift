import LocalRealm
import SQLite
import Schemas
import TestSupport
import Testing

@Suite("New objects are sent straight from their rows")
struct DirectDrainTests {
    /// The two drain copies of one file: times and generated keys are the same.
    @Test(
        "with the same changesets, rows and reports as by way of their values",
        arguments: [RandomWorld.Model.scalars, .whole]
    )
    func sameAsByValues(model: RandomWorld.Model) throws {
        var largeGroups = 0
        for seed in Seeds.some(12) {
            var world = RandomWorld(seed: 900 + seed, model)
            let fixture = try RealmFixture(world.schema)
            let program = try fixture.connect()
            for round in 0..<3 {
                try write(&world, program)
                let insertions =
                    try program.integer("SELECT count(*) FROM _realm_capture WHERE prop = 0") ?? 0
                if insertions >= 20 { largeGroups += 1 }
                let other = fixture.directory.file("copy-\(round).sqlite")
                try program.run("VACUUM INTO ?1", [.text(other)])
                let slow = try RealmFixture.open(other, world.schema) {
                    $0.drainsDirectly = false
                }
                let expected = try slow.drain()
                let report = try fixture.realm.drain()
                #expect(report.changesetCount == expected.changesetCount, "seed \(seed)")
                #expect(report.rejected == expected.rejected, "seed \(seed)")
                #expect(
                    try DrainedContents(program, world.schema)
                        == DrainedContents(Connection(path: other), world.schema),
                    "seed \(seed), round \(round)"
                )
                slow.close()
            }
        }
        #expect(largeGroups > 0)
    }

    private func write(_ world: inout RandomWorld, _ program: Connection) throws {
        for _ in 0..<30 {
            for statement in world.transaction() {
                // Many break a constraint, on purpose.
                try? program.execute(statement)
            }
            if world.chance(5) {
                // As if time had passed before the next transaction.
                try program.execute("UPDATE _realm_capture SET at = at - 60000")
            }
        }
        guard world.chance(30) else { return }
        // Values that programs with checks switched off may leave.
        try program.execute("PRAGMA ignore_check_constraints = ON")
        for _ in 0..<5 { try? program.execute(world.transaction().joined(separator: ";")) }
        if program.isInTransaction { try program.execute("COMMIT") }
        try program.execute("PRAGMA ignore_check_constraints = OFF")
    }
}
