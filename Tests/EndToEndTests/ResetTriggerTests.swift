import FoundationEssentials
import TestSupport
import Testing

/// Client reset, 2: what makes a reset necessary, and what the agent does about it. That sync was
/// terminated is in `ClientResetTests`; the rest needs no server of ours, or none that can be told to.
@Suite(
    "What makes a client reset necessary, with the real programs",
    .serialized,
    .timeLimit(.minutes(30))
)
struct ResetTriggerTests {
    /// One synchronised row by an agent that has stopped; the server runs on while the body does.
    private func synchronised(_ world: ResetWorld) async throws {
        try await world.deployment.withAgent("north") { _ in
            #expect(try await world.deployment.sync("north").status == 0)
            try await world.write("INSERT INTO Item(_id, note) VALUES (1, 'one');", on: "north")
            #expect(try await world.deployment.sync("north").status == 0)
        }
    }

    @Test(
        "A server restored from a backup: changes that it lost are gone, unsynced ones are kept",
        arguments: [false, true]
    )
    func restoredServer(hasDiverged: Bool) async throws {
        let world = try ResetWorld()
        defer { world.remove() }
        let deployment = world.deployment
        try world.configure("north")
        try world.configure("south")
        try await deployment.withServer { _ in
            try await synchronised(world)
            try await deployment.withAgent("south") { _ in
                let status = try await deployment.sync("south").status
                #expect(status == 0)
            }
        }
        try await world.copy("server", to: "backup")
        try await deployment.withServer { _ in
            try await deployment.withAgent("north") { _ in
                for id in 2...4 {
                    let row = "INSERT INTO Item(_id, note) VALUES (\(id), 'lost by the server');"
                    try await world.write(row, on: "north")
                    #expect(try await deployment.sync("north").status == 0)
                }
            }
        }
        try FileManager.default.removeItem(atPath: "\(deployment.directory)/server")
        try await world.copy("backup", to: "server")
        try await deployment.withServer { _ in
            if hasDiverged {
                try await deployment.withAgent("south") { _ in
                    for id in 11...18 {
                        let row = "INSERT INTO Item(_id, note) VALUES (\(id), 'south');"
                        try await world.write(row, on: "south")
                        #expect(try await deployment.sync("south").status == 0)
                    }
                }
            }
            try await world.write(
                "INSERT INTO Item(_id, note) VALUES (9, 'unsynced');",
                on: "north"
            )
            try await deployment.withAgent("north") { _ in
                let started = try await world.reset("north", "started")
                #expect(started != nil, "\(deployment.log("north"))")
                let south = hasDiverged ? (11...18).map { "\($0)|south\n" }.joined() : ""
                try await world.expectNotes("1|one\n9|unsynced\n" + south, on: "north")
                #expect(try await deployment.sync("north").status == 0)
            }
        }
    }

    @Test("A client file that was away for too long keeps its unsynced writes")
    func expired() async throws {
        let world = try ResetWorld()
        defer { world.remove() }
        let deployment = world.deployment
        try world.configure("north")
        try await deployment.withServer { _ in try await synchronised(world) }
        try await world.write("INSERT INTO Item(_id, note) VALUES (2, 'late');", on: "north")
        // What the hourly trimming does to a file that was not seen for the offline limit.
        try await world.edit(serverStore: "UPDATE client_file SET is_expired = 1;")
        try await deployment.withServer { _ in
            try await deployment.withAgent("north") { _ in
                #expect(try await world.reset("north", "finished")?.did_recover == true)
                #expect(deployment.log("north").contains("code=sync.client_file_expired"))
                try await world.expectNotes("1|one\n2|late\n", on: "north")
                #expect(try await deployment.sync("north").status == 0)
            }
        }
    }

    @Test("Where the server permits no recovery, the mode decides between asking and discarding")
    func noRecovery() async throws {
        let world = try ResetWorld(app: "client_recovery: false")
        defer { world.remove() }
        let deployment = world.deployment
        try world.configure("north")
        try await deployment.withServer { _ in
            try await synchronised(world)
            try await world.terminateSync()
            try await world.write("INSERT INTO Item(_id, note) VALUES (2, 'mine');", on: "north")
            try await deployment.withAgent("north") { _ in
                try await world.expectState(
                    "needs-reset",
                    "reset.recovery_not_permitted",
                    on: "north"
                )
                #expect(try await world.notes(on: "north") == "1|one\n2|mine\n")
            }
            try world.configure(
                "north",
                realm: "client_reset: { mode: recover-or-discard-unsynced-changes }"
            )
            try await deployment.withAgent("north") { _ in
                try await world.expectNotes("1|one\n", on: "north")
                let export = try #require(world.recovered("north", ".jsonl").first)
                let text = String(
                    decoding: FileManager.default.contents(atPath: export) ?? Data(),
                    as: UTF8.self
                )
                #expect(text.contains("mine"))
                #expect(try await deployment.sync("north").status == 0)
            }
        }
    }

