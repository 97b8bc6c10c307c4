import FoundationEssentials
import Glibc
import TestSupport
import Testing

@Suite("What the agent leaves in a journal, read back", .timeLimit(.minutes(30)))
struct JournalTests {
    private static let script =
        URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().path
        + "/Tools/with-journal.sh"

    /// Whether this machine can start a journald, and if not, why.
    private static let obstacle: String? = {
        guard getuid() == 0 else { return "a journald of our own needs root" }
        for tool in ["/lib/systemd/systemd-journald", "/usr/bin/journalctl", "/usr/bin/unshare"]
        where access(tool, X_OK) != 0 { return "\(tool) is missing" }
        let result = system("unshare --mount --propagation private true 2>/dev/null")
        return result == 0 ? nil : "the kernel forbids mount namespaces"
    }()

    /// The agent's entries, each with its fields; nothing while there is no journal yet.
    private func entries(_ journal: String) async throws -> [[String: String]] {
        let output = try await Programs.run(
            "journalctl",
            ["--directory", journal, "-o", "json", "SYSLOG_IDENTIFIER=realm-agent"]
        ).output
        return output.split(separator: "\n").compactMap { line in
            try? JSONDecoder().decode([String: Field].self, from: Data(line.utf8))
                .mapValues(\.text)
        }
    }

    /// journalctl writes text, null, or for bytes a list of numbers.
    private struct Field: Decodable {
        let text: String

        init(from decoder: any Decoder) throws {
            let value = try decoder.singleValueContainer()
            if let text = try? value.decode(String.self) {
                self.text = text
            } else if let bytes = try? value.decode([UInt8].self) {
                self.text = String(decoding: bytes, as: UTF8.self)
            } else {
                self.text = ""
            }
        }
    }

    @Test(
        "Each field is a field of its own, and each kind of event has its id",
        .enabled(if: obstacle == nil, "\(obstacle ?? "")")
    )
    func fields() async throws {
        let deployment = try Deployment()
        defer { deployment.remove() }
        try deployment.configure("a")
        let journal = "\(deployment.directory)/journal"
        for directory in [journal, "\(deployment.directory)/a.d"] {
            try FileManager.default.createDirectory(
                atPath: directory,
                withIntermediateDirectories: true
            )
        }
        try deployment.write(
            "a.d/10.yaml",
            "agent: { log: { output: journald, level: info, categories: { Sync.Client: detail } } }"
        )
        let files = ["--config", "\(deployment.directory)/a.yaml"]
        try await deployment.withServer { _ in
            try await deployment.withAgent(
                "a",
                through: [
                    "/usr/bin/unshare", "--mount", "--propagation", "private", "/bin/sh",
                    Self.script, journal,
                ]
            ) { _ in
                try await deployment.sync("a")
                for verb in ["suspend", "resume"] {
                    _ = try await Programs.run("realm-agent", [verb, "stock"] + files)
                }
                var found: [[String: String]] = []
                let isComplete = try await eventually {
                    found = try await entries(journal)
                    return found.contains { $0["MESSAGE"]?.hasPrefix("resumed") == true }
                }
                #expect(isComplete, "\(found) \(deployment.log("a"))")
                try check(found)
            }
        }
    }

    private func check(_ entries: [[String: String]]) throws {
        func entry(_ message: String) throws -> [String: String] {
            try #require(
                entries.first { $0["MESSAGE"]?.split(separator: " ").first == message[...] }
                    ?? entries.first { $0["MESSAGE"]?.hasPrefix(message) == true },
                "\(message): \(entries.map { $0["MESSAGE"] ?? "" })"
            )
        }
        let ready = try entry("ready")
        #expect(ready["MESSAGE_ID"] == "47c755237bff542cb2fe6e1bc314c165")
        #expect(ready["PRIORITY"] == "6")
        #expect(ready["LEVEL"] == "info")
        #expect(ready["CATEGORY"] == "Agent.Control")
        #expect(ready["REALMS"] == "1")
        #expect(ready["MESSAGE"]?.hasPrefix("ready realms=1 socket=/") == true)
        let suspended = try entry("suspended")
        #expect(suspended["MESSAGE_ID"] == "9192fa164e2a51f39d5fed4c40d3ee9a")
        #expect(suspended["REALM"] == "stock")
        let assigned = try entry("file ident assigned")
        #expect(assigned["REALM"] == "stock")
        #expect(assigned["SESSION"] == "1")
        #expect(assigned["USER_ID"]?.count == 24, "\(assigned)")
        #expect(assigned["IDENT"] != nil)
        #expect(assigned["LEVEL"] == "detail")
        let connected = try entry("connected")
        #expect(connected["USER"] == "a")
        #expect(connected["CATEGORY"] == "Sync.Client.Network")
        for entry in entries {
            #expect(entry["CATEGORY"] != nil && entry["LEVEL"] != nil, "\(entry)")
        }
    }

    @Test("In good health the log holds the start, the connection and the end, and no line more")
    func quiet() async throws {
        let deployment = try Deployment()
        defer { deployment.remove() }
        try deployment.configure("a")
        let file = deployment.file("a")
        try await deployment.withServer { _ in
            try await deployment.withAgent("a") { _ in
                try await deployment.sync("a")
                for id in 1...20 {
                    try await Programs.sqlite3(
                        file,
                        "INSERT INTO \"Item\"(_id, owner) VALUES (\(id), 'x');"
                    )
                }
                try await Programs.sqlite3(file, "UPDATE \"Item\" SET amount = 1;")
                try await Programs.sqlite3(file, "DELETE FROM \"Item\" WHERE _id > 10;")
                try await deployment.sync("a")
            }
        }
        // "TIME LEVEL CATEGORY: message field=…"
        let messages = deployment.log("a").split(separator: "\n").compactMap { line in
            line.split(separator: " ", maxSplits: 3).last.flatMap { text in
                text.firstMatch(of: /^([^=]*?)(?: [a-z_]+=|$)/).map { String($0.1) }
            }
        }
        #expect(messages == ["ready", "connected", "stopped"], "\(deployment.log("a"))")
    }
}
