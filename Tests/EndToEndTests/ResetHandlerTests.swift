import FoundationEssentials
import TestSupport
import Testing

/// Interfaces, 7; client reset, 9 and 11.
@Suite("Handlers of client resets, with the real programs", .serialized, .timeLimit(.minutes(30)))
struct ResetHandlerTests {
    /// One synchronised row, and an unsynced change of it, behind a server that has forgotten the file.
    private func withForgottenFile(
        _ world: ResetWorld,
        _ body: () async throws -> Void
    ) async throws {
        let deployment = world.deployment
        try await deployment.withServer { _ in
            try await deployment.withAgent("north") { _ in
                try await deployment.sync("north")
                try await world.write(
                    "INSERT INTO Item(_id, note) VALUES (1, 'one'), (2, 'two');",
                    on: "north"
                )
                #expect(try await deployment.sync("north").status == 0)
            }
            try await world.server("sync", "terminate", "--yes")
            try await world.write(
                """
                UPDATE Item SET note = 'mine' WHERE _id = 1;
                INSERT INTO Item(_id, note) VALUES (3, 'three');
                """,
                on: "north"
            )
            try await world.server("sync", "enable")
            try await deployment.withAgent("north") { _ in try await body() }
        }
    }

    @Test("Before it handlers see the realm as it was, after it as it was and as it is")
    func beforeAndAfter() async throws {
        let world = try ResetWorld()
        defer { world.remove() }
        let directory = world.deployment.directory
        let look = try world.program(
            "look",
            """
            kind=$(echo "$request" | jq -r .kind)
            echo "$request" >"\(directory)/$kind.json"
            path=$(echo "$request" | jq -r .path)
            look() { sqlite3 -readonly -cmd '.timeout 30000' "$1" 'SELECT _id, note FROM Item'; }
            look "$path" >"\(directory)/$kind.rows"
            before=$(echo "$request" | jq -r '.before_path // empty')
            [ -z "$before" ] || look "$before" >"\(directory)/before.rows"
            echo '{"note":"seen"}'
            """
        )
        try world.configure(
            "north",
            realm:
                "client_reset: { mode: discard-unsynced-changes, before: [keep, export, look], after: [look] }",
            plugins: "look: { use: exec, command: [\(look)] }",
            "keep: { use: backup-realm, directory: \(directory)/kept }",
            "export: { use: export-unsynced, directory: \(directory)/exported }"
        )
        try await withForgottenFile(world) {
            let finished = try #require(try await world.reset("north", "finished"))
            #expect(finished.did_recover == false)
            #expect(finished.discarded == 2)
            let (was, isNow) = ("1|mine\n2|two\n3|three\n", "1|one\n2|two\n")
            #expect(world.text("client_reset_before.rows") == was)
            #expect(world.text("before.rows") == was)
            #expect(world.text("client_reset_after.rows") == isNow)
            let before = world.text("client_reset_before.json")
            #expect(before.contains(#""mode":"discard-unsynced-changes""#))
            let after = world.text("client_reset_after.json")
            #expect(after.contains(#""discarded":{"Item":2}"#), "\(after)")
            #expect(after.contains(#""did_recover":false"#))
            let exported = try #require(world.recovered("north", ".jsonl").first)
            #expect(after.contains(exported))

            // Built-in handlers saw it before, too.
            let kept = try FileManager.default.contentsOfDirectory(atPath: "\(directory)/kept")
            let copy = try await Programs.sqlite3(
                "\(directory)/kept/\(try #require(kept.first))",
                "SELECT _id, note FROM Item;"
            )
            #expect(copy == was)
            let exports = try FileManager.default.contentsOfDirectory(
                atPath: "\(directory)/exported"
            )
            #expect(exports.count == 1)

            // The copy is for them alone, and gone afterwards.
            let isGone = await eventually {
                !world.exists(world.deployment.file("north") + ".before")
            }
            #expect(isGone)
            try await world.expectNotes(isNow, on: "north")
            #expect(try await world.deployment.sync("north").status == 0)
        }
    }

