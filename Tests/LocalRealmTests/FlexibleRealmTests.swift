import Changesets
import ClientReset
import LocalRealm
import SQLite
import Subscriptions
import TestSupport
import Testing
import Versions

@Suite("Realms of flexible sync")
struct FlexibleRealmTests {
    private let fixture: RealmFixture
    private var realm: RealmFile { fixture.realm }

    init() throws {
        fixture = try RealmFixture { $0.owner = .flexible }
        try fixture.realm.beginFlexibleSync()
    }

    private static let all = SubscriptionContent(className: "Note")
    private static let denial =
        "Cannot write to class Note when no flexible sync subscription has been created."

    private func reopen() throws(LocalRealmError) {
        try fixture.reopen { $0.owner = .flexible }
    }

    // MARK: Sets

    @Test("A new file has the empty set; sets and states survive, times and names included")
    func stored() throws {
        #expect(realm.setStates == ["0 complete"])
        try realm.subscribe(
            .add(.init(name: "näme", className: "Note", query: "text == 'x'")),
            .add(Self.all)
        )
        try realm.subscribe(.add(.init(className: "Tag")))
        try realm.failSubscriptions(QueryVersion(1), "no")
        let before = try #require(realm.status.subscriptions)
        try reopen()
        #expect(realm.status.subscriptions == before)
        #expect(realm.setStates == ["0 complete", "1 failed(\"no\")", "2 pending"])
        #expect(before.sets[1].subscriptions.map(\.query) == [#"text == "x""#, "TRUEPREDICATE"])
        #expect(before.sets[1].subscriptions[0].createdAt == RealmFixture.instant)
    }

    @Test("A set remembers the version before it: what was written earlier is uploaded earlier")
    func order() throws {
        try realm.subscribe(.add(Self.all))
        let program = try fixture.connect()
        try program.execute("INSERT INTO Note VALUES (1, 'before', NULL)")
        try realm.subscribe(.add(.init(className: "Tag")))
        let snapshot = try #require(realm.status.subscriptions?.latest.snapshotVersion)
        try program.execute("INSERT INTO Note VALUES (2, 'after', NULL)")
        _ = try realm.drain()
        let versions = try fixture.rows(
            "SELECT version FROM _realm_history WHERE size > 0 ORDER BY version"
        ).compactMap { UInt64($0) }
        #expect(versions.count == 2)
        #expect(versions[0] <= snapshot.rawValue && versions[1] > snapshot.rawValue)
    }

