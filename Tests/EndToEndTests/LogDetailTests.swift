import FoundationEssentials
import TestSupport
import Testing

@Suite("The log at its lowest levels, with the real programs", .timeLimit(.minutes(30)))
struct LogDetailTests {
    @Test(
        "It shows messages, cursors and changesets, and rows only if its settings say so",
        arguments: [false, true]
    )
    func everything(showsValues: Bool) async throws {
        let deployment = try Deployment()
        defer { deployment.remove() }
        for agent in ["a", "b"] {
            try deployment.configure(agent)
            let path = "\(deployment.directory)/\(agent).yaml"
            let text = try String(contentsOfFile: path, encoding: .utf8)
            try deployment.write(
                "\(agent).yaml",
                text.replacing("level: info", with: "level: all, values: \(showsValues)")
            )
        }
        try await deployment.withServer { _ in
            try await deployment.withAgent("a") { _ in
                try await deployment.withAgent("b") { _ in
                    try await deployment.sync("a")
                    try await Programs.sqlite3(
                        deployment.file("a"),
                        "INSERT INTO Item(_id, owner, note) VALUES (4711, 'o', 'confidential');"
                    )
                    #expect(try await deployment.sync("a").status == 0)
                    #expect(try await deployment.sync("b").status == 0)
                    #expect(try await deployment.count("b") == 1)
                }
            }
        }
        let (a, b) = (deployment.log("a"), deployment.log("b"))
        for line in [
            "Sync.Client.Network: connecting", "Sync.Client.Session: message sent",
            "Sync.Client.Session: message received", "name=BIND", "name=UPLOAD", "name=MARK",
            "detail Sync.Client.Storage: download integrated", "Agent.Schedule: schedule decided",
        ] {
            #expect(a.contains(line), "\(line): \(a)")
        }
        // Alone, or before a download was integrated, as the schema is.
        let drained = a.split(separator: "\n").count {
            $0.contains("capture log drained changesets=1") || $0.contains(" drained=1 ")
        }
        #expect(drained == 2, "\(a)")
        #expect(a.contains("upload_client_version="), "\(a)")
        #expect(a.contains("download_server_version="), "\(a)")
        let up = a.split(separator: "\n").filter { $0.contains("changeset uploaded") }
        #expect(up.contains { $0.contains("class=Item") && $0.contains("created=1") }, "\(a)")
        let down = b.split(separator: "\n").filter { $0.contains("changeset downloaded") }
        #expect(down.contains { $0.contains("class=Item") && $0.contains("created=1") }, "\(b)")
        for log in [a, b] {
            #expect(log.contains("confidential") == showsValues)
            #expect(log.contains("4711") == showsValues)
        }
    }
}