    @Test(
        "A file of another user at the server, or of a user who may not read, is set aside"
    )
    func foreignFile() async throws {
        let world = try ResetWorld()
        defer { world.remove() }
        let deployment = world.deployment
        try world.configure("north")
        try await deployment.withServer { _ in try await synchronised(world) }
        try await world.edit(serverStore: "UPDATE client_file SET user_id = 'another-user';")
        try await world.write("INSERT INTO Item(_id, note) VALUES (2, 'mine');", on: "north")
        try await deployment.withServer { _ in
            try await deployment.withAgent("north") { _ in
                try await world.expectState("failed", "sync.user_mismatch", on: "north")
                let required = try #require(try await world.reset("north", "required"))
                #expect(required.token != nil)
                // Nothing happens to it while it may be in use.
                #expect(try await world.notes(on: "north") == "1|one\n2|mine\n")
            }
            try await deployment.withAgent("north") { _ in
                try await world.expectNotes("1|one\n", on: "north")
                let copy = try #require(world.recovered("north", ".sqlite").first)
                #expect(
                    try await Programs.sqlite3(copy, "SELECT note FROM Item WHERE _id = 2;")
                        == "mine\n"
                )
                #expect(try await deployment.sync("north").status == 0)
            }
        }
    }

    @Test("A realm file restored from a backup gets a new identity and loses nothing")
    func restoredFile() async throws {
        let world = try ResetWorld()
        defer { world.remove() }
        let deployment = world.deployment
        let (file, backup) = (deployment.file("north"), "\(deployment.directory)/backup.sqlite")
        try world.configure("north")
        try await deployment.withServer { _ in
            try await synchronised(world)
            try await Programs.sqlite3(file, "VACUUM INTO '\(backup)';")
            try await deployment.withAgent("north") { _ in
                for id in 2...4 {
                    let row = "INSERT INTO Item(_id, note) VALUES (\(id), 'after the backup');"
                    try await world.write(row, on: "north")
                    #expect(try await deployment.sync("north").status == 0)
                }
            }
            // Into the same file, as a restore does it; versions of the lost time will come again.
            #expect(try await Programs.run("cp", [backup, file]).status == 0)
            try await world.write("INSERT INTO Item(_id, note) VALUES (9, 'then');", on: "north")
            try await deployment.withAgent("north") { _ in
                #expect(try await world.reset("north", "finished")?.did_recover == true)
                let after = (2...4).map { "\($0)|after the backup\n" }.joined()
                try await world.expectNotes("1|one\n\(after)9|then\n", on: "north")
                #expect(try await deployment.sync("north").status == 0)
            }
            try world.configure("south")
            try await deployment.withAgent("south") { _ in
                let status = try await deployment.sync("south").status
                #expect(status == 0)
                #expect(try await deployment.count("south") == 5)
            }
        }
    }

    @Test("After triggers were missing the realm is archived and synced again")
    func alteredTables() async throws {
        let world = try ResetWorld()
        defer { world.remove() }
        let deployment = world.deployment
        try world.configure("north")
        try await deployment.withServer { _ in
            try await synchronised(world)
            let triggers = try await Programs.sqlite3(
                deployment.file("north"),
                "SELECT group_concat('DROP TRIGGER ' || name, ';') FROM sqlite_schema WHERE type = 'trigger';"
            )
            try await world.write(triggers.filter { $0 != "\n" } + ";", on: "north")
            try await world.write(
                "INSERT INTO Item(_id, owner, note) VALUES (2, '', 'not captured');",
                on: "north"
            )
            try await deployment.withAgent("north") { _ in
                let finished = try #require(try await world.reset("north", "finished"))
                let copy = try #require(finished.recovery_path)
                let kept = try await Programs.sqlite3(copy, "SELECT note FROM Item WHERE _id = 2;")
                #expect(kept == "not captured\n")
                try await world.expectNotes("1|one\n", on: "north")
                // From here on everything is captured again.
                try await world.write("INSERT INTO Item(_id, note) VALUES (3, 'x');", on: "north")
                #expect(try await deployment.sync("north").status == 0)
                try await world.expectState("open", on: "north")
            }
        }
    }

    @Test("A class that the server redefined ends with both definitions after a manual reset")
    func breakingSchema() async throws {
        let world = try ResetWorld()
        defer { world.remove() }
        let deployment = world.deployment
        let tell = try world.program("tell", "echo \"$request\" >'\(deployment.directory)/told'")
        try world.configure(
            "north",
            user: .emailPassword,
            realm: "client_reset: { manual: [tell] }",
            plugins: "tell: { use: exec, command: [\(tell)] }"
        )
        // The user is older than the schema.
        try await deployment.withServer { _ in
            try await world.server(
                "users",
                "create",
                "user@example.com",
                "--password-file",
                "\(deployment.directory)/password"
            )
            // Its first log-in gives it the id that the realm will belong to.
            let connected = try await world.agent("north", "check", "--connect")
            #expect(connected.status == 0, "\(connected.errors)")
        }
        try await world.copy("server", to: "backup")
        try await deployment.withServer { _ in try await synchronised(world) }
        try await world.write("INSERT INTO Item(_id, note) VALUES (2, 'mine');", on: "north")
        try FileManager.default.removeItem(atPath: "\(deployment.directory)/server")
        try await world.copy("backup", to: "server")

        let schema = world.text("schema.yaml")
        try deployment.write(
            "other.yaml",
            schema.replacing("note: string?", with: "note: int?")
        )
        // The same user: no other user has the file's identity now.
        try world.configure("south", user: .emailPassword)
        let south = world.text("south.yaml")
        try deployment.write("south.yaml", south.replacing("/schema.yaml", with: "/other.yaml"))
        try await deployment.withServer { _ in
            try await deployment.withAgent("south") { _ in
                #expect(try await deployment.sync("south").status == 0)
                try await world.write("INSERT INTO Item(_id, note) VALUES (1, 5);", on: "south")
                #expect(try await deployment.sync("south").status == 0)
            }
            try await deployment.withAgent("north") { _ in
                try await world.expectState("needs-reset", "reset.schema_breaking", on: "north")
                let detail = try await world.status("north")?.detail ?? ""
                #expect(
                    detail.contains("Item.note is string? here, int? on the server"),
                    "\(detail)"
                )
                #expect(try await world.notes(on: "north") == "1|one\n2|mine\n")
                let isTold = await eventually {
                    world.text("told").contains("Item.note is string?")
                }
                #expect(isTold, "\(world.text("told"))")
            }
        }
    }
}
