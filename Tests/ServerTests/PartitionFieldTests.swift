import Changesets
import ServerFixtures
import Testing
import Versions

@testable import ServerStore
@testable import SyncServer

/// Moving an app, 13, N8. The objects of the samples have `title`, here the key of partitions.
@Suite("Objects whose creator lacks the partition's field")
struct PartitionFieldTests {
    private func create(_ id: Int64, _ write: (inout ChangesetWriter) -> Void = { _ in }) -> [UInt8]
    {
        var writer = ChangesetWriter()
        writer.createObject(Tasks.object(id))
        write(&writer)
        return writer.bytes
    }

    private func titles(_ world: ServerFileWorld) async throws -> [Int64: String] {
        var titles: [Int64: String] = [:]
        for (key, json) in try await world.tasks() {
            guard case .int(let id) = key else { continue }
            titles[id] = json.split(separator: "\"").dropFirst(5).first.map { String($0) }
        }
        return titles
    }

    @Test("The server sets the field once for an upload, as history that all clients get")
    func filled() async throws {
        let world = try await ServerFileWorld()
        let maker = try await world.client()
        try await world.upload(
            [upload(2, on: 0, Tasks.schema)],
            by: maker,
            partitionKey: "title"
        )
        let outcome = try await world.upload(
            [
                upload(3, on: 0, create(1)),
                upload(
                    4,
                    on: 0,
                    create(2) { $0.update(Tasks.object(2), "count", to: .scalar(.int(5))) }
                ),
                upload(5, on: 0, Tasks.create(3, title: "its own")),
            ],
            by: maker,
            partitionKey: "title"
        )
        #expect(outcome.currentVersion == ServerVersion(5))
        #expect(outcome.ownVersions == nil)
        #expect(try await titles(world) == [1: "store-42", 2: "store-42", 3: "its own"])
        let download = try await world.scan(for: maker)
        #expect(download.changesets.map(\.cursor.serverVersion) == [ServerVersion(5)])
        #expect(download.changesets.map(\.originFileIdent) == [.server])
        // The maker continues from before that version.
        try await world.upload(
            [upload(6, on: 0, Tasks.count(1, 2))],
            by: maker,
            partitionKey: "title"
        )
        #expect(try await titles(world)[1] == "store-42")
    }

    @Test("Objects that are erased in the same upload, and classes without the field, stay alone")
    func leftAlone() async throws {
        let world = try await ServerFileWorld()
        let maker = try await world.client()
        try await world.upload([upload(2, on: 0, Tasks.schema)], by: maker)
        for (version, key) in [(3, "title"), (5, "nowhere"), (7, "count"), (9, "tags")] {
            let outcome = try await world.upload(
                [
                    upload(UInt64(version), on: 0, create(Int64(version))),
                    upload(UInt64(version) + 1, on: 0, Tasks.erase(Int64(version))),
                ],
                by: maker,
                partitionKey: Text(key)
            )
            #expect(outcome.ownVersions != nil, "\(key)")
        }
        for (version, key) in [(11, "nowhere"), (12, "count"), (13, "tags")] {
            let outcome = try await world.upload(
                [upload(UInt64(version), on: 0, create(Int64(version)))],
                by: maker,
                partitionKey: Text(key)
            )
            #expect(outcome.ownVersions != nil, "\(key)")
        }
        let outcome = try await world.upload([upload(14, on: 0, create(14))], by: maker)
        #expect(outcome.ownVersions != nil, "without a key of partitions")
    }
}