    @Test("Handlers that fail or hang are reported, and the reset is carried out without them")
    func failures() async throws {
        let world = try ResetWorld()
        defer { world.remove() }
        let fail = try world.program("fail", "echo 'cannot' >&2; exit 3")
        let hang = try world.program("hang", "sleep 600")
        try world.configure(
            "north",
            realm: "client_reset: { before: [fail, hang], after: [hang, fail] }",
            plugins: "fail: { use: exec, command: [\(fail)] }",
            "hang: { use: exec, command: [\(hang)], timeout: 200ms }"
        )
        try await withForgottenFile(world) {
            let finished = try #require(try await world.reset("north", "finished"))
            #expect(finished.did_recover == true)
            try await world.expectNotes("1|mine\n2|two\n3|three\n", on: "north")
            #expect(try await world.deployment.sync("north").status == 0)
            let failures = try await world.events("north", "plugin")
                .map { "\($0.plugin ?? "") \($0.handled ?? ""): \($0.failure ?? "")" }
            #expect(failures.count == 4, "\(failures)")
            #expect(
                failures.contains {
                    $0.hasPrefix("fail client_reset_before: the program ended with status 3")
                }
            )
            #expect(failures.contains { $0.hasPrefix("hang client_reset_after: no answer") })
            #expect(world.deployment.log("north").contains("handler failed; sync continues"))
            let list = try await world.agent("north", "plugins", "list")
            #expect(list.output.contains("fail"), "\(list.output)")
            let status = try await world.status("north")
            #expect(status?.state == "open")
        }
    }

    @Test("With require_before a handler that fails stops the reset, and the realm stays as it was")
    func requiredHandler() async throws {
        let world = try ResetWorld()
        defer { world.remove() }
        let fail = try world.program("fail", "exit 3")
        try world.configure(
            "north",
            realm: "client_reset: { before: [fail], require_before: true }",
            plugins: "fail: { use: exec, command: [\(fail)] }"
        )
        try await withForgottenFile(world) {
            try await world.expectState("needs-reset", "reset.handler_failed", on: "north")
            #expect(try await world.notes(on: "north") == "1|mine\n2|two\n3|three\n")
            #expect(try await world.deployment.sync("north").status == 5)
        }
    }

    @Test("A handler can put a reset off, and choose another mode for it")
    func decisions() async throws {
        let world = try ResetWorld()
        defer { world.remove() }
        let directory = world.deployment.directory
        let decide = try world.program(
            "decide",
            """
            [ -e '\(directory)/asked' ] && echo '{"decision":"discard"}' ||
                echo '{"decision":"suspend","note":"at night only"}'
            touch '\(directory)/asked'
            """
        )
        try world.configure(
            "north",
            realm: "client_reset: { before: [decide] }",
            plugins: "decide: { use: exec, command: [\(decide)] }"
        )
        try await withForgottenFile(world) {
            try await world.expectState("suspended", "decide", on: "north")
            #expect(try await world.notes(on: "north") == "1|mine\n2|two\n3|three\n")
            #expect(try await world.agent("north", "resume", "stock").status == 0)
            try await world.expectNotes("1|one\n2|two\n", on: "north")
            #expect(world.recovered("north", ".jsonl").count == 1)
        }
    }

    @Test("What is discarded is kept nowhere if the owner wants it so")
    func noExport() async throws {
        let world = try ResetWorld()
        defer { world.remove() }
        try world.configure(
            "north",
            realm: "client_reset: { mode: discard-unsynced-changes, export_discarded: false }"
        )
        try await withForgottenFile(world) {
            let finished = try #require(try await world.reset("north", "finished"))
            #expect(finished.recovery_path == nil)
            try await world.expectNotes("1|one\n2|two\n", on: "north")
            #expect(world.recovered("north", "").isEmpty)
        }
    }

    @Test("A manual reset gives its handler paths and a token, with which it starts over")
    func manual() async throws {
        let world = try ResetWorld()
        defer { world.remove() }
        let directory = world.deployment.directory
        let tell = try world.program("tell", "echo \"$request\" >'\(directory)/manual.json'")
        try world.configure(
            "north",
            realm: "client_reset: { mode: manual, manual: [tell] }",
            plugins: "tell: { use: exec, command: [\(tell)] }"
        )
        try await withForgottenFile(world) {
            try await world.expectState("needs-reset", "reset.manual", on: "north")
            let failed = try #require(try await world.reset("north", "failed"))
            let isTold = await eventually { world.exists("\(directory)/manual.json") }
            #expect(isTold)
            let token = try #require(failed.token)
            let copy = try #require(failed.recovery_path)
            let request = world.text("manual.json")
            #expect(request.contains(#""kind":"client_reset_manual""#))
            #expect(request.contains(#""token":"\#(token)""#))
            #expect(request.contains(#""recovery_path":"\#(copy)""#))
            #expect(request.contains(#""code":"reset.manual""#))

            let wrong = try await world.agent("north", "reset", "stock", "--token", "no")
            #expect(wrong.errors.contains("reset.unknown_token"), "\(wrong.errors)")
            #expect(wrong.status == 1)
            let right = try await world.agent("north", "reset", "stock", "--token", token)
            #expect(right.status == 0, "\(right.errors)")
            #expect(right.output.contains("kept in \(copy)"))
            #expect(
                try await Programs.sqlite3(copy, "SELECT _id, note FROM Item;")
                    == "1|mine\n2|two\n3|three\n"
            )
            _ = try await eventually { try await world.deployment.sync("north").status == 0 }
            try await world.expectNotes("1|one\n2|two\n", on: "north")
            // It was carried out, once.
            let again = try await world.agent("north", "reset", "stock", "--token", token)
            #expect(again.errors.contains("reset.unknown_token"))
        }
    }

    @Test("A manual reset is carried out at the next start, with what was written until then")
    func nextStart() async throws {
        let world = try ResetWorld()
        defer { world.remove() }
        let deployment = world.deployment
        try world.configure("north", realm: "client_reset: { mode: manual }")
        try await withForgottenFile(world) {
            try await world.expectState("needs-reset", "reset.manual", on: "north")
            try await world.write("INSERT INTO Item(_id, note) VALUES (4, 'late');", on: "north")
        }
        try await deployment.withServer { _ in
            try await deployment.withAgent("north") { _ in
                try await world.expectNotes("1|one\n2|two\n", on: "north")
                let over = try #require(try await world.reset("north", "started_over"))
                let rows = try await Programs.sqlite3(
                    try #require(over.recovery_path),
                    "SELECT _id, note FROM Item;"
                )
                #expect(rows == "1|mine\n2|two\n3|three\n4|late\n")
                #expect(try await deployment.sync("north").status == 0)
            }
            // Once, and not again with each start.
            try await deployment.withAgent("north") { _ in
                let status = try await deployment.sync("north").status
                #expect(status == 0)
                #expect(world.recovered("north", ".sqlite").count == 1)
            }
        }
    }

    @Test("An owner who chooses another mode after a manual reset gets that one")
    func otherMode() async throws {
        let world = try ResetWorld()
        defer { world.remove() }
        let deployment = world.deployment
        try world.configure("north", realm: "client_reset: { mode: manual }")
        try await withForgottenFile(world) {
            try await world.expectState("needs-reset", "reset.manual", on: "north")
        }
        try world.configure("north", realm: "client_reset: { mode: recover-unsynced-changes }")
        try await deployment.withServer { _ in
            try await deployment.withAgent("north") { _ in
                try await world.expectNotes("1|mine\n2|two\n3|three\n", on: "north")
                #expect(world.recovered("north", "").isEmpty)
            }
        }
    }

    @Test("A handler of manual resets can decide on one, and on starting over")
    func manualDecisions() async throws {
        for (decision, rows) in [
            (
                #"{"decision":"reset","mode":"recover-unsynced-changes"}"#,
                "1|mine\n2|two\n3|three\n"
            ),
            (#"{"decision":"discard"}"#, "1|one\n2|two\n"),
            (#"{"decision":"reset","mode":"manual"}"#, "1|one\n2|two\n"),
        ] {
            let world = try ResetWorld()
            defer { world.remove() }
            let decide = try world.program("decide", "echo '\(decision)'")
            try world.configure(
                "north",
                realm: "client_reset: { mode: manual }",
                "on_error: [decide]",
                plugins: "decide: { use: exec, command: [\(decide)] }"
            )
            try await withForgottenFile(world) {
                try await world.expectNotes(rows, on: "north")
                let isWell = try await eventually {
                    try await world.deployment.sync("north").status == 0
                }
                #expect(isWell, "\(decision)")
            }
        }
    }
}
