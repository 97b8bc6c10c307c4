import Changesets
import Documents
import Schemas
import SyncProtocol
import TestSupport
import Testing
import Versions

@testable import ServerStore
@testable import SyncServer

/// Sync history, 14.6: uploads that do not fit, rightly by the client's own rules.
@Suite("Corrections of uploads that do not fit")
struct HealingTests {
    private static func list(_ write: (inout ChangesetWriter) -> Void) -> [UInt8] {
        var writer = ChangesetWriter()
        write(&writer)
        return writer.bytes
    }

    @Test("A stale change to a deleted object is left out without a report")
    func stale() async throws {
        let world = try await ServerFileWorld()
        let (client, other) = (try await world.client(), try await world.client())
        try await world.upload(
            [
                upload(2, on: 0, Tasks.schema), upload(3, on: 0, Tasks.create(1, title: "one")),
                upload(4, on: 0, Tasks.erase(1)),
            ],
            by: client
        )
        let outcome = try await world.upload(
            [
                upload(5, on: 3, Tasks.count(1, 7)),
                upload(6, on: 3, Tasks.create(2, title: "two")),
            ],
            by: client
        )
        #expect(outcome.refused.isEmpty)
        #expect(outcome.healing.misfits.map(\.object) == [Tasks.object(1)])
        #expect(outcome.integratedCount == 2)
        #expect(try await world.tasks().keys.sorted { "\($0)" < "\($1)" } == [.int(2)])
        #expect(try await world.stored(client).upload.clientVersion == ClientVersion(6))

        // Only the client gets the correction, after all that it has uploaded.
        let own = try await world.scan(for: client, from: downloadCursor(3, 4))
        #expect(own.changesets.map(\.cursor) == [downloadCursor(6, 6)])
        #expect(Compensation.objects(compensatedBy: own.changesets[0].bytes) == [Tasks.object(1)])
        let others = try await world.scan(for: other)
        #expect(others.changesets.map(\.cursor.serverVersion.rawValue) == [1, 3, 5])
        let told = try await world.rejectedChangesets(of: client, after: .zero)
        #expect(told.isEmpty)
    }

    @Test("A value of an unfitting list edit that exists nowhere else is reported")
    func loss() async throws {
        let world = try await ServerFileWorld()
        let client = try await world.client()
        try await world.upload(
            [
                upload(2, on: 0, Tasks.schema), upload(3, on: 0, Tasks.create(1, title: "one")),
                upload(4, on: 0, Tasks.appendTag(1, "a", at: 0)),
            ],
            by: client
        )
        let outcome = try await world.upload(
            [
                upload(5, on: 3, Tasks.appendTag(1, "b", at: 4)),
                upload(6, on: 3, Tasks.setTitle(1, "two")),
            ],
            by: client
        )
        let refused = try #require(outcome.refused.first)
        #expect(outcome.refused.count == 1)
        #expect(refused.updates.clientVersion == ClientVersion(5))
        #expect(refused.updates.updates.map(\.key) == [.int(1)])
        #expect(refused.compensatedAt == outcome.currentVersion)
        let task = try await world.tasks()[.int(1)] ?? ""
        #expect(task.contains("\"tags\":[\"a\"]") && task.contains("two"), "\(task)")
        // A connection that broke does not swallow it.
        let told = try await world.rejectedChangesets(of: client, after: ServerVersion(4))
        #expect(told.map(\.compensatedAt) == [refused.compensatedAt])
        #expect(told.map(\.updates.clientVersion) == [ClientVersion(5)])
    }

    @Test("List edits that cannot be merged with the server's are left out with their property")
    func merge() async throws {
        let world = try await ServerFileWorld()
        let (first, second) = (try await world.client(), try await world.client())
        try await world.upload(
            [
                upload(2, on: 0, Tasks.schema), upload(3, on: 0, Tasks.create(1, title: "one")),
                upload(4, on: 0, Tasks.appendTag(1, "a", at: 0)),
            ],
            by: first
        )
        try await world.upload([upload(5, on: 3, Tasks.appendTag(1, "b", at: 1))], by: first)
        let outcome = try await world.upload(
            [
                upload(2, on: 3, Tasks.appendTag(1, "x", at: 3)),
                upload(3, on: 3, Tasks.count(1, 5)),
            ],
            by: second
        )
        #expect(outcome.healing.misfits.map(\.problem) == [.impossibleMerge])
        #expect(outcome.refused.count == 1)
        let task = try await world.tasks()[.int(1)] ?? ""
        #expect(task.contains("[\"a\",\"b\"]") && task.contains("\"count\":5"), "\(task)")
    }

