import Changesets
import LocalRealm
import SQLite
import Schemas
import Testing
import Versions

@Suite("Integrating downloads")
struct IntegrationTests {
    let fixture: RealmFixture
    let program: Connection

    static let item = ObjectReference("Item", 1)

    init() throws {
        fixture = try RealmFixture(DrainTests.schema)
        _ = try fixture.realm.drain()
        try fixture.realm.storeFileIdent(SaltedFileIdent(ident: FileIdent(2), salt: Salt(99)))
        program = try fixture.connect()
    }

    /// The local version, for changesets that have seen everything.
    private var seen: UInt64 { fixture.realm.status.localVersion.rawValue }

    private func refused(
        _ write: (inout ChangesetWriter) -> Void
    ) throws -> LocalRealmError {
        try #require(throws: LocalRealmError.self) { try fixture.receive(after: seen, write) }
    }

    // MARK: Objects and values

    @Test("Objects are created, changed and erased, and the log stays empty")
    func life() throws {
        try fixture.receive { writer in
            writer.createObject(Self.item)
            writer.update(Self.item, "name", to: .scalar(.string("a")))
            writer.update(Self.item, "count", to: .scalar(.int(5)))
            writer.createObject(.init("Tag", "x"))
        }
        #expect(try fixture.rows("SELECT * FROM Item") == ["1|a|5|null|null|null|null"])
        try fixture.receive { writer in
            writer.update(Self.item, "name", to: .scalar(.string("b")))
            writer.update(Self.item, "box", to: .scalar(.link(Self.item)))
            writer.update(Self.item, "count", to: .scalar(.null))
        }
        #expect(try fixture.rows("SELECT * FROM Item") == ["1|b|null|1|null|null|null"])
        try fixture.receive { $0.eraseObject(Self.item) }
        #expect(try fixture.rows("SELECT * FROM Item") == [])
        #expect(try fixture.captured() == [])
    }

