import Changesets
import Documents
import Schemas
import ServerFixtures
import SyncProtocol
import TestSupport
import Testing
import Versions

@testable import ServerStore
@testable import SyncServer

/// Flexible sync, 14: what is ingested only ever travels towards the server.
@Suite("Asymmetric objects are never sent to clients")
struct AsymmetricObjectTests {
    private static let reading = ObjectReference(className: "Reading", key: .int(1))

    private static func changeset(_ write: (inout ChangesetWriter) -> Void) -> [UInt8] {
        var writer = ChangesetWriter()
        write(&writer)
        return writer.bytes
    }

    private static let schema = changeset { writer in
        writer.addTopLevelClass(
            "Reading",
            primaryKey: "_id",
            type: .int,
            isNullable: false,
            isAsymmetric: true
        )
        writer.addColumn("value", to: "Reading", type: .int, isNullable: false, collection: .single)
        writer.addTopLevelClass("Task", primaryKey: "_id", type: .int, isNullable: false)
        writer.addColumn("title", to: "Task", type: .string, isNullable: false, collection: .single)
    }

    private static let ingestion = changeset { writer in
        writer.createObject(reading)
        writer.update(reading, "value", to: .scalar(.int(4711)))
    }

    private static let mixture = changeset { writer in
        writer.createObject(Tasks.object(1))
        writer.update(Tasks.object(1), "title", to: .scalar(.string("Reading")))
        writer.createObject(ObjectReference(className: "Reading", key: .int(2)))
    }

    private func expectNone(
        in changesets: [DownloadChangeset],
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        for changeset in changesets {
            let changeset = try Changeset(decoding: changeset.bytes)
            for target in changeset.instructions.compactMap(\.objectTarget) {
                #expect(changeset.text(target.className) == "Task", sourceLocation: sourceLocation)
            }
        }
    }

    @Test("Not in history, not for its uploader; the documents are there")
    func history() async throws {
        let world = try await ServerFileWorld()
        let (client, other) = (try await world.client(), try await world.client())
        try await world.upload(
            [
                upload(2, on: 0, Self.schema), upload(3, on: 0, Self.ingestion),
                upload(4, on: 0, Self.mixture),
            ],
            by: client
        )
        let batch = try await world.scan(for: other)
        #expect(batch.changesets.map(\.cursor.serverVersion.rawValue) == [1, 3])
        #expect(batch.progress.download.serverVersion == ServerVersion(3))
        try expectNone(in: batch.changesets)
        #expect(try await world.realm().document(for: Self.reading) != nil)
        #expect(try await world.stored(client).upload.clientVersion == ClientVersion(4))
        // Sent again: the version is on record, though nothing of it is in the history.
        let again = try await world.upload([upload(3, on: 0, Self.ingestion)], by: client)
        #expect(again.integratedCount == 0)
    }

    @Test("History of earlier versions, which holds them, is sent without them")
    func oldHistory() async throws {
        let world = try await ServerFileWorld()
        let (client, other) = (try await world.client(), try await world.client())
        try await world.upload([upload(2, on: 0, Self.schema)], by: client)
        try await world.store.write { [file = world.file] transaction in
            let old: [(UInt64, [UInt8])] = [(2, Self.ingestion), (3, Self.mixture)]
            let entries = old.map { version, bytes in
                HistoryEntry(
                    version: SaltedServerVersion(
                        version: ServerVersion(version),
                        salt: Salt(77)
                    ),
                    origin: client.ident,
                    clientVersion: ClientVersion(version + 1),
                    timestamp: OriginTimestamp(1000),
                    changeset: bytes,
                    cumulativeSizeInBytes: 1000 * version
                )
            }
            try transaction.append(entries, to: file)
        }
        let batch = try await world.scan(for: other)
        #expect(batch.changesets.map(\.cursor.serverVersion.rawValue) == [1, 3])
        try expectNone(in: batch.changesets)
        #expect(batch.changesets.allSatisfy { $0.originalSizeInBytes == UInt64($0.bytes.count) })
    }

    @Test("A write that is not allowed is reported, and not sent back")
    func refused() async throws {
        let world = try await ServerFileWorld()
        let (client, other) = (try await world.client(), try await world.client())
        try await world.upload([upload(2, on: 0, Self.schema)], by: client)
        let rules = AccessRules(write: try AccessRule("false"))
        let outcome = try await world.engine.integrate(
            Upload(
                client: other.ident,
                sessionEpoch: other.sessionEpoch,
                changesets: [upload(2, on: 1, Self.ingestion)],
                progress: uploadCursor(2, 1),
                lockedServerVersion: .zero
            ),
            into: world.file,
            policy: world.policy,
            by: SyncEngine.Uploader(id: ServerFileWorld.ann, app: ServerFileWorld.app),
            rules: rules
        )
        #expect(outcome.refused.flatMap(\.updates.updates).map(\.className) == ["Reading"])
        let batch = try await world.scan(for: other, from: downloadCursor(1, 0))
        try expectNone(in: batch.changesets)
        #expect(try await world.realm().document(for: Self.reading) == nil)
    }
}
