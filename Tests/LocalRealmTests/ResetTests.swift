import Changesets
import ClientReset
import Documents
import FaultInjection
import LocalRealm
import SQLite
import Schemas
import TestSupport
import Testing
import Versions

@Suite("Client resets")
struct ResetTests {
    /// A realm with three synced notes.
    private func synchronised(
        _ server: ServerModel,
        _ schema: RealmSchema = .notes
    ) throws -> RealmFixture {
        let fixture = try RealmFixture(schema)
        try fixture.realm.storeFileIdent(server.register())
        try fixture.connect().execute(
            "INSERT INTO Note VALUES (1, 'one'), (2, 'two'), (3, 'three')"
        )
        try fixture.exchange(with: server)
        return fixture
    }

    @Test("Unsynced changes are recovered on top of the server's state, in one transaction")
    func recover() throws {
        let server = ServerModel()
        let fixture = try synchronised(server)
        let other = try RealmFixture(.notes)
        try other.realm.storeFileIdent(server.register())
        try other.exchange(with: server)
        try other.connect().execute(
            "DELETE FROM Note WHERE _id = 2; INSERT INTO Note VALUES (5, 'new')"
        )
        try other.exchange(with: server)

        let program = try fixture.connect()
        try program.execute("UPDATE Note SET text = 'mine' WHERE _id = 1")
        _ = try fixture.realm.drain()
        // These are still in the log.
        try program.execute(
            "UPDATE Note SET text = 'lost' WHERE _id = 2; INSERT INTO Note VALUES (4, 'four')"
        )
        let reader = try fixture.connect()
        try reader.execute("BEGIN")
        #expect(try reader.integer("SELECT count(*) FROM Note") == 4)
        let versionBefore = fixture.realm.status.localVersion

        let report = try fixture.reset(with: server, .recover)

        #expect(
            try reader.integer("SELECT count(*) FROM Note") == 4,
            "an old reader sees the old rows"
        )
        try reader.execute("COMMIT")
        let rows = try fixture.rows("SELECT _id, text FROM Note ORDER BY _id")
        #expect(rows == ["1|mine", "3|three", "4|four", "5|new"])
        #expect(report.discarded.map(\.reason) == [.objectIsGone])
        #expect((report.createdRows, report.updatedRows, report.erasedRows) == (1, 0, 1))
        #expect(try program.integer("SELECT count(*) FROM _realm_capture") == 0)

        let status = fixture.realm.status
        #expect(status.localVersion.rawValue == versionBefore.rawValue + 2)
        #expect(status.progress.download.lastIntegratedClientVersion == .zero)
        #expect(status.progress.upload.clientVersion == .zero)
        let fresh = status.progress.download.serverVersion
        #expect(status.progress.upload.lastIntegratedServerVersion == fresh)
        let batch = try fixture.realm.scanUploads(
            from: status.progress.upload,
            upTo: status.localVersion
        )
        #expect(batch.changesets.count == 2)
        #expect(batch.changesets.allSatisfy { $0.cursor.lastIntegratedServerVersion == fresh })
        #expect(batch.changesets.map(\.bytes.count).reduce(0, +) == Int(status.uploadableBytes))