    @Test("Instructions on existing and missing objects, one by one")
    func noOps() throws {
        try fixture.receive { writer in
            writer.createObject(Self.item)
            writer.update(Self.item, "name", to: .scalar(.string("kept")))
            writer.createObject(.init("Item", 2))
            writer.update(.init("Item", 2), "box", to: .scalar(.link(Self.item)))
        }
        // Creating an existing object keeps the values; assignments with it count.
        try fixture.receive { writer in
            writer.createObject(Self.item)
            writer.update(Self.item, "count", to: .scalar(.int(1)))
        }
        // Erasing a missing object is a no-op; erasing leaves links dangling; creating makes them
        // valid again.
        try fixture.receive { $0.eraseObject(.init("Item", 99)) }
        #expect(
            try fixture.rows("SELECT _id, name, count, box FROM Item") == [
                "1|kept|1|null", "2||null|1",
            ]
        )
        try fixture.receive { $0.eraseObject(Self.item) }
        #expect(try fixture.rows("SELECT _id, name, box FROM Item") == ["2||1"])
        try fixture.receive { $0.createObject(Self.item) }
        #expect(try fixture.rows("SELECT _id, name, box FROM Item") == ["2||1", "1||null"])
    }

    @Test("Amounts are added with wrap-around, and null stays null")
    func addInteger() throws {
        try fixture.receive { writer in
            writer.createObject(Self.item)
            writer.addInteger(Self.item, "count", amount: 5)
        }
        #expect(try fixture.rows("SELECT count FROM Item") == ["null"])
        try fixture.receive { writer in
            writer.update(Self.item, "count", to: .scalar(.int(.max)))
            writer.addInteger(Self.item, "count", amount: 1)
        }
        #expect(try fixture.rows("SELECT count FROM Item") == ["\(Int64.min)"])
        try fixture.receive { writer in
            writer.addInteger(Self.item, "count", amount: -1)
            writer.addInteger(Self.item, "count", amount: 8)
            writer.createObject(Self.item)
        }
        #expect(try fixture.rows("SELECT count FROM Item") == ["\(Int64.min + 7)"])
    }

    @Test("Many instructions on one object, over several changesets, leave the last values")
    func folding() throws {
        let tag = ObjectReference(className: "Tag", key: .null)
        let changesets = [
            RealmFixture.download(1) { writer in
                writer.createObject(Self.item)
                writer.update(Self.item, "name", to: .scalar(.string("a")))
                writer.eraseObject(Self.item)
                writer.createObject(tag)
                writer.update(tag, "next", to: .scalar(.link(tag)))
            },
            RealmFixture.download(2) { writer in
                writer.createObject(Self.item)
                writer.update(Self.item, "name", to: .scalar(.string("b")))
                writer.update(Self.item, "name", to: .scalar(.string("c")))
                writer.eraseObject(tag)
            },
            RealmFixture.download(3) { writer in
                writer.eraseObject(Self.item)
                writer.createObject(Self.item)
                writer.update(Self.item, "count", to: .scalar(.int(2)))
                writer.createObject(tag)
                writer.createObject(tag)
            },
        ]
        let report = try fixture.receive(upTo: 3, changesets)
        #expect(report.integratedChangesetCount == 3)
        #expect(try fixture.rows("SELECT _id, name, count FROM Item") == ["1||2"])
        #expect(try fixture.rows("SELECT _id, next FROM Tag") == ["null|null"])
    }

    @Test(
        "A changeset that does not fit is refused as a whole, with position and reason",
        arguments: BadChangesets.all
    )
    func badChangesets(
        reason: String,
        write: @Sendable (inout ChangesetWriter) -> Void
    ) throws {
        try fixture.receive { writer in
            writer.createObject(Self.item)
            writer.update(Self.item, "count", to: .scalar(.int(1)))
        }
        let before = fixture.realm.status
        let error = try refused { writer in
            writer.createObject(.init("Item", 50))
            writer.update(Self.item, "count", to: .scalar(.int(2)))
            write(&writer)
        }
        #expect(error.kind == .badChangeset)
        #expect(error.integrationFailureCode == 212)
        #expect(error.message.hasPrefix("server version 2: "), "\(error)")
        #expect(error.message.hasSuffix(reason), "\(error)")
        #expect(try fixture.rows("SELECT _id, count FROM Item") == ["1|1"])
        #expect(fixture.realm.status == before)
    }

    @Test("Bytes that are not a changeset are refused before the file is locked")
    func garbage() throws {
        try program.execute("BEGIN IMMEDIATE")
        let error = try #require(throws: LocalRealmError.self) {
            try fixture.receive(upTo: 1, [RealmFixture.download(1, [0x3e])])
        }
        #expect(error.kind == .badChangeset)
        #expect(error.message.contains("server version 1: bad changeset at byte 0"))
    }

    // MARK: Together with local writes

    @Test("Writes in the log are drained first, and a refused download does not affect them")
    func drainsFirst() throws {
        try program.execute("INSERT INTO Item(_id, name) VALUES (1, 'local')")
        let error = try refused { $0.createObject(.init("Ghost", 1)) }
        #expect(error.kind == .badChangeset)
        #expect(try fixture.captured() == [])
        #expect(
            try fixture.history().last?.lines == [
                "CreateObject Item 1", "Item 1: name = \"local\"",
            ]
        )
        #expect(fixture.realm.status.localVersion == ClientVersion(4))

        try program.execute("UPDATE Item SET count = 1")
        let report = try fixture.receive { $0.createObject(.init("Item", 2)) }
        #expect(report.drained.changesetCount == 1)
        #expect(report.drained.localVersion == ClientVersion(5))
        #expect(report.localVersion == ClientVersion(6))
        #expect(try fixture.rows("SELECT _id, name, count FROM Item") == ["1|local|1", "2||null"])
    }

    @Test("Concurrent changes are merged: the later one wins, and the loser's reciprocal is kept")
    func merging() throws {
        try fixture.receive { $0.createObject(Self.item) }
        let base = seen
        try program.execute("UPDATE Item SET name = 'local', count = 1")
        _ = try fixture.realm.drain()
        let later = UInt64(RealmFixture.instant * 2)
        let changesets = [
            RealmFixture.download(2, after: base, timestamp: 1) {
                $0.update(Self.item, "name", to: .scalar(.string("earlier")))
            },
            RealmFixture.download(3, after: base, timestamp: later) {
                $0.update(Self.item, "count", to: .scalar(.int(2)))
            },
        ]
        try fixture.receive(upTo: 3, after: base, changesets)
        #expect(try fixture.rows("SELECT name, count FROM Item") == ["local|2"])
        let entry = try #require(try fixture.history().last)
        #expect(entry.lines == ["Item 1: name = \"local\"", "Item 1: count = 1"])
        let reciprocal = try #require(
            try program.row("SELECT reciprocal FROM _realm_history ORDER BY version DESC")?.first
        )
        guard case .blob(let bytes) = reciprocal else {
            Issue.record("no reciprocal was stored")
            return
        }
        let lines = ChangesetText.lines(try Changeset(decoding: bytes))
        #expect(lines == ["Item 1: name = \"local\""])

        // The next download meets the reciprocal, so that the losing value stays lost.
        let next = RealmFixture.download(4, after: base, timestamp: 2) {
            $0.update(Self.item, "count", to: .scalar(.int(3)))
        }
        try fixture.receive(upTo: 4, after: base, [next])
        #expect(try fixture.rows("SELECT count FROM Item") == ["3"])
        // The upload is the original.
        let batch = try fixture.realm.scanUploads(
            from: UploadCursor(
                clientVersion: ClientVersion(base),
                lastIntegratedServerVersion: .zero
            ),
            upTo: fixture.realm.status.localVersion
        )
        let uploaded = try batch.changesets.map { try Changeset(decoding: $0.bytes) }
        #expect(uploaded == [entry.changeset])
    }

    @Test("A reciprocal without instructions is present and empty")
    func emptyReciprocal() throws {
        try fixture.receive { $0.createObject(Self.item) }
        let base = seen
        try program.execute("UPDATE Item SET name = 'local'")
        try fixture.receive(after: base) { $0.eraseObject(Self.item) }
        #expect(
            try fixture.rows("SELECT reciprocal FROM _realm_history ORDER BY version DESC LIMIT 1")
                == ["x"]
        )
        #expect(try fixture.rows("SELECT * FROM Item") == [])
    }

    // MARK: Progress and history

    @Test("No cursor goes backwards: such a header is refused as bad progress")
    func badProgress() throws {
        try program.execute("INSERT INTO Item(_id) VALUES (1)")
        _ = try fixture.realm.drain()
        let stored = RealmFixture.progress(5, downloaded: 3, uploaded: 4, integrated: 2)
        _ = try fixture.realm.integrate([], progress: stored, downloadableBytes: 0)
        let worse = [
            RealmFixture.progress(4, downloaded: 3, uploaded: 4, integrated: 2),
            RealmFixture.progress(5, downloaded: 2, uploaded: 4, integrated: 2),
            RealmFixture.progress(5, downloaded: 3, uploaded: 3, integrated: 2),
            RealmFixture.progress(5, downloaded: 3, uploaded: 4, integrated: 1),
        ]
        let before = fixture.realm.status
        for progress in worse {
            let error = try #require(throws: LocalRealmError.self) {
                try fixture.realm.integrate([], progress: progress, downloadableBytes: 0)
            }
            #expect(error.kind == .badProgress)
            #expect(error.integrationFailureCode == 233)
            #expect(fixture.realm.status == before)
        }
        // 0 means "nothing uploaded yet" and keeps the stored value.
        let zero = RealmFixture.progress(6, downloaded: 3, uploaded: 4, integrated: 0)
        _ = try fixture.realm.integrate([], progress: zero, downloadableBytes: 17)
        let status = fixture.realm.status
        #expect(status.progress.upload.lastIntegratedServerVersion == ServerVersion(2))
        #expect(status.downloadableBytes == 17)
    }

    @Test("The upload cursor goes back if the session allows it, but not behind removed history")
    func uploadsGoBack() throws {
        for id in 1...2 {
            try program.execute("INSERT INTO Item(_id) VALUES (\(id))")
            _ = try fixture.realm.drain()
        }
        func integrate(_ progress: SyncProgress) throws {
            _ = try fixture.realm.integrate(
                ParsedDownload([], progress: progress, downloadableBytes: 0, isFirst: true)
            )
        }
        try integrate(RealmFixture.progress(5, downloaded: 3, uploaded: 5, integrated: 2))
        try integrate(RealmFixture.progress(5, downloaded: 3, uploaded: 4, integrated: 1))
        let cursor = UploadCursor(
            clientVersion: ClientVersion(4),
            lastIntegratedServerVersion: ServerVersion(1)
        )
        #expect(fixture.realm.status.progress.upload == cursor)
        let lost = try fixture.realm.scanUploads(from: cursor, upTo: ClientVersion(9))
        #expect(lost.changesets.map(\.cursor.clientVersion) == [ClientVersion(5)])
        let error = try #require(throws: LocalRealmError.self) {
            try integrate(RealmFixture.progress(5, downloaded: 3, uploaded: 2, integrated: 1))
        }
        #expect(error.kind == .badProgress)
    }

    @Test("Acknowledged bytes are counted, and history is trimmed once no download can need it")
    func trimming() throws {
        // Version 2 is the schema, 3 the ident; 4, 5 and 7 are local writes, 6 an integration.
        try program.execute("INSERT INTO Item(_id) VALUES (1)")
        _ = try fixture.realm.drain()
        try program.execute("INSERT INTO Item(_id) VALUES (2)")
        _ = try fixture.realm.drain()
        try fixture.receive { $0.createObject(.init("Item", 3)) }
        try program.execute("INSERT INTO Item(_id) VALUES (4)")
        _ = try fixture.realm.drain()
        let sizes = try program.rows("SELECT version, size FROM _realm_history ORDER BY version")
        #expect(sizes.map { $0[0] } == [2, 4, 5, 7])
        #expect(try fixture.realm.acknowledgedVersion() == ClientVersion(1))

        // The server has integrated up to 5, but has sent nothing based on more than 2.
        let first = try fixture.realm.integrate(
            [],
            progress: RealmFixture.progress(2, downloaded: 2, uploaded: 5, integrated: 1),
            downloadableBytes: 0
        )
        #expect(first.acknowledgedChangesetCount == 3)
        #expect(try fixture.rows("SELECT version FROM _realm_history") == ["4", "5", "7"])
        #expect(fixture.realm.status.historyBaseVersion == ClientVersion(3))
        #expect(try fixture.realm.acknowledgedVersion() == ClientVersion(6))
        let uploaded = sizes[0...2].reduce(UInt64(0)) { sum, row in
            if case .integer(let size) = row[1] { sum + UInt64(size) } else { sum }
        }
        #expect(fixture.realm.status.uploadedBytes == uploaded)

        let second = try fixture.realm.integrate(
            [],
            progress: RealmFixture.progress(5, downloaded: 7, uploaded: 7, integrated: 3),
            downloadableBytes: 0
        )
        #expect(second.acknowledgedChangesetCount == 1)
        let status = fixture.realm.status
        #expect(try fixture.rows("SELECT version FROM _realm_history") == [])
        #expect(status.uploadedBytes == status.uploadableBytes)
        #expect(try fixture.realm.acknowledgedVersion() == status.localVersion)
    }

    @Test("Local changesets carry the download cursor's server version")
    func remoteVersion() throws {
        try fixture.receive(upTo: 9)
        try program.execute("INSERT INTO Item(_id) VALUES (1)")
        _ = try fixture.realm.drain()
        let batch = try fixture.realm.scanUploads(
            from: .zero,
            upTo: fixture.realm.status.localVersion
        )
        #expect(
            batch.changesets.map(\.cursor) == [
                UploadCursor(
                    clientVersion: ClientVersion(2),
                    lastIntegratedServerVersion: .zero
                ),
                UploadCursor(
                    clientVersion: ClientVersion(5),
                    lastIntegratedServerVersion: ServerVersion(9)
                ),
            ]
        )
        #expect(batch.progress.clientVersion == ClientVersion(5))
        #expect(batch.progress.lastIntegratedServerVersion == ServerVersion(9))
        #expect(batch.lockedServerVersion == ServerVersion(9))
    }

    @Test("Downloaded bytes count by their original size")
    func downloadedBytes() throws {
        let changeset = RealmFixture.download(1) { $0.createObject(Self.item) }
        let larger = DownloadChangeset(
            cursor: changeset.cursor,
            originTimestamp: changeset.originTimestamp,
            originFileIdent: changeset.originFileIdent,
            originalSizeInBytes: 1000,
            bytes: changeset.bytes
        )
        try fixture.receive(upTo: 1, [larger])
        #expect(fixture.realm.status.downloadedBytes == 1000)
    }
}

