import SyncProtocol
import Testing
import Versions

@testable import ServerStore
@testable import SyncServer

/// A client learns of its own uploads without a scan, and of the same as by one.
@Suite("Own versions", .timeLimit(.minutes(5)))
struct OwnVersionsTests {
    @Test("They tell what a scan finds, also after several uploads")
    func sameAsScan() async throws {
        let world = try await ServerFileWorld()
        let client = try await world.client()
        try await world.upload([upload(2, on: 0)], by: client)
        let start = try await world.scan(for: client).progress.download
        var known: OwnVersions?
        for round in UInt64(0)..<3 {
            let changesets = (0..<2).map { index in
                upload(
                    3 + round * 2 + index,
                    on: 1,
                    Tasks.create(Int64(round * 2 + index), title: "t")
                )
            }
            let outcome = try await world.upload(changesets, by: client)
            known = try #require(outcome.ownVersions).following(known)
            let batch = try #require(known).batch(from: start)
            #expect(try await world.scan(for: client, from: start) == batch)
        }
        #expect(known?.batch(from: .zero) == nil)
    }

    @Test("Another client's version in between, or a correction, needs a scan")
    func foreign() async throws {
        let world = try await ServerFileWorld()
        let (one, other) = (try await world.client(), try await world.client())
        try await world.upload([upload(2, on: 0)], by: one)
        let start = try await world.scan(for: one).progress.download
        let first = try await world.upload([upload(3, on: 1, Tasks.create(1, title: "a"))], by: one)
        try await world.upload(
            [upload(2, on: 1, Tasks.create(2, title: "b"))],
            by: other
        )
        let last = try await world.upload([upload(4, on: 1, Tasks.create(3, title: "c"))], by: one)
        let known = try #require(last.ownVersions).following(first.ownVersions)
        #expect(known.batch(from: start) == nil)
        var readOnly = world
        readOnly.policy = SchemaPolicy(allowsAdditions: true)
        // A repeated upload makes no version.
        let repeated = try await readOnly.upload(
            [upload(4, on: 1, Tasks.create(3, title: "c"))],
            by: one
        )
        #expect(repeated.ownVersions == nil)
    }
}