        try fixture.exchange(with: server)
        try other.exchange(with: server)
        #expect(try other.rows("SELECT _id, text FROM Note ORDER BY _id") == rows)
    }

    @Test(
        "Discarding adopts the server's state, and reports the lost changes as SQL statements"
    )
    func discard() throws {
        let server = ServerModel()
        let fixture = try synchronised(server)
        let program = try fixture.connect()
        try program.execute(
            """
            UPDATE Note SET text = 'it''s mine' WHERE _id = 1;
            DELETE FROM Note WHERE _id = 2;
            INSERT INTO Note VALUES (4, 'four')
            """
        )
        let report = try fixture.reset(with: server, .discard)
        let synced = ["1|one", "2|two", "3|three"]
        #expect(try fixture.rows("SELECT _id, text FROM Note ORDER BY _id") == synced)
        #expect(try fixture.rows("SELECT * FROM _realm_history") == [])
        #expect(fixture.realm.status.uploadableBytes == 0)
        #expect(report.unsynced.map(\.key) == ["4", "1", "2"])
        #expect(report.unsynced.map(\.isDeleted) == [false, false, true])

        for object in report.unsynced { try program.execute(object.sql) }
        let mine = ["1|it's mine", "3|three", "4|four"]
        #expect(try fixture.rows("SELECT _id, text FROM Note ORDER BY _id") == mine)
        #expect(try fixture.realm.drain().changesetCount == 1)
    }

    @Test("A rehearsal gives the same report and changes nothing")
    func rehearse() throws {
        let server = ServerModel()
        let fixture = try synchronised(server)
        try fixture.connect().execute("UPDATE Note SET text = 'mine' WHERE _id = 1")
        _ = try fixture.realm.drain()
        try fixture.downloadFreshCopy(from: server)
        let before = (fixture.realm.status, try fixture.rows("SELECT * FROM Note"))
        let fresh = RealmFile.freshPath(of: fixture.path)
        let rehearsed = try fixture.realm.rehearseReset(to: fresh, .recover)
        #expect(fixture.realm.status == before.0)
        #expect(try fixture.rows("SELECT * FROM Note") == before.1)
        #expect(try fixture.realm.carryOutReset(to: fresh, .recover) == rehearsed)
    }

    @Test(
        "A class or property that the server lacks stops the reset, and the realm stays unchanged"
    )
    func breakingSchema() throws {
        let server = ServerModel()
        let fixture = try synchronised(server)
        try fixture.connect().execute("UPDATE Note SET text = 'mine' WHERE _id = 1")
        let empty = ServerModel()
        try fixture.downloadFreshCopy(from: empty)
        let before = try fixture.rows("SELECT * FROM Note")
        #expect(throws: ResetFailure.classesRemoved(["Note"])) {
            try fixture.realm.carryOutReset(
                to: RealmFile.freshPath(of: fixture.path),
                .discard
            )
        }
        #expect(try fixture.rows("SELECT * FROM Note") == before)
        #expect(try fixture.realm.drain().changesetCount == 1)
    }

    @Test("Classes and properties that only the server has are added")
    func additiveSchema() throws {
        let server = ServerModel()
        let fixture = try synchronised(server)
        let other = try RealmFixture(
            RealmSchema([
                ClassSchema(
                    name: "Note",
                    kind: .topLevel(.int),
                    properties: [
                        PropertySchema(name: "text", type: .string, isNullable: false),
                        PropertySchema(name: "stars", type: .int, isNullable: true),
                    ]
                ),
                ClassSchema(name: "Label", kind: .topLevel(.string)),
            ])
        )
        try other.realm.storeFileIdent(server.register())
        try other.exchange(with: server)
        try other.connect().execute(
            "UPDATE Note SET stars = 5 WHERE _id = 3; INSERT INTO Label VALUES ('red')"
        )
        try other.exchange(with: server)
        try fixture.connect().execute("UPDATE Note SET text = 'mine' WHERE _id = 1")
        _ = try fixture.reset(with: server, .recover)
        #expect(
            try fixture.rows("SELECT _id, text, stars FROM Note ORDER BY _id")
                == ["1|mine|null", "2|two|null", "3|three|5"]
        )
        #expect(try fixture.rows("SELECT * FROM Label") == ["red"])
        // The new column is captured like any other.
        try fixture.connect().execute("UPDATE Note SET stars = 1 WHERE _id = 1")
        #expect(try fixture.realm.drain().changesetCount == 1)
    }

    @Test("The attempt is kept until it is confirmed")
    func attempts() throws {
        let fixture = try RealmFixture(.notes)
        #expect(try fixture.realm.resetAttempt() == nil)
        let cause = ResetCause(action: .clientReset, code: 208, message: "Bad client file ident")
        let attempt = ResetAttempt(
            agentVersion: "1",
            startedAt: 5,
            method: .recover,
            cause: cause,
            crashCount: 1
        )
        try fixture.realm.beginReset(attempt)
        try fixture.reopen(.notes)
        #expect(try fixture.realm.resetAttempt() == attempt)
        try fixture.realm.failReset()
        #expect(try fixture.realm.resetAttempt()?.isSpent == true)
        try fixture.realm.forgetReset()
        #expect(try fixture.realm.resetAttempt() == nil)
    }

    @Test("Collections, embedded objects and links inside JSON follow the server's state")
    func collections() throws {
        let schema = RealmSchema([
            ClassSchema(name: "Item", kind: .topLevel(.int)),
            ClassSchema(
                name: "Part",
                kind: .embedded,
                properties: [
                    PropertySchema(name: "n", type: .int, isNullable: true),
                    PropertySchema(name: "to", type: .link(target: "Item"), isNullable: true),
                ]
            ),
            ClassSchema(
                name: "Box",
                kind: .topLevel(.int),
                properties: [
                    PropertySchema(
                        name: "items",
                        type: .link(target: "Item"),
                        isNullable: false,
                        collection: .list
                    ),
                    PropertySchema(name: "part", type: .link(target: "Part"), isNullable: true),
                    PropertySchema(name: "any", type: .mixed, isNullable: true),
                    PropertySchema(
                        name: "map",
                        type: .int,
                        isNullable: true,
                        collection: .dictionary
                    ),
                ]
            ),
        ])
        let server = ServerModel()
        let fixtures = try (0..<2).map { _ in try RealmFixture(schema) }
        for fixture in fixtures { try fixture.realm.storeFileIdent(server.register()) }
        try fixtures[0].connect().execute(
            """
            INSERT INTO Item VALUES (1), (2), (3);
            INSERT INTO Box(_id, items, part, any, map)
              VALUES (1, '[1,2]', '{"n":1,"to":3}', '[1,{"a":2}]', '{"k":1}'),
                     (2, '[3]', NULL, '{"$link":{"class":"Item","key":1}}', '{}')
            """
        )
        for _ in 0..<2 { for fixture in fixtures { try fixture.exchange(with: server) } }
        try fixtures[1].connect().execute(
            """
            UPDATE Box SET items = '[3,1,2]', part = NULL, map = '{"k":2,"l":3}' WHERE _id = 1;
            DELETE FROM Box WHERE _id = 2;
            """
        )
        try fixtures[1].exchange(with: server)
        try fixtures[0].connect().execute(
            """
            UPDATE Box SET items = '[1,2,3]', part = '{"n":7,"to":3}', map = '{"k":1,"m":4}',
              any = '[1,{"a":5}]' WHERE _id = 1;
            UPDATE Box SET items = '[1]' WHERE _id = 2
            """
        )
        let report = try fixtures[0].reset(with: server, .recover)
        let rows = try fixtures[0].rows("SELECT * FROM Box ORDER BY _id")
        #expect(rows == [#"1|[3,1,3,2]|null|[1,{"a":5}]|{"k":2,"l":3,"m":4}"#])
        #expect(report.discarded.contains { $0.reason == .objectIsGone })
        for _ in 0..<2 { for fixture in fixtures { try fixture.exchange(with: server) } }
        let others = try fixtures[1].rows("SELECT * FROM Box ORDER BY _id")
        #expect(others == rows)
        #expect(try fixtures[0].rows("SELECT * FROM Box ORDER BY _id") == rows)
        let links = "SELECT target_class, target_key, key FROM _realm_backlink ORDER BY 1, 2, 3"
        #expect(try fixtures[0].rows(links) == ["1|1|1", "1|2|1", "1|3|1"])
        #expect(try fixtures[1].rows(links) == ["1|1|1", "1|2|1", "1|3|1"])
    }

    @Test("Realms that are reset at random moments end with the rows that all others have")
    func convergence() throws {
        for seed in Seeds.some(30) {
            var world = RandomWorld(seed: seed)
            let server = ServerModel()
            let fixtures = try (0..<3).map { _ in try RealmFixture(world.schema) }
            for fixture in fixtures {
                try fixture.realm.storeFileIdent(server.register())
                try fixture.exchange(with: server)
            }
            for _ in 0..<40 {
                let fixture = world.pick(fixtures)
                switch world.pick([0, 0, 0, 1, 2, 3]) {
                case 0: try world.write(to: fixture)
                case 1: try fixture.exchange(with: server, uploadsOnly: true)
                case 2: try fixture.exchange(with: server)
                default:
                    let method = world.pick([ResetMethod.recover, .recover, .discard])
                    let report = try fixture.reset(with: server, method)
                    #expect(report.didRecover == (method == .recover))
                }
            }
            for _ in 0..<2 {
                for fixture in fixtures { try fixture.exchange(with: server) }
            }
            let expected = TableContents(server.state)
            for fixture in fixtures {
                let contents = try TableContents(world.schema, fixture.connect())
                #expect(contents == expected, "seed \(seed)")
            }
        }
    }

    @Test(
        "A reset interrupted at any point can be repeated, and nothing is lost or doubled"
    )
    func crashes() throws {
        for method in [ResetMethod.recover, .discard] {
            var change = 0
            var isReached = true
            while isReached {
                change += 1
                isReached = try cutShort(method, at: change)
            }
            #expect(change > 5)
        }
    }

    /// False if the reset was already finished.
    private func cutShort(_ method: ResetMethod, at change: Int) throws -> Bool {
        let server = ServerModel()
        let fixture = try synchronised(server)
        let other = try RealmFixture(.notes)
        try other.realm.storeFileIdent(server.register())
        try other.exchange(with: server)
        try other.connect().execute("DELETE FROM Note WHERE _id = 2")
        try other.exchange(with: server)
        try fixture.connect().execute("INSERT INTO Note VALUES (4, 'four')")
        try fixture.downloadFreshCopy(from: server)

        let files = FaultyFiles()
        try fixture.reopen(.notes, vfs: files.name)
        files.arm([.freeze, .diskFull][change % 2], at: change)
        _ = try? fixture.carryOutReset(method)
        let isReached = files.changes >= change
        files.heal()
        try fixture.reopen(.notes)

        let ident = fixture.realm.status.fileIdent
        if ident == SaltedFileIdent(ident: FileIdent(2), salt: Salt(1)) {
            _ = try fixture.carryOutReset(method)
        }
        let expected = method == .recover ? ["1", "3", "4"] : ["1", "3"]
        #expect(try fixture.rows("SELECT _id FROM Note ORDER BY _id") == expected)
        try fixture.exchange(with: server)
        try other.exchange(with: server)
        #expect(try other.rows("SELECT _id FROM Note ORDER BY _id") == expected, "\(change)")
        #expect(
            fixture.realm.status.fileIdent != SaltedFileIdent(ident: FileIdent(2), salt: Salt(1))
        )
        return isReached
    }
}

extension RealmFixture {
    /// Downloads everything under a new ident, beside the realm.
    func downloadFreshCopy(from server: ServerModel) throws {
        RealmFile.removeFreshCopy(of: path)
        let fresh = try Self.open(RealmFile.freshPath(of: path), nil, clock)
        defer { fresh.close() }
        try fresh.storeFileIdent(server.register())
        let (changesets, progress) = try server.download(
            for: fresh.status.fileIdent.ident,
            after: .zero
        )
        _ = try fresh.integrate(changesets, progress: progress, downloadableBytes: 0)
    }

    func carryOutReset(_ method: ResetMethod) throws -> ResetReport {
        let cause = ResetCause(action: .clientReset, code: 208, message: "Bad client file ident")
        try realm.beginReset(
            ResetAttempt(agentVersion: "1", startedAt: clock.now, method: method, cause: cause)
        )
        return try realm.carryOutReset(to: RealmFile.freshPath(of: path), method)
    }

    func reset(with server: ServerModel, _ method: ResetMethod) throws -> ResetReport {
        try downloadFreshCopy(from: server)
        let report = try carryOutReset(method)
        RealmFile.removeFreshCopy(of: path)
        try realm.forgetReset()
        return report
    }
}
