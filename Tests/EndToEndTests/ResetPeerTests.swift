import FoundationEssentials
import SyncProtocol
import Synchronization
import TestSupport
import Testing
import Versions

/// Client reset, 2 and 8; wire protocol, 8 and 9: what our server never says, or only at other times.
@Suite(
    "What servers of others ask a client to do, with the real programs",
    .serialized,
    .timeLimit(.minutes(30))
)
struct ResetPeerTests {
    /// One synchronised row, and one that is not; then the body, with the agent's way to the server.
    private func with(
        _ realm: String...,
        judge: @escaping Middleman.Judge,
        _ body: (ResetWorld, Middleman) async throws -> Void
    ) async throws {
        let world = try ResetWorld()
        defer { world.remove() }
        let deployment = world.deployment
        try world.configure("north", realm: realm.first ?? "client_reset: {}")
        try await deployment.withServer { _ in
            try await deployment.withAgent("north") { _ in
                #expect(try await deployment.sync("north").status == 0)
                try await world.write("INSERT INTO Item(_id, note) VALUES (1, 'one');", on: "north")
                #expect(try await deployment.sync("north").status == 0)
            }
            try await world.write("INSERT INTO Item(_id, note) VALUES (2, 'mine');", on: "north")
            try await Middleman.with(serverPort: deployment.port, judge) { middleman, port in
                try world.lead("north", to: port)
                try await body(world, middleman)
            }
        }
    }

    /// Checks the server's content through another agent.
    private func expectOnServer(_ notes: String, _ world: ResetWorld) async throws {
        try world.configure("south")
        try await world.deployment.withAgent("south") { _ in
            #expect(try await world.deployment.sync("south").status == 0)
            try await world.expectNotes(notes, on: "south")
        }
    }

    @Sendable private static func refuseUploads(_ message: ClientMessage) -> Middleman.Verdict {
        guard case .upload(let upload) = message, !upload.changesets.isEmpty else { return .pass }
        return .close(.messageTooBig)
    }

    @Test("1009: the realm is reset; a change that is still too big is left to the owner")
    func messageTooBig() async throws {
        try await with(judge: Self.refuseUploads) { world, middleman in
            try await world.deployment.withAgent("north") { _ in
                // Recovered once, it is too big again.
                try await world.expectState("needs-reset", "reset.cycle", on: "north")
                #expect(world.deployment.log("north").contains("code=connection.message_too_big"))
                #expect(try await world.reset("north", "finished")?.did_recover == true)
                #expect(try await world.notes(on: "north") == "1|one\n2|mine\n")
                // The owner tries again, in vain.
                #expect(try await world.agent("north", "restart", "stock").status == 0)
                let isTriedAgain = try await eventually {
                    let events = try await world.events("north", "reset")
                    return events.count { $0.stage == "finished" } == 2
                        && events.last?.stage == "failed"
                }
                #expect(isTriedAgain, "\(world.deployment.log("north"))")
                // Then has it let through.
                middleman.stepAside()
                #expect(try await world.agent("north", "restart", "stock").status == 0)
                try await world.expectState("open", on: "north")
                #expect(try await world.deployment.sync("north").status == 0)
            }
            try await expectOnServer("1|one\n2|mine\n", world)
        }
    }

    @Test("1009 in the mode that may discard: the big change is kept in a file, and sync continues")
    func messageTooBigDiscards() async throws {
        let mode = "client_reset: { mode: recover-or-discard-unsynced-changes }"
        try await with(mode, judge: Self.refuseUploads) { world, _ in
            try await world.deployment.withAgent("north") { _ in
                try await world.expectNotes("1|one\n", on: "north")
                let export = try #require(world.recovered("north", ".jsonl").first)
                #expect(try String(contentsOfFile: export, encoding: .utf8).contains("mine"))
                #expect(try await world.deployment.sync("north").status == 0)
                try await world.expectState("open", on: "north")
            }
        }
    }

    @Test("206: the file is set aside at the next start, and nothing happens to it before")
    func permissionDenied() async throws {
        let refuse: Middleman.Judge = { message in
            if case .ident = message { .refuse(.permissionDenied) } else { .pass }
        }
        try await with(judge: refuse) { world, middleman in
            let deployment = world.deployment
            try await deployment.withAgent("north") { _ in
                try await world.expectState("failed", "sync.permission_denied", on: "north")
                let required = try #require(try await world.reset("north", "required"))
                #expect(required.token != nil)
                #expect(try await world.notes(on: "north") == "1|one\n2|mine\n")
            }
            middleman.stepAside()
            try await deployment.withAgent("north") { _ in
                try await world.expectNotes("1|one\n", on: "north")
                let copy = try #require(world.recovered("north", ".sqlite").first)
                let kept = try await Programs.sqlite3(copy, "SELECT _id, note FROM Item;")
                #expect(kept == "1|one\n2|mine\n")
                #expect(try await deployment.sync("north").status == 0)
            }
        }
    }

    @Test("MigrateToFLX without a flexible connection: the realm is unchanged, and syncs later")
    func migration() async throws {
        let migrate: Middleman.Judge = { message in
            guard case .ident = message else { return .pass }
            return .refuse(.migrateToFlexibleSync(partitionQuery: #"site == "main""#))
        }
        try await with(judge: migrate) { world, middleman in
            let deployment = world.deployment
            try await deployment.withAgent("north") { _ in
                // The middleman accepts no connection of flexible sync.
                try await world.expectState("resetting", on: "north")
                #expect(try await world.notes(on: "north") == "1|one\n2|mine\n")
                #expect(world.recovered("north", ".sqlite").isEmpty)
                middleman.stepAside()
                #expect(try await world.agent("north", "restart", "stock").status == 0)
                try await world.expectState("open", on: "north")
                #expect(try await deployment.sync("north").status == 0)
            }
            try await expectOnServer("1|one\n2|mine\n", world)
        }
    }

    @Test("RevertToPBS: a reset like any other, which recovers unsynced changes")
    func revert() async throws {
        // Only the file that the realm had is told.
        let old = OldFile()
        let revert: Middleman.Judge = { message in
            guard case .ident(let ident) = message, old.isThis(ident.file) else { return .pass }
            return .refuse(.revertToPartitionBasedSync)
        }
        try await with(judge: revert) { world, _ in
            try await world.deployment.withAgent("north") { _ in
                let finished = try #require(try await world.reset("north", "finished"))
                #expect(finished.did_recover == true)
                #expect(
                    world.deployment.log("north").contains(
                        "code=sync.revert_to_partition_based_sync"
                    )
                )
                try await world.expectNotes("1|one\n2|mine\n", on: "north")
                #expect(try await world.deployment.sync("north").status == 0)
            }
            try await expectOnServer("1|one\n2|mine\n", world)
        }
    }
}

/// Recognises the first file that was seen.
private final class OldFile: Sendable {
    private let first = Mutex<SaltedFileIdent?>(nil)

    func isThis(_ file: SaltedFileIdent) -> Bool {
        first.withLock { first in
            if first == nil { first = file }
            return first == file
        }
    }
}
