import FoundationEssentials
import Subprocess
import Testing

/// Features, P3, P4, E6 and U10; sync history, 9.3.
@Suite(
    "Waiting for uploads and downloads, with the real programs",
    .serialized,
    .timeLimit(.minutes(30))
)
struct WaitTests {
    @Test("A wait outlives the server, and a token that expires during it")
    func tokenRefresh() async throws {
        let world = try ResetWorld(app: "tokens: { access: 1s, refresh: 60d }")
        let deployment = world.deployment
        defer { deployment.remove() }
        try deployment.configure("north")
        try deployment.configure("south")
        try await deployment.withAgent("south") { _ in
            try await deployment.withServer { _ in
                try await deployment.sync("south")
                try await deployment.withAgent("north") { _ in
                    try await deployment.sync("north")
                    try await world.write(
                        "INSERT INTO Item(_id, note) VALUES (1, 'north')",
                        on: "north"
                    )
                    #expect(try await deployment.sync("north").status == 0)
                }
            }
            try await world.write("INSERT INTO Item(_id, note) VALUES (2, 'south')", on: "south")
            let wait = Task {
                try await world.agent("south", "wait", "stock", "--timeout", "180s")
            }
            // Tokens count whole seconds, so two of them are more than one lifetime.
            try await Task.sleep(for: .seconds(2))
            let earlier = try await refreshes(world)
            try await deployment.withServer { _ in
                let outcome = try await wait.value
                #expect(outcome.status == 0, "\(outcome.errors)\(deployment.log("south"))")
                try await deployment.withAgent("north") { _ in
                    try await world.expectNotes("1|north\n2|south\n", on: "north")
                }
            }
            #expect(try await world.notes(on: "south") == "1|north\n2|south\n")
            #expect(try await refreshes(world) > earlier)
        }
    }

    /// Number of token refreshes of the user of "south".
    private func refreshes(_ world: ResetWorld) async throws -> Int {
        let events = try await world.agent("south", "events").output
        return events.split(separator: "\n").count { $0.contains(#""change":"token-refreshed""#) }
    }

    @Test("A wait outlives a client reset, and ends when the recovered changes are uploaded")
    func clientReset() async throws {
        let world = try ResetWorld()
        let deployment = world.deployment
        defer { deployment.remove() }
        try deployment.configure("north")
        try deployment.configure("south")
        try await deployment.withServer { _ in
            try await deployment.withAgent("south") { _ in
                try await deployment.sync("south")
                try await world.write("INSERT INTO Item(_id, note) VALUES (1, 'one')", on: "south")
                #expect(try await deployment.sync("south").status == 0)
                try await world.server("sync", "terminate", "--yes")
                try await world.write("INSERT INTO Item(_id, note) VALUES (2, 'two')", on: "south")
                async let wait = world.agent("south", "wait", "stock", "--timeout", "180s")
                try await world.server("sync", "enable")
                let outcome = try await wait
                #expect(outcome.status == 0, "\(outcome.errors)\(deployment.log("south"))")
                #expect(deployment.log("south").contains("client reset finished"))
            }
            // Gone with its agent, so that only the server can have it.
            try await deployment.withAgent("north") { _ in
                try await world.expectNotes("1|one\n2|two\n", on: "north")
            }
        }
    }

    @Test("Writes that the server undoes leave the tables, and are reported with their values")
    func rejectedByServer() async throws {
        let world = try ResetWorld(app: #"access: { read: "true", write: "partition == 'open'" }"#)
        let deployment = world.deployment
        defer { deployment.remove() }
        let server = try String(
            contentsOfFile: "\(deployment.directory)/server.yaml",
            encoding: .utf8
        )
        try deployment.write(
            "server.yaml",
            server.replacing(
                "    development_mode: true",
                with: "    schema: \(deployment.directory)/schema.yaml"
            )
        )
        try deployment.configure("north", partition: "open")
        try deployment.configure("south", partition: "closed")
        try await deployment.withServer { _ in
            try await deployment.withAgent("south") { _ in
                try await deployment.sync("south")
                try await world.write(
                    "INSERT INTO Item(_id, note, amount) VALUES (7, 'mine', 3)",
                    on: "south"
                )
                // The server has taken it in and undone it: nothing is left to upload.
                let wait = try await world.agent("south", "wait", "stock", "--timeout", "180s")
                #expect(wait.status == 0, "\(wait.errors)")
                try await world.expectNotes("", on: "south")
                let rejects = try await world.agent("south", "rejects", "stock", "--json").output
                for part in [
                    #""by":"server""#, #""class":"Item""#, #""error_code":231"#, #""key":"7""#,
                    "mine",
                ] {
                    #expect(rejects.contains(part), "\(part): \(rejects)")
                }
                let table = try await world.agent("south", "rejects", "stock").output
                #expect(table.contains("server"), "\(table)")
                let events = try await world.agent("south", "events").output
                #expect(events.contains(#""event":"rejected""#), "\(events)")
            }
            // The rule is about one partition only.
            try await deployment.withAgent("north") { _ in
                try await deployment.sync("north")
                try await world.write("INSERT INTO Item(_id, note) VALUES (8, 'ours')", on: "north")
                #expect(try await deployment.sync("north").status == 0)
                try await world.expectNotes("8|ours\n", on: "north")
            }
        }
    }
}
