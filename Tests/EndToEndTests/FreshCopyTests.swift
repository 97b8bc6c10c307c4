import FoundationEssentials
import SyncProtocol
import Synchronization
import TestSupport
import Testing
import Versions

/// Client reset, 4 and 12: what can come between a reset and its download.
@Suite(
    "The fresh copy of a client reset, with the real programs",
    .serialized,
    .timeLimit(.minutes(30))
)
struct FreshCopyTests {
    /// Refuses the file that was seen first, and lets a test say what becomes of the downloads of others.
    private final class Refusal: Sendable {
        private struct State {
            var old: SaltedFileIdent?
            var freshSessions: Set<SessionIdent> = []
            var uploads = 0
            var losses: Int
        }

        private let state: Mutex<State>
        private let fault: SessionFault?

        /// - Parameters:
        ///   - losses: so many downloads of the fresh copy lose their connection.
        ///   - fault: what they are refused with.
        init(losses: Int = 0, _ fault: SessionFault? = nil) {
            state = Mutex(State(losses: losses))
            self.fault = fault
        }

        /// UPLOADs of sessions that download a fresh copy.
        var uploads: Int { state.withLock { $0.uploads } }
        var lossesLeft: Int { state.withLock { $0.losses } }

        func judge(_ message: ClientMessage) -> Middleman.Verdict {
            state.withLock { state in
                switch message {
                case .ident(let ident):
                    if state.old == nil { state.old = ident.file }
                    if ident.file == state.old { return .refuse(.badClientFileIdent) }
                    // The realm continues under this ident once the download has ended.
                    guard ident.download.serverVersion == .zero else {
                        state.freshSessions.remove(ident.session)
                        break
                    }
                    state.freshSessions.insert(ident.session)
                    if let fault { return .refuse(fault) }
                    guard state.losses > 0 else { break }
                    state.losses -= 1
                    return .close(.goingAway)
                case .upload(let upload) where state.freshSessions.contains(upload.session):
                    state.uploads += 1
                default: break
                }
                return .pass
            }
        }
    }

    private func with(
        _ refusal: Refusal,
        _ body: (ResetWorld, Middleman) async throws -> Void
    ) async throws {
        let world = try ResetWorld()
        defer { world.remove() }
        let deployment = world.deployment
        try world.configure("north")
        try await deployment.withServer { _ in
            try await deployment.withAgent("north") { _ in
                #expect(try await deployment.sync("north").status == 0)
                try await world.write("INSERT INTO Item(_id, note) VALUES (1, 'one');", on: "north")
                #expect(try await deployment.sync("north").status == 0)
            }
            try await world.write("INSERT INTO Item(_id, note) VALUES (2, 'mine');", on: "north")
            try await Middleman.with(serverPort: deployment.port, { refusal.judge($0) }) {
                middleman,
                port in
                try world.lead("north", to: port)
                try await body(world, middleman)
            }
        }
    }

    @Test("A lost network delays it; it uploads nothing; and waiters keep waiting")
    func lostNetwork() async throws {
        let refusal = Refusal(losses: 3)
        try await with(refusal) { world, _ in
            let deployment = world.deployment
            try await deployment.withAgent("north") { _ in
                // Asked for before the reset, answered after it.
                let waiting = try await world.agent(
                    "north",
                    "wait",
                    "stock",
                    "--for",
                    "upload",
                    "--timeout",
                    "180s"
                )
                #expect(waiting.status == 0, "\(waiting.errors)")
                #expect(try await world.reset("north", "finished")?.did_recover == true)
                #expect(refusal.lossesLeft == 0)
                #expect(refusal.uploads == 0)
                try await world.expectNotes("1|one\n2|mine\n", on: "north")
                #expect(!world.exists(deployment.file("north") + ".fresh"))
            }
        }
    }

    @Test(
        "A reset that the server refuses is left to the owner, who gets the reason and can continue"
    )
    func refused() async throws {
        try await with(Refusal(.illegalRealmPath)) { world, middleman in
            try await world.deployment.withAgent("north") { _ in
                try await world.expectState("needs-reset", "reset.no_fresh_copy", on: "north")
                let detail = try await world.status("north")?.detail ?? ""
                #expect(
                    detail.contains("says the middleman [sync.illegal_realm_path]"),
                    "\(detail)"
                )
                #expect(try await world.notes(on: "north") == "1|one\n2|mine\n")
                middleman.stepAside()
                let reset = try await world.agent("north", "reset", "stock")
                #expect(reset.status == 0, "\(reset.errors)")
                try await world.expectState("open", on: "north")
                #expect(try await world.deployment.sync("north").status == 0)
                #expect(try await world.notes(on: "north") == "1|one\n2|mine\n")
            }
        }
    }

    @Test(
        "If its file cannot be created, the reset is left to the owner, and the realm is unchanged"
    )
    func noFile() async throws {
        try await with(Refusal()) { world, _ in
            let fresh = world.deployment.file("north") + ".fresh"
            try FileManager.default.createDirectory(
                atPath: fresh,
                withIntermediateDirectories: false
            )
            try await world.deployment.withAgent("north") { _ in
                try await world.expectState("needs-reset", "reset.no_fresh_copy", on: "north")
                #expect(try await world.notes(on: "north") == "1|one\n2|mine\n")
                try FileManager.default.removeItem(atPath: fresh)
                let reset = try await world.agent("north", "reset", "stock")
                #expect(reset.status == 0, "\(reset.errors)")
                try await world.expectNotes("1|one\n2|mine\n", on: "north")
            }
        }
    }

    @Test("The remains of an earlier download are continued, or replaced if they are not usable")
    func leftOver() async throws {
        try await with(Refusal()) { world, _ in
            let fresh = world.deployment.file("north") + ".fresh"
            try Data("no database".utf8).write(to: URL(filePath: fresh))
            try await world.deployment.withAgent("north") { _ in
                #expect(try await world.reset("north", "finished")?.did_recover == true)
                try await world.expectNotes("1|one\n2|mine\n", on: "north")
                #expect(!world.exists(fresh))
            }
        }
    }

    @Test("While discarded changes cannot be exported, nothing is discarded")
    func noExport() async throws {
        try await with(Refusal()) { world, _ in
            let directory = "\(world.deployment.directory)/north/recovered"
            try Data("an obstacle".utf8).write(to: URL(filePath: directory))
            let text = world.text("north.yaml")
            let mode = "    client_reset: { mode: discard-unsynced-changes }\n"
            try world.deployment.write("north.yaml", text + mode)
            try await world.deployment.withAgent("north") { _ in
                let isDelayed = await eventually {
                    world.deployment.log("north").contains("client reset delayed")
                }
                #expect(isDelayed)
                #expect(try await world.notes(on: "north") == "1|one\n2|mine\n")
                try FileManager.default.removeItem(atPath: directory)
                try await world.expectNotes("1|one\n", on: "north")
                let export = try #require(world.recovered("north", ".jsonl").first)
                #expect(try String(contentsOfFile: export, encoding: .utf8).contains("mine"))
                #expect(try await world.deployment.sync("north").status == 0)
            }
        }
    }
}