    @Test(
        "An unchanged set is not committed again, unless that is forced; a refusal changes nothing"
    )
    func unchanged() throws {
        try realm.subscribe(.add(Self.all))
        var random = SplitMix64(seed: 3)
        let same = try realm.updateSubscriptions([.put(Self.all)], using: &random)
        #expect(!same.isNew && same.set.version == QueryVersion(1))
        let forced = try realm.updateSubscriptions(
            [.put(Self.all)],
            isForced: true,
            using: &random
        )
        #expect(forced.isNew && forced.set.version == QueryVersion(2))
        #expect(throws: SubscriptionError.self) {
            try realm.subscribe(
                .add(.init(className: "Tag")),
                .add(.init(className: "Note", query: "nothing == 1"))
            )
        }
        #expect(realm.status.subscriptions?.latest == forced.set)
        #expect(throws: SubscriptionError.self) {
            try RealmFixture(.notes).realm.subscribe(.add(Self.all))
        }
    }

    // MARK: Writing without a subscription

    @Test("An INSERT into a class without subscription fails in its statement")
    func denied() throws {
        let program = try fixture.connect()
        let insert = "INSERT INTO Note VALUES (1, 'x', NULL)"
        func refusal(_ sql: String) -> String? {
            do {
                try program.execute(sql)
                return nil
            } catch {
                return error.message
            }
        }
        #expect(refusal(insert) == Self.denial)
        #expect(try fixture.rows("SELECT * FROM _realm_capture") == [])
        // The latest set counts, in any state.
        try realm.subscribe(.add(Self.all))
        #expect(refusal(insert) == nil)
        #expect(refusal("INSERT INTO Tag VALUES (1)")?.contains("class Tag") == true)
        try realm.subscribe(.remove(.all), .add(.init(className: "Tag")))
        #expect(refusal("INSERT INTO Note VALUES (2, 'x', NULL)") == Self.denial)
        #expect(refusal("UPDATE Note SET text = 'y'") == nil)
        #expect(refusal("DELETE FROM Note") == nil)
        #expect(refusal("INSERT INTO Tag VALUES (1)") == nil)
        try reopen()
        #expect(refusal(insert) == Self.denial)
        // Without the trigger nothing is lost: the agent puts it back.
        try program.execute(
            "SELECT 1; PRAGMA writable_schema = OFF; DROP TRIGGER \(try denyTrigger())"
        )
        let report = try realm.drain()
        #expect(report.notices.count == 1 && !report.notices.contains { $0.mayHaveLostWrites })
        #expect(refusal(insert) == Self.denial)
    }

    private func denyTrigger() throws -> String {
        try #require(
            try fixture.rows(
                "SELECT name FROM sqlite_schema WHERE name GLOB '*_deny' ORDER BY name LIMIT 1"
            ).first
        )
    }

    @Test("A class that the server adds later is closed to programs until it has a subscription")
    func learnedLater() throws {
        try realm.subscribe(.add(Self.all))
        try realm.bootstrap(
            QueryVersion(1),
            at: 2,
            [
                RealmFixture.download(2, from: 1) { writer in
                    FlexibleRealm.add("Late", to: &writer)
                }
            ]
        )
        #expect(throws: SQLiteError.self) {
            try fixture.connect().execute("INSERT INTO Late VALUES (1)")
        }
        try realm.subscribe(.add(.init(className: "Late")))
        try fixture.connect().execute("INSERT INTO Late VALUES (1)")
    }

    @Test("A copy that leaves flexible sync takes any object")
    func localCopy() throws {
        let path = fixture.directory.file("local.sqlite")
        _ = try RealmCopy(.local, now: 0).make(from: fixture.path, to: path)
        try Connection(path: path).execute("INSERT INTO Note VALUES (1, 'x', NULL)")
    }

    // MARK: Views

    @Test("Objects leave and enter the view; links to those that left stay, and come back")
    func views() throws {
        let one = try realm.subscribe(.add(Self.all))
        try realm.bootstrap(
            one,
            at: 2,
            [
                FlexibleRealm.entering(1, "one", version: 2),
                FlexibleRealm.entering(2, "two", version: 2),
            ]
        )
        try realm.markDownloadCompleted()
        #expect(realm.setStates == ["1 complete"])
        let program = try fixture.connect()
        try program.execute("UPDATE Note SET next = 2 WHERE _id = 1")
        _ = try realm.drain()
        let written = realm.status.localVersion.rawValue

        let two = try realm.subscribe(.put(.init(className: "Tag")))
        try realm.bootstrap(
            two,
            at: 3,
            after: written,
            [FlexibleRealm.leaving(2, version: 3, after: written)]
        )
        #expect(try fixture.rows("SELECT _id, next FROM Note") == ["1|2"])
        #expect(
            try fixture.rows(
                "SELECT n._id, m.text FROM Note n LEFT JOIN Note m ON m._id = n.next"
            ) == ["1|null"]
        )
        // Nothing of it is a write of this machine.
        let before = realm.status.localVersion
        _ = try realm.drain()
        #expect(realm.status.localVersion == before)
        #expect(try fixture.rows("SELECT * FROM _realm_capture") == [])

        let three = try realm.subscribe(.put(.init(name: "x", className: "Note")))
        try realm.bootstrap(
            three,
            at: 4,
            after: written,
            [FlexibleRealm.entering(2, "again", version: 4, after: written)]
        )
        #expect(
            try fixture.rows(
                "SELECT n._id, m.text FROM Note n JOIN Note m ON m._id = n.next"
            ) == ["1|again"]
        )
    }

    @Test("Unsynced writes survive a bootstrap, except on objects that leave or enter")
    func unsynced() throws {
        let one = try realm.subscribe(.add(Self.all))
        try realm.bootstrap(
            one,
            at: 2,
            (1...3).map { FlexibleRealm.entering($0, "theirs", version: 2) }
        )
        try fixture.connect().execute(
            "UPDATE Note SET text = 'mine'; INSERT INTO Note VALUES (9, 'mine', NULL)"
        )
        let two = try realm.subscribe(.put(.init(className: "Tag")))
        try realm.bootstrap(
            two,
            at: 3,
            [
                FlexibleRealm.leaving(2, version: 3),
                FlexibleRealm.entering(3, "theirs again", version: 3),
            ]
        )
        #expect(
            try fixture.rows("SELECT _id, text FROM Note ORDER BY _id")
                == ["1|mine", "3|theirs again", "9|mine"]
        )
    }

    @Test("Readers see a bootstrap as one change, however many changesets it has")
    func atomic() throws {
        let fixture = try RealmFixture {
            $0.owner = .flexible
            $0.bootstrapBatchInBytes = 1
        }
        try fixture.realm.beginFlexibleSync()
        let one = try fixture.realm.subscribe(.add(Self.all))
        try fixture.realm.stage(
            one,
            at: 2,
            (1...50).map { FlexibleRealm.entering($0, "x", version: 2) }
        )
        let reader = try fixture.connect()
        #expect(try reader.integer("SELECT count(*) FROM Note") == 0)
        try reader.execute("BEGIN")
        #expect(try reader.integer("SELECT count(*) FROM Note") == 0)
        let commits = try commits(of: fixture)
        _ = try fixture.realm.applyBootstrap()
        #expect(try self.commits(of: fixture) == commits + 1)
        #expect(try reader.integer("SELECT count(*) FROM Note") == 0)
        try reader.execute("COMMIT")
        #expect(try reader.integer("SELECT count(*) FROM Note") == 50)
    }

    /// Commits are counted in the log of changes: each ends with a frame that has the size of the file.
    private func commits(of fixture: RealmFixture) throws -> Int {
        let log = try #require(FileContents.bytes(of: fixture.path + "-wal"))
        let page = Int(log[8]) << 24 | Int(log[9]) << 16 | Int(log[10]) << 8 | Int(log[11])
        return stride(from: 32, to: log.count - page, by: 24 + page).count { frame in
            log[frame + 4..<frame + 8].contains { $0 != 0 }
        }
    }

    // MARK: Client resets

    @Test(
        "A client reset completes the active set; pending ones stay only if changes are recovered",
        arguments: [ResetMethod.recover, .discard]
    )
    func reset(method: ResetMethod) throws {
        let one = try realm.subscribe(.add(Self.all))
        try realm.bootstrap(one, at: 2, [FlexibleRealm.entering(1, "old", version: 2)])
        try fixture.connect().execute("INSERT INTO Note VALUES (5, 'mine', NULL)")
        let two = try realm.subscribe(.put(.init(className: "Tag")))
        try realm.stage(
            two,
            at: 3,
            isComplete: false,
            [FlexibleRealm.entering(7, "lost", version: 3)]
        )

        let freshPath = RealmFile.freshPath(of: fixture.path)
        let fresh = try RealmFixture.open(freshPath, nil, fixture.clock, owner: .flexible)
        try fresh.beginFlexibleSync()
        let copied = try fresh.subscribe(.add(Self.all))
        try fresh.bootstrap(copied, at: 9, [FlexibleRealm.entering(2, "new", version: 9)])
        fresh.close()

        let rehearsed = try realm.rehearseReset(to: freshPath, method)
        #expect(realm.setStates == ["1 awaitingMark", "2 bootstrapping"])
        #expect(try realm.carryOutReset(to: freshPath, method) == rehearsed)
        let didRecover = method == .recover
        #expect(realm.setStates == (didRecover ? ["1 complete", "2 pending"] : ["1 complete"]))
        #expect(
            try fixture.rows("SELECT _id FROM Note ORDER BY _id")
                == (didRecover ? ["2", "5"] : ["2"])
        )
        #expect(try fixture.rows("SELECT * FROM _realm_bootstrap_changeset") == [])
        // The triggers follow the latest set.
        let insert = "INSERT INTO Tag VALUES (1)"
        if didRecover {
            try fixture.connect().execute(insert)
        } else {
            #expect(throws: SQLiteError.self) { try fixture.connect().execute(insert) }
        }
    }

    // MARK: Interrupted and damaged bootstraps

    @Test("An incomplete bootstrap is deleted at opening, and its set is queried again")
    func incomplete() throws {
        let one = try realm.subscribe(.add(Self.all))
        try realm.stage(
            one,
            at: 2,
            isComplete: false,
            [FlexibleRealm.entering(1, "one", version: 2)]
        )
        #expect(realm.setStates == ["0 complete", "1 bootstrapping"])
        try reopen()
        #expect(realm.setStates == ["0 complete", "1 pending"])
        #expect(try fixture.rows("SELECT * FROM _realm_bootstrap_changeset") == [])
        #expect(try realm.applyBootstrap() == nil)
    }

    @Test("A complete one is applied at opening, and the first message of another replaces it")
    func complete() throws {
        let one = try realm.subscribe(.add(Self.all))
        try realm.stage(one, at: 2, [FlexibleRealm.entering(1, "one", version: 2)])
        try reopen()
        #expect(realm.setStates == ["1 awaitingMark"])
        #expect(try fixture.rows("SELECT text FROM Note") == ["one"])

        let two = try realm.subscribe(.put(.init(className: "Tag")))
        try realm.stage(
            two,
            at: 3,
            isComplete: false,
            [FlexibleRealm.entering(7, "lost", version: 3)]
        )
        try realm.bootstrap(two, at: 3, [FlexibleRealm.entering(2, "two", version: 3)])
        #expect(try fixture.rows("SELECT text FROM Note ORDER BY _id") == ["one", "two"])
        #expect(realm.setStates == ["2 awaitingMark"])
    }

    @Test("A bootstrap of a complete set leaves it complete, and newer sets where they are")
    func repeated() throws {
        let one = try realm.subscribe(.add(Self.all))
        try realm.bootstrap(one, at: 2, [FlexibleRealm.entering(1, "one", version: 2)])
        try realm.markDownloadCompleted()
        try realm.subscribe(.put(.init(className: "Tag")))
        try realm.bootstrap(one, at: 3, [FlexibleRealm.leaving(1, version: 3)])
        #expect(realm.setStates == ["1 complete", "2 pending"])
        #expect(try fixture.rows("SELECT * FROM Note") == [])
    }

    @Test("A changeset that cannot be applied changes nothing, and is asked for again")
    func bad() throws {
        let one = try realm.subscribe(.add(Self.all))
        try fixture.connect().execute("INSERT INTO Note VALUES (5, 'mine', NULL)")
        for bytes in [[0xff], Self.missingObject] as [[UInt8]] {
            try realm.stage(
                one,
                at: 2,
                [
                    FlexibleRealm.entering(1, "one", version: 2),
                    RealmFixture.download(2, from: 1, bytes),
                ]
            )
            do throws(LocalRealmError) {
                _ = try realm.applyBootstrap()
                Issue.record("it was applied")
            } catch {
                #expect(error.kind == .badChangeset && error.integrationFailureCode == 212)
            }
            #expect(try fixture.rows("SELECT _id FROM Note") == ["5"])
            #expect(realm.setStates == ["0 complete", "1 bootstrapping"])
            try reopen()
            #expect(realm.setStates == ["0 complete", "1 pending"])
        }
        // The write was captured all the same, once.
        #expect(try fixture.rows("SELECT count(*) FROM _realm_history WHERE size > 0") == ["1"])
    }

    private static let missingObject: [UInt8] = {
        var writer = ChangesetWriter()
        writer.update(ObjectReference("Note", 77), "text", to: .scalar(.string("x")))
        return writer.bytes
    }()

    @Test("Messages about sets that are not stored, or have failed, are errors of the server")
    func violations() throws {
        try realm.subscribe(.add(Self.all))
        try realm.failSubscriptions(QueryVersion(1), "no")
        for version in [1, 9] as [UInt64] {
            do throws(LocalRealmError) {
                try realm.stage(
                    QueryVersion(version),
                    at: 2,
                    [FlexibleRealm.entering(1, "one", version: 2)]
                )
                Issue.record("version \(version) was staged")
            } catch {
                #expect(error.kind == .badSubscriptions)
            }
        }
        #expect(realm.setStates == ["0 complete", "1 failed(\"no\")"])
        #expect(try fixture.rows("SELECT * FROM _realm_bootstrap") == [])
    }

    @Test(
        "A damaged table of sets is reported when the file is opened",
        arguments: [
            "UPDATE _realm_subscription_set SET state = 99",
            "UPDATE _realm_subscription_set SET version = -1",
            "UPDATE _realm_subscription_set SET snapshot_version = 9223372036854775807",
            "UPDATE _realm_subscription SET id = 'x'",
        ]
    )
    func damaged(sql: String) throws {
        try realm.subscribe(.add(Self.all))
        try fixture.connect().execute("DELETE FROM _realm_subscription_set WHERE version = 0")
        try fixture.connect().execute(sql)
        do throws(LocalRealmError) {
            try reopen()
            Issue.record("it was opened")
        } catch {
            #expect(error.kind == .corrupt, "\(error)")
        }
    }

    @Test("Extreme numbers in the staging tables do not trap")
    func extremes() throws {
        let one = try realm.subscribe(.add(Self.all))
        for value in [Int64.min, -1, Int64.max] {
            try realm.stage(one, at: 2, [FlexibleRealm.entering(1, "one", version: 2)])
            try fixture.connect().execute(
                """
                UPDATE _realm_bootstrap SET latest_server_version = \(value),
                  download_server_version = \(value), upload_client_version = \(value);
                UPDATE _realm_bootstrap_changeset SET remote_version = \(value),
                  last_integrated_client_version = \(value), origin_timestamp = \(value),
                  original_size = \(value)
                """
            )
            _ = try? realm.applyBootstrap()
        }
    }
}
