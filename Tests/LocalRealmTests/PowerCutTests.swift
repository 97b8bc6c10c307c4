import FaultInjection
import LocalRealm
import SQLite
import TestSupport
import Testing
import Versions

@Suite("Power cuts")
struct PowerCutTests {
    @Test(
        "Uploaded writes are kept and all replicas converge; others may be lost",
        arguments: [RandomWorld.Model.scalars, .convergent]
    )
    func powerCuts(model: RandomWorld.Model) throws {
        for seed in Seeds.some(12) {
            var world = RandomWorld(seed: seed, model)
            let server = ServerModel()
            let mortal = try RealmFixture(world.schema)
            let other = try RealmFixture(world.schema)
            try mortal.realm.storeFileIdent(server.register())
            try other.realm.storeFileIdent(server.register())
            for _ in 0..<8 {
                let files = FaultyFiles()
                try mortal.reopen(world.schema, vfs: files.name)
                for _ in 0..<5 {
                    let program = try mortal.connect(vfs: files.name)
                    try program.execute("PRAGMA synchronous = NORMAL")
                    for statement in world.transaction() { try? program.execute(statement) }
                    if world.chance(40) { try mortal.exchange(with: server) }
                    if world.chance(30) { try mortal.download(from: server) }
                    if world.chance(30) { try other.write(&world, server) }
                }
                if world.chance(50) {
                    files.arm(.freeze, at: world.pick([1, 2, 3, 5, 8, 13]))
                    try? mortal.exchange(with: server)
                } else {
                    // Closing would checkpoint the log into the database, and sync it first.
                    files.arm(.freeze, at: 1)
                }
                mortal.realm.close()
                files.cutPower(survivorsInPercent: world.pick([0, 0, 50, 100]))
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
                #expect(try fixture.rows("PRAGMA integrity_check") == ["ok"], "seed \(seed)")
            }
        }
    }
}