    @Test("Bytes that are not a changeset, and impossible values, are still refused")
    func malformed() async throws {
        let world = try await ServerFileWorld()
        let client = try await world.client()
        try await world.upload(
            [upload(2, on: 0, Tasks.schema), upload(3, on: 0, Tasks.create(1, title: "one"))],
            by: client
        )
        let wrongType = Self.list {
            $0.update(Tasks.object(1), "title", to: .scalar(.int(1)))
        }
        for bytes in [[0x99, 0x01], wrongType] as [[UInt8]] {
            await #expect(throws: IntegrationRefusal.self) {
                try await world.upload([upload(4, on: 2, bytes)], by: client)
            }
        }
    }

    @Test("Others never see an erasure of null from a typed set")
    func erasureOfNull() async throws {
        let world = try await ServerFileWorld()
        let (client, other) = (try await world.client(), try await world.client())
        let schema = Self.list { writer in
            writer.addTopLevelClass("Task", primaryKey: "_id", type: .int, isNullable: false)
            writer.addColumn("set", to: "Task", type: .int, isNullable: true, collection: .set)
        }
        let content = Self.list { writer in
            writer.createObject(Tasks.object(1))
            for value in [Scalar.null, .int(1), .int(2)] {
                writer.setInsert(Tasks.object(1), "set", value)
            }
        }
        let erasure = Self.list { $0.setErase(Tasks.object(1), "set", .null) }
        try await world.upload(
            [upload(2, on: 0, schema), upload(3, on: 0, content), upload(4, on: 0, erasure)],
            by: client
        )
        var realm = InMemoryRealm()
        for changeset in try await world.scan(for: other).changesets {
            let changeset = try Changeset(decoding: changeset.bytes)
            #expect(
                !changeset.instructions.contains { instruction in
                    if case .setErase = instruction { true } else { false }
                }
            )
            try realm.apply(changeset)
        }
        #expect(realm.value("set", of: Tasks.object(1)) == .set(ValueSet([.int(1), .int(2)])))
        #expect(try await world.realm() == realm)
    }

    @Test(
        "On the wire: the session continues, and 231 reports a loss before its correction"
    )
    func wire() async throws {
        try await SyncWorld.with(.memory, apps: [TestApps.configurations[0]]) { world in
            let user = try await world.logIn()
            try await world.connect(as: user) { client in
                try await client.start()
                try await client.upload([
                    upload(2, on: 0), upload(3, on: 0, Tasks.create(1, title: "one")),
                ])
                _ = try await client.expectDownload()
                try await client.upload([
                    upload(4, on: 0, Tasks.count(77, 1)),
                    upload(5, on: 0, Tasks.appendTag(1, "lost", at: 9)),
                    upload(6, on: 0, Tasks.setTitle(1, "two")),
                ])
                let report = try await client.expectError(session: 1)
                #expect(report.code == 231)
                #expect(report.body.action == .warning)
                guard case .compensated(let rejected, let version)? = report.body.details else {
                    throw TestClient.Unexpected(wanted: "rejected updates")
                }
                #expect(rejected.clientVersion == ClientVersion(5))
                #expect(rejected.updates.map(\.key) == [.int(1)])
                #expect(rejected.updates.map(\.reason) == ["write does not fit the object"])
                let download = try await client.expectDownload()
                #expect(download.changesets.map(\.cursor.serverVersion.rawValue) == [6, 7])
                #expect(version == ServerVersion(7))
                #expect(download.progress.upload.clientVersion == ClientVersion(6))
                // It continues.
                try await client.upload([upload(7, on: 7, Tasks.appendTag(1, "kept", at: 0))])
                let last = try await client.expectDownload()
                #expect(last.progress.upload.clientVersion == ClientVersion(7))
            }
            #expect(world.sync.correctedUploads[TestApps.shop] == 1)
        }
    }

    @Test("Pending uploads of the same object survive the correction")
    func laterWrites() async throws {
        let world = try await ServerFileWorld()
        var client = ModelClient(try await world.client())
        try client.commit(Tasks.schema, at: 1)
        try client.commit(Tasks.create(1, title: "one"), at: 2)
        try await client.upload(to: world)
        while try await !client.downloadOnce(from: world) {}
        try await client.reconnect(to: world)
        client.diverge(Tasks.object(1)) { document in
            document?.values[2] = .list([.scalar(.string("hidden"))])
        }
        try client.commit(Tasks.appendTag(1, "lost", at: 1), at: 10)
        let outcome = try await client.upload(to: world)
        #expect(outcome.refused.count == 1)
        // Not known to the server when it corrects the tags.
        try client.commit(Tasks.setTitle(1, "later"), at: 11)
        try client.commit(Tasks.count(1, 5), at: 12)
        try await client.reconnect(to: world)
        try await client.upload(to: world)
        while try await !client.downloadOnce(from: world) {}
        let task = try await world.tasks()[.int(1)] ?? ""
        #expect(task.contains("later") && task.contains("\"count\":5"), "\(task)")
        #expect(try await world.realm() == client.realm)
    }

    @Test("Pending corrections for a client that downloads nothing are limited")
    func amplification() async throws {
        let world = try await ServerFileWorld()
        let client = try await world.client()
        let large = String(repeating: "x", count: 10 << 20)
        try await world.upload([upload(2, on: 0, Tasks.schema)], by: client)
        for id in 0..<8 as Range<Int64> {
            let version = UInt64(3 + id)
            try await world.upload(
                [
                    upload(version * 2, on: 0, Tasks.create(id, title: "")),
                    upload(version * 2 + 1, on: 0, Tasks.appendTag(id, large, at: 0)),
                ],
                by: client
            )
        }
        let base = try await world.serverFile().currentVersion.rawValue
        var accepted = 0
        let error = await #expect(throws: IntegrationRefusal.self) {
            for id in 0..<8 as Range<Int64> {
                try await world.upload(
                    [upload(UInt64(100 + id), on: base, Tasks.appendTag(id, "lost", at: 9))],
                    by: client
                )
                accepted += 1
            }
        }
        guard case .badChangeset(let reason)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(reason.hasPrefix("corrections of "))
        #expect(accepted == 6)
        // What it has taken in does not count.
        let version = try await world.serverFile().currentVersion.rawValue
        let seen = try await world.upload(
            [upload(200, on: version, Tasks.appendTag(7, "lost", at: 9))],
            by: client
        )
        #expect(seen.refused.count == 1)
    }

    // MARK: Property

    /// Clients whose realms differ from what they say: they are put right as soon as it shows,
    /// nothing that fits is lost, and no client is reset.
    @Test(
        "Clients that go wrong converge with the others",
        arguments: 1...60 as ClosedRange<UInt64>
    )
    func converge(seed: UInt64) async throws {
        let world = try await ServerFileWorld(downloadLimitInBytes: 2000, seed: seed)
        var random = SplitMix64(seed: seed)
        var clients: [ModelClient] = []
        for _ in 0..<3 { clients.append(ModelClient(try await world.client())) }
        try clients[0].commit(Tasks.schema, at: 1)
        for id in 0..<6 as Range<Int64> {
            try clients[0].commit(Tasks.create(id, title: "first"), at: 2)
            try clients[0].commit(Tasks.appendTag(id, "a", at: 0), at: 3)
        }
        try await Self.settle(&clients, in: world)
        var time: UInt64 = 1000
        var healed = 0
        for round in 0..<4 as Range<Int64> {
            // A tag and an object that the server does not have, and the results.
            let (tagged, ghost) = (Tasks.object(round), Tasks.object(100 + round))
            clients[0].diverge(tagged) { document in
                document?.values[2] = .list([.scalar(.string("hidden")), .scalar(.string("a"))])
            }
            let model = clients[0].realm.document(for: Tasks.object(5))
            clients[0].diverge(ghost) { $0 = model }
            if clients[0].realm.document(for: tagged) != nil {
                let tag = "lost-\(round)"
                try clients[0].commit(Tasks.appendTag(round, tag, at: 2), at: time)
            }
            if clients[0].realm.document(for: ghost) != nil {
                try clients[0].commit(Tasks.count(100 + round, 3), at: time)
            }
            try clients[0].commit(Tasks.setTitle(5, "round \(round)"), at: time + 1)
            // The others know nothing of it.
            for index in 1...2 where Bool.random(using: &random) {
                try clients[index].commit(
                    Tasks.count(5, Int64.random(in: 1...9, using: &random)),
                    at: time + UInt64(index)
                )
                if Bool.random(using: &random) {
                    try clients[index].commit(Tasks.setTitle(4, "by \(index)"), at: time)
                }
            }
            time += 10
            let outcome = try await clients[0].upload(to: world)
            healed += outcome.healing.misfits.count
            try await Self.settle(&clients, in: world)
            let expected = try await world.realm()
            for client in clients {
                #expect(client.realm == expected, "seed \(seed), round \(round)")
            }
        }
        #expect(healed >= 4, "seed \(seed)")
    }

    private static func settle(
        _ clients: inout [ModelClient],
        in world: ServerFileWorld
    ) async throws {
        for index in clients.indices {
            try await clients[index].upload(to: world)
            try await clients[index].reconnect(to: world)
        }
        for index in clients.indices {
            while try await !clients[index].downloadOnce(from: world) {}
            try await clients[index].reconnect(to: world)
        }
    }
}