/// Changesets that do not fit the schema, or an Item 1 and no Item 7, with the error.
enum BadChangesets {
    private static let item = ObjectReference("Item", 1)

    static let all: [(String, @Sendable (inout ChangesetWriter) -> Void)] = [
        ("there is no class Ghost", { $0.createObject(.init("Ghost", 1)) }),
        (
            "the key is not of the type that Item has",
            { $0.createObject(.init("Item", "one")) }
        ),
        (
            "the key is not of the type that Item has",
            { $0.createObject(.init(className: "Item", key: .null)) }
        ),
        (
            "Item has no property ghost",
            { $0.update(item, "ghost", to: .scalar(.int(1))) }
        ),
        (
            "there is no such object of Item",
            { $0.update(.init("Item", 7), "name", to: .scalar(.string("x"))) }
        ),
        (
            "there is no such object of Item",
            { $0.addInteger(.init("Item", 7), "count", amount: 1) }
        ),
        (
            "there is no such object of Item",
            { writer in
                writer.eraseObject(item)
                writer.update(item, "name", to: .scalar(.string("x")))
            }
        ),
        (
            "there is no such object of Item",
            { writer in
                writer.update(.init("Item", 7), "name", to: .scalar(.string("x")))
                writer.eraseObject(.init("Item", 7))
            }
        ),
        ("null is not allowed here", { $0.update(item, "name", to: .scalar(.null)) }),
        (
            "a value of type int does not fit here",
            { $0.update(item, "name", to: .scalar(.int(1))) }
        ),
        (
            "a value of type double does not fit here",
            { $0.update(item, "size", to: .scalar(.double(DoubleBits(1)))) }
        ),
        (
            "a value of type objectValue does not fit here",
            { $0.update(item, "box", to: .objectValue) }
        ),
        ("a value of type erased does not fit here", { $0.update(item, "box", to: .erased) }),
        (
            "a link to Tag does not fit here",
            { $0.update(item, "box", to: .scalar(.link(.init("Tag", "x")))) }
        ),
        (
            "the key is not of the type that Item has",
            { $0.update(item, "box", to: .scalar(.link(.init("Item", "x")))) }
        ),
        ("the primary key of Item cannot change", { $0.update(item, "_id", to: .scalar(.int(2))) }),
        (
            "the path leads through a value that holds no others",
            { $0.update(item, "name", path: [.string("x")], to: .scalar(.int(2))) }
        ),
        (
            "an amount is added to a value that is not an integer",
            { $0.addInteger(item, "name", amount: 1) }
        ),
        ("the path ends where this instruction cannot act", { $0.clear(item, "name", .list) }),
        (
            "the path leads through a value that holds no others",
            {
                $0.arrayInsert(
                    item,
                    "name",
                    path: [.index(0)],
                    .scalar(.int(1)),
                    priorSize: 0
                )
            }
        ),
        (
            "Item.count is int?, but is declared as string",
            {
                $0.addColumn(
                    "count",
                    to: "Item",
                    type: .string,
                    isNullable: false,
                    collection: .single
                )
            }
        ),
    ]
}
