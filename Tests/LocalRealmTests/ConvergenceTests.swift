import Changesets
import LocalRealm
import SQLite
import Schemas
import TestSupport
import Testing
import Versions

@Suite("Realms that exchange their changes through a server")
struct ConvergenceTests {
    @Test(
        "have the same rows in the end, and so does the server",
        arguments: [RandomWorld.Model.scalars, .convergent]
    )
    func convergence(model: RandomWorld.Model) throws {
        for seed in Seeds.some(40) {
            var world = RandomWorld(seed: seed, model)
            let server = ServerModel()
            let fixtures = try (0..<3).map { number in
                // One of them learns the schema from the others, another merges in many transactions.
                try RealmFixture(number == 0 ? nil : world.schema) {
                    if number == 2 { $0.mergeLimitInPairs = Int(seed % 10) }
                    if number != 1 { $0.preparedRows = 1...100_000 }
                }
            }
            for fixture in fixtures {
                try fixture.realm.storeFileIdent(server.register())
            }
            try fixtures[1].drainAndUpload(to: server)
            try fixtures[0].download(from: server)

            for _ in 0..<60 {
                let fixture = world.pick(fixtures)
                switch world.pick([0, 0, 0, 1, 2, 2, 3, 4]) {
                case 0:
                    let program = try fixture.connect()
                    for statement in world.transaction() {
                        try? program.execute(statement)
                    }
                case 1: _ = try fixture.realm.drain()
                case 2: try fixture.drainAndUpload(to: server)
                // Writes may wait in the log while this download arrives.
                case 3: try fixture.download(from: server)
                default: try fixture.download(from: server, limit: 1)
                }
            }
            for _ in 0..<2 {
                for fixture in fixtures { try fixture.drainAndUpload(to: server) }
                for fixture in fixtures { try fixture.download(from: server) }
            }

            let expected = TableContents(server.state)
            for (number, fixture) in fixtures.enumerated() {
                let contents = try TableContents(world.schema, fixture.connect())
                #expect(contents == expected, "seed \(seed), realm \(number)")
                let status = fixture.realm.status
                #expect(try fixture.realm.acknowledgedVersion() == status.localVersion)
                #expect(status.uploadedBytes == status.uploadableBytes)
                #expect(try fixture.history().isEmpty)
            }
        }
    }

    @Test("A concurrent write and deletion of an object with links end alike everywhere")
    func deletionMeetsUpdate() throws {
        let server = ServerModel()
        let fixtures = try (0..<2).map { _ in try RealmFixture(DrainTests.schema) }
        for fixture in fixtures {
            try fixture.realm.storeFileIdent(server.register())
        }
        try fixtures[0].connect().execute("INSERT INTO Item(_id) VALUES (1), (2)")
        try fixtures[0].drainAndUpload(to: server)
        try fixtures[1].download(from: server)

        try fixtures[0].connect().execute("UPDATE Item SET name = 'changed', box = 2 WHERE _id = 1")
        try fixtures[1].connect().execute(
            "DELETE FROM Item WHERE _id = 1; UPDATE Item SET box = 1 WHERE _id = 2"
        )
        for _ in 0..<2 {
            for fixture in fixtures {
                try fixture.drainAndUpload(to: server)
                try fixture.download(from: server)
            }
        }
        let rows = try fixtures.map { try $0.rows("SELECT _id, name, box FROM Item") }
        #expect(rows[0] == rows[1])
        #expect(rows[0] == ["2||null"])
    }
}

extension RealmFixture {
    fileprivate func drainAndUpload(to server: ServerModel) throws {
        _ = try realm.drain()
        try upload(to: server)
    }
}
