import FoundationEssentials
import TestSupport
import Testing

@Suite("Verbs about realm files, with the real programs", .serialized, .timeLimit(.minutes(30)))
struct RealmFileVerbTests {
    private func agent(
        _ deployment: Deployment,
        _ name: String,
        _ arguments: String...,
        input: String = ""
    ) async throws -> Programs.Outcome {
        let files = ["--config", "\(deployment.directory)/\(name).yaml"]
        return try await Programs.run("realm-agent", arguments + files, input: input)
    }

    @Test("A copy becomes another machine's seed, a local file, and another partition")
    func copies() async throws {
        let deployment = try Deployment()
        defer { deployment.remove() }
        let seed = "\(deployment.directory)/seed.sqlite"
        let local = "\(deployment.directory)/local.sqlite"
        let moved = "\(deployment.directory)/moved.sqlite"
        try deployment.configure("north")
        try deployment.configure("south")
        try deployment.configure("east", partition: "other")
        func plant(_ path: String, in agent: String) throws {
            let file = "\(deployment.directory)/\(agent).yaml"
            let text = try String(contentsOfFile: file, encoding: .utf8)
            try deployment.write("\(agent).yaml", text + "\n    seed: \(path)\n")
        }
        try plant(seed, in: "south")
        try await deployment.withServer { _ in
            try await deployment.withAgent("north") { _ in
                try await deployment.sync("north")
                try await Programs.sqlite3(
                    deployment.file("north"),
                    "INSERT INTO Item(_id, note) VALUES (1, 'one'), (2, 'two');"
                )
                // Uploads pending changes first.
                let copy = try await agent(deployment, "north", "copy", "stock", seed, "--json")
                #expect(copy.status == 0, "\(copy.errors)")
                #expect(copy.output.contains(#""pending_upload_bytes":0"#))
                let again = try await agent(deployment, "north", "copy", "stock", seed)
                #expect(again.status == 1)
                #expect(again.errors.contains("[realm.file_exists]"))
                #expect(
                    try await agent(deployment, "north", "copy", "stock", local, "--to-local")
                        .status == 0
                )
                let partition = ["--to-partition", "string:other", "--as-user", "north"]
                let files = ["--config", "\(deployment.directory)/north.yaml"]
                let other = try await Programs.run(
                    "realm-agent",
                    ["copy", "stock", moved] + partition + files
                )
                #expect(other.status == 0, "\(other.errors)")
                let wrong = try await agent(
                    deployment,
                    "north",
                    "copy",
                    "stock",
                    "/tmp/x",
                    "--to-partition",
                    "other"
                )
                #expect(wrong.status == 2)

                try await deployment.withAgent("south") { _ in
                    let sync = try await deployment.sync("south")
                    #expect(sync.status == 0, "\(sync.errors)\(deployment.log("south"))")
                    #expect(deployment.log("south").contains("realm file copied from its seed"))
                    try await Programs.sqlite3(
                        deployment.file("south"),
                        "UPDATE Item SET note = 'south' WHERE _id = 1;"
                    )
                    try await deployment.sync("south")
                    try await deployment.sync("north")
                    let rows = try await deployment.rows("north")
                    #expect(rows == (try await deployment.rows("south")))
                    #expect(rows.contains("south"))
                    #expect(try await deployment.count("north") == 2)
                }
            }
            // Without an agent, too; and what was made for the other partition fills it.
            let offline = "\(deployment.directory)/offline.sqlite"
            #expect(try await agent(deployment, "north", "copy", "stock", offline).status == 0)
            let fromLocal = "\(deployment.directory)/from-local.sqlite"
            #expect(try await agent(deployment, "north", "copy", local, fromLocal).status == 0)
            try plant(moved, in: "east")
            try await deployment.withAgent("east") { _ in
                let sync = try await deployment.sync("east")
                #expect(sync.status == 0, "\(sync.errors)\(deployment.log("east"))")
                #expect(try await deployment.count("east", where: "note IN ('one', 'two')") == 2)
            }
        }
    }

    @Test("A copy is written to standard output, and into a realm whose agent uploads it")
    func mergedAndPrinted() async throws {
        let deployment = try Deployment()
        defer { deployment.remove() }
        try deployment.configure("north")
        try deployment.configure("east", partition: "other")
        let printed = "\(deployment.directory)/printed.sqlite"
        for wrong in [
            ["copy", "stock"], ["copy", "stock", printed, "--stdout"],
            ["copy", "stock", printed, "--merge", "--to-local"],
        ] {
            let files = ["--config", "\(deployment.directory)/north.yaml"]
            #expect(try await Programs.run("realm-agent", wrong + files).status == 2, "\(wrong)")
        }
        try await deployment.withServer { _ in
            try await deployment.withAgent("north") { _ in
                try await deployment.sync("north")
                try await Programs.sqlite3(
                    deployment.file("north"),
                    "INSERT INTO Item(_id, note) VALUES (1, 'one'), (2, 'two');"
                )
                let program = "\(Programs.directory)/realm-agent"
                let print = try await Programs.run(
                    "bash",
                    [
                        "-c",
                        "exec '\(program)' copy stock --stdout --config "
                            + "'\(deployment.directory)/north.yaml' > '\(printed)'",
                    ]
                )
                #expect(print.status == 0, "\(print.errors)")
                #expect(
                    try await Programs.sqlite3(printed, "SELECT count(*) FROM Item;").prefix(1)
                        == "2"
                )
                try await deployment.withAgent("east") { _ in
                    try await deployment.sync("east")
                    try await Programs.sqlite3(
                        deployment.file("east"),
                        "INSERT INTO Item(_id, note) VALUES (2, 'zwei'), (3, 'drei');"
                    )
                    let east = deployment.file("east")
                    let merge = try await agent(
                        deployment,
                        "north",
                        "copy",
                        "stock",
                        east,
                        "--merge",
                        "--json"
                    )
                    #expect(merge.status == 0, "\(merge.errors)")
                    #expect(merge.output.contains(#""merged_objects":2"#), "\(merge.output)")
                    #expect(try await deployment.sync("east").status == 0)
                }
                // Every other client of that partition gets all of it.
                try deployment.configure("west", partition: "other")
                try await deployment.withAgent("west") { _ in
                    #expect(try await deployment.sync("west").status == 0)
                    let notes = try await Programs.sqlite3(
                        deployment.file("west"),
                        "SELECT _id || note FROM Item ORDER BY _id;"
                    )
                    #expect(notes == "1one\n2two\n3drei\n")
                }
            }
        }
    }

    @Test("Ingest writes valid objects, rejects lists the values that could not be sent")
    func ingestAndRejects() async throws {
        let deployment = try Deployment()
        defer { deployment.remove() }
        try deployment.configure("a")
        let none = try await agent(deployment, "a", "ingest", "stock", "Item", input: "{}")
        #expect(none.status != 0)
        #expect(none.errors.contains("realm.cannot_open"), "\(none.errors)")
        #expect(try await agent(deployment, "a", "rejects", "stock").status == 3)
        try await deployment.withServer { _ in
            try await deployment.withAgent("a") { _ in
                try await deployment.sync("a")
                let lines = (1...2_500).map { #"{"_id":\#($0),"note":"n\#($0)"}"# + "\n" }.joined()
                let ingest = try await agent(
                    deployment,
                    "a",
                    "ingest",
                    "stock",
                    "Item",
                    "--json",
                    input: lines
                )
                #expect(ingest.status == 0, "\(ingest.errors)")
                #expect(ingest.output == #"{"dry_run":false,"lines":2500,"realm":"stock"}"# + "\n")
                #expect(try await deployment.count("a") == 2_500)
                let wrong = try await agent(
                    deployment,
                    "a",
                    "ingest",
                    "stock",
                    "Item",
                    "--atomic",
                    input: #"{"_id":9001}"# + "\n\n" + #"{"_id":9002,"amount":"x"}"#
                )
                #expect(wrong.status == 1)
                #expect(
                    wrong.errors.contains("standard input:3: error: ingest.bad_object: amount must")
                )
                #expect(try await deployment.count("a") == 2_500)
                let sync = try await deployment.sync("a")
                #expect(sync.status == 0)

                // What no CHECK sees, and no replica could hold.
                try await Programs.sqlite3(
                    deployment.file("a"),
                    """
                    PRAGMA ignore_check_constraints = ON;
                    UPDATE Item SET seen = 'tomorrow' WHERE _id = 7;
                    """
                )
                try await deployment.sync("a")
                let rejects = try await agent(deployment, "a", "rejects", "stock", "--json")
                #expect(rejects.status == 0, "\(rejects.errors)")
                #expect(rejects.output.contains(#""by":"local""#), "\(rejects.output)")
                #expect(rejects.output.contains(#""property":"seen""#))
                #expect(rejects.output.contains(#""value":"'tomorrow'""#))
                let table = try await agent(deployment, "a", "rejects", "stock")
                #expect(table.output.hasPrefix("ID  TIME"))

                let deletion = try await agent(deployment, "a", "delete", "stock", "--json")
                #expect(deletion.status == 0, "\(deletion.errors)")
                #expect(deletion.output.contains("stock.sqlite"))
                #expect(try await agent(deployment, "a", "resume", "stock").status == 0)
                let isBack = try await eventually {
                    guard try await deployment.sync("a").status == 0 else { return false }
                    return try await deployment.count("a") == 2_500
                }
                #expect(isBack, "\(deployment.log("a"))")
            }
        }
    }
}
