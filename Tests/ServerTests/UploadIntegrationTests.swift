import Changesets
import ServerFixtures
import Testing
import Versions

@testable import SQLiteServerStore
@testable import ServerStore
@testable import SyncServer

/// Sync history, 14.4 and 19.
@Suite("Integrating uploads")
struct UploadIntegrationTests {
    @Test("Each changeset makes one version, and documents have the present state")
    func simple() async throws {
        let world = try await ServerFileWorld()
        let client = try await world.client()
        let outcome = try await world.upload(
            [upload(2, on: 0), upload(3, on: 0, Tasks.create(1, title: "one"))],
            progress: uploadCursor(5, 0),
            by: client
        )
        #expect(outcome.currentVersion == ServerVersion(2))
        #expect(outcome.integratedCount == 2)
        #expect(
            try await world.tasks() == [
                .int(1): "{\"_id\":1,\"title\":\"one\",\"count\":0,\"tags\":[]}"
            ]
        )
        let stored = try await world.stored(client)
        #expect(stored.upload == uploadCursor(5, 0))
        let file = try await world.serverFile()
        #expect(file.currentVersion == ServerVersion(2))
        #expect(file.historySizeInBytes > 0)
    }

    @Test("The worked example of the specification, step by step")
    func workedExample() async throws {
        let world = try await ServerFileWorld()
        let first = try await world.client()
        try await world.upload([upload(2, on: 0, Tasks.schema)], by: first)
        let toFirst = try await world.scan(for: first)
        #expect(toFirst.changesets.isEmpty)
        #expect(toFirst.progress.download == downloadCursor(1, 2))
        #expect(toFirst.progress.upload == uploadCursor(2, 0))
        #expect(toFirst.progress.latestServerVersion.version == ServerVersion(1))
        #expect(toFirst.progress.latestServerVersion.salt != .none)

        let second = try await world.client()
        let toSecond = try await world.scan(for: second)
        #expect(toSecond.changesets.map(\.cursor) == [downloadCursor(1, 0)])
        #expect(toSecond.changesets.map(\.originFileIdent) == [first.ident])
        #expect(toSecond.progress.download == downloadCursor(1, 0))
        #expect(toSecond.progress.upload == .zero)

        try await world.upload(
            [upload(2, on: 0, Tasks.schema), upload(3, on: 0, Tasks.create(9, title: "y"))],
            progress: uploadCursor(4, 1),
            by: second
        )
        #expect(try await world.serverFile().currentVersion == ServerVersion(3))
        #expect(try await world.stored(second).upload == uploadCursor(4, 1))

        // The connection is lost, and everything comes again: nothing happens.
        let back = try await world.identify(
            second.salted,
            at: downloadCursor(1, 0),
            latest: toSecond.progress.latestServerVersion
        )
        let again = try await world.upload(
            [upload(2, on: 0, Tasks.schema), upload(3, on: 0, Tasks.create(9, title: "y"))],
            progress: uploadCursor(4, 1),
            by: back
        )
        #expect(again.integratedCount == 0)
        #expect(try await world.serverFile().currentVersion == ServerVersion(3))
        let caughtUp = try await world.scan(for: back, from: downloadCursor(1, 0))
        #expect(caughtUp.progress.upload == uploadCursor(4, 1))
        #expect(caughtUp.progress.download == downloadCursor(3, 3))
    }

    @Test("Concurrent changes are merged: the later one wins, counters add up")
    func concurrent() async throws {
        let world = try await ServerFileWorld()
        let (first, second) = (try await world.client(), try await world.client())
        try await world.upload(
            [upload(2, on: 0, Tasks.schema), upload(3, on: 0, Tasks.create(1, title: "base"))],
            by: first
        )
        // Both have seen version 2, and neither the other's change.
        try await world.upload(
            [
                upload(4, on: 2, at: 5000, Tasks.setTitle(1, "later")),
                upload(5, on: 2, at: 5001, Tasks.count(1, 3)),
            ],
            by: first
        )
        try await world.upload(
            [
                upload(2, on: 2, at: 4000, Tasks.setTitle(1, "earlier")),
                upload(3, on: 2, at: 4001, Tasks.count(1, 4)),
            ],
            by: second
        )
        #expect(
            try await world.tasks()[.int(1)]
                == "{\"_id\":1,\"title\":\"later\",\"count\":7,\"tags\":[]}"
        )
        // An overwritten change is an empty version: it counts, and no client downloads it.
        let batch = try await world.scan(for: first, from: downloadCursor(4, 5))
        #expect(batch.changesets.map(\.cursor) == [downloadCursor(6, 5)])
        #expect(batch.progress.download == downloadCursor(6, 5))
        #expect(batch.isComplete)
    }

    @Test("Later uploads are merged with reciprocals, not with the original history")
    func reciprocals() async throws {
        let world = try await ServerFileWorld()
        let (first, second) = (try await world.client(), try await world.client())
        try await world.upload(
            [upload(2, on: 0, Tasks.schema), upload(3, on: 0, Tasks.create(1, title: "x"))],
            by: first
        )
        try await world.upload(
            [upload(4, on: 2, at: 10, Tasks.appendTag(1, "a", at: 0))],
            by: first
        )
        // Without having seen "a", the second client appends twice, in two uploads.
        try await world.upload(
            [upload(2, on: 2, at: 20, Tasks.appendTag(1, "b", at: 0))],
            by: second
        )
        let reciprocals = try await world.store.read { [file = world.file] in
            try $0.reciprocals(for: second.ident, in: file, after: .zero)
        }
        #expect(reciprocals.keys.map(\.rawValue) == [3])
        try await world.upload(
            [upload(3, on: 2, at: 30, Tasks.appendTag(1, "c", at: 1))],
            by: second
        )
        let tags = try await world.tasks()[.int(1)]
        #expect(tags?.contains("\"tags\":[\"a\",\"b\",\"c\"]") == true, "\(tags ?? "")")

        // Having seen everything, it needs them no more.
        try await world.upload([], progress: uploadCursor(9, 5), by: second)
        let left = try await world.store.read { [file = world.file] in
            try $0.reciprocals(for: second.ident, in: file, after: .zero)
        }
        #expect(left.isEmpty)
    }

    @Test("An UPLOAD without changesets moves the cursors, and makes no version")
    func emptyUpload() async throws {
        let world = try await ServerFileWorld()
        let (first, second) = (try await world.client(), try await world.client())
        try await world.upload([upload(2, on: 0)], by: first)
        let outcome = try await world.upload(
            [],
            progress: uploadCursor(3, 1),
            locked: 1,
            by: second
        )
        #expect(outcome.integratedCount == 0)
        #expect(outcome.currentVersion == ServerVersion(1))
        let stored = try await world.stored(second)
        #expect(stored.upload == uploadCursor(3, 1))
        #expect(stored.lockedServerVersion == ServerVersion(1))
    }

    @Test("The base of the reciprocal history moves only together with the client version")
    func baseMovesWithClientVersion() async throws {
        let world = try await ServerFileWorld()
        let (first, second) = (try await world.client(), try await world.client())
        try await world.upload([upload(2, on: 0)], by: first)
        try await world.upload([], progress: uploadCursor(3, 0), by: second)
        try await world.upload([], progress: uploadCursor(3, 1), locked: 1, by: second)
        let stored = try await world.stored(second)
        #expect(stored.upload == uploadCursor(3, 0))
        #expect(stored.lockedServerVersion == ServerVersion(1))
        try await world.upload([], progress: uploadCursor(4, 1), locked: 0, by: second)
        #expect(try await world.stored(second).lockedServerVersion == ServerVersion(1))
    }

    @Test("The history holds what was applied, in the re-encoder's form")
    func storedBytes() async throws {
        let world = try await ServerFileWorld()
        let (first, second) = (try await world.client(), try await world.client())
        try await world.upload(
            [upload(2, on: 0, Tasks.schema), upload(3, on: 0, Tasks.create(1, title: "é"))],
            by: first
        )
        let batch = try await world.scan(for: second)
        let sent = [Tasks.schema, Tasks.create(1, title: "é")]
        let expected = try sent.map { try Changeset(decoding: $0).encoded() }
        #expect(batch.changesets.map(\.bytes) == expected)
    }

    @Test("An object that is created again keeps its values, beside new ones")
    func createdAgain() async throws {
        let world = try await ServerFileWorld()
        let (first, second) = (try await world.client(), try await world.client())
        try await world.upload(
            [
                upload(2, on: 0, Tasks.schema), upload(3, on: 0, Tasks.create(1, title: "one")),
                upload(4, on: 0, Tasks.appendTag(1, "a", at: 0)),
            ],
            by: first
        )
        let outcome = try await world.upload(
            [
                upload(2, on: 3, Tasks.create(2, title: "two")),
                upload(3, on: 3, Tasks.create(1, title: "changed")),
                // A change of the schema writes the objects before it.
                upload(4, on: 3, Tasks.addClass("Other")),
                upload(5, on: 3, Tasks.appendTag(1, "b", at: 1)),
                upload(6, on: 3, Tasks.create(2, title: "again")),
            ],
            by: second
        )
        #expect(outcome.healing.misfits.isEmpty)
        #expect(
            try await world.tasks() == [
                .int(1): "{\"_id\":1,\"title\":\"changed\",\"count\":0,\"tags\":[\"a\",\"b\"]}",
                .int(2): "{\"_id\":2,\"title\":\"again\",\"count\":0,\"tags\":[]}",
            ]
        )
        #expect(try await world.serverFile().currentVersion == ServerVersion(8))
    }

    @Test("An object that is erased and created again in one upload begins with defaults")
    func erasedAndCreated() async throws {
        let world = try await ServerFileWorld()
        let client = try await world.client()
        try await world.upload(
            [upload(2, on: 0, Tasks.schema), upload(3, on: 0, Tasks.create(1, title: "one"))],
            by: client
        )
        try await world.upload([upload(4, on: 0, Tasks.count(1, 5))], by: client)
        try await world.upload(
            [
                upload(5, on: 0, Tasks.erase(1)), upload(6, on: 0, Tasks.create(1, title: "x")),
                upload(7, on: 0, Tasks.create(2, title: "y")), upload(8, on: 0, Tasks.erase(2)),
            ],
            by: client
        )
        #expect(
            try await world.tasks() == [
                .int(1): "{\"_id\":1,\"title\":\"x\",\"count\":0,\"tags\":[]}"
            ]
        )
    }

    // MARK: Refusals leave nothing behind

    private func expectRefusal(
        _ expected: IntegrationRefusal?,
        _ world: ServerFileWorld,
        sourceLocation: SourceLocation = #_sourceLocation,
        _ body: () async throws -> Void
    ) async throws {
        let before = (try await world.serverFile(), try await world.tasks())
        let error = await #expect(
            throws: IntegrationRefusal.self,
            sourceLocation: sourceLocation
        ) { try await body() }
        if let expected { #expect(error == expected, sourceLocation: sourceLocation) }
        #expect(try await world.serverFile() == before.0, sourceLocation: sourceLocation)
        #expect(try await world.tasks() == before.1, sourceLocation: sourceLocation)
    }

    @Test("A bad changeset also fails the good ones of its upload")
    func badChangesets() async throws {
        let world = try await ServerFileWorld()
        let client = try await world.client()
        try await world.upload([upload(2, on: 0)], by: client)
        var wrongType = ChangesetWriter()
        wrongType.update(Tasks.object(1), "title", to: .scalar(.int(1)))
        var unknownProperty = ChangesetWriter()
        unknownProperty.update(Tasks.object(1), "colour", to: .scalar(.int(1)))
        // What only does not fit is left out: `HealingTests`.
        let garbage: [[UInt8]] = [
            [0xff], [0x3f, 0x00], wrongType.bytes, unknownProperty.bytes,
        ]
        for bytes in garbage {
            try await expectRefusal(nil, world) {
                try await world.upload(
                    [upload(3, on: 1, Tasks.create(1, title: "x")), upload(4, on: 1, bytes)],
                    by: client
                )
            }
        }
        let error = await #expect(throws: IntegrationRefusal.self) {
            try await world.upload([upload(3, on: 1, [0xff])], by: client)
        }
        guard case .badChangeset(let reason)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(reason.hasPrefix("client version 3: bad changeset at byte "))
        // The same client can continue.
        try await world.upload([upload(3, on: 1, Tasks.create(1, title: "x"))], by: client)
    }

    @Test("Cursors that contradict the store are refused")
    func badCursors() async throws {
        let world = try await ServerFileWorld()
        let (first, second) = (try await world.client(), try await world.client())
        try await world.upload([upload(2, on: 0)], by: first)
        try await world.upload([], progress: uploadCursor(5, 1), by: second)
        for changesets in [
            [upload(6, on: 0)],  // below the base
            [upload(6, on: 2)],  // beyond the end
            [upload(7, on: 1), upload(6, on: 1)],  // going back
            [upload(6, on: 1), upload(6, on: 1)],
        ] {
            try await expectRefusal(.badServerVersion, world) {
                try await world.upload(changesets, by: second)
            }
        }
        try await expectRefusal(.badServerVersion, world) {
            try await world.upload([], progress: uploadCursor(9, 2), by: second)
        }
    }

    @Test("Only the newest session of a client file may upload")
    func epochs() async throws {
        let world = try await ServerFileWorld()
        let old = try await world.client()
        let new = try await world.identify(old.salted)
        try await expectRefusal(.superseded, world) {
            try await world.upload([upload(2, on: 0)], by: old)
        }
        try await world.upload([upload(2, on: 0)], by: new)
    }

    @Test("Unknown, expired and outdated client files are refused")
    func clientFiles() async throws {
        let world = try await ServerFileWorld()
        var client = try await world.client()
        let stranger = ClientFile(
            ident: FileIdent(99),
            salt: Salt(1),
            owner: ServerFileWorld.ann,
            generation: 0,
            lastSeenAt: 0
        )
        try await expectRefusal(.unknownClientFile, world) {
            try await world.upload([upload(2, on: 0)], by: stranger)
        }
        client.isExpired = true
        try await world.store.write { [client, file = world.file] in try $0.put(client, in: file) }
        try await expectRefusal(.expired, world) {
            try await world.upload([upload(2, on: 0)], by: client)
        }
        let outdated = ClientFile(
            ident: client.ident,
            salt: client.salt,
            owner: client.owner,
            generation: 7,
            lastSeenAt: 0
        )
        try await world.store.write { [file = world.file] in try $0.put(outdated, in: file) }
        try await expectRefusal(.unknownClientFile, world) {
            try await world.upload([upload(2, on: 0)], by: client)
        }
    }
}
