import FoundationEssentials
import Subprocess
import TestSupport
import Testing

@Suite("The library, in the example program", .timeLimit(.minutes(10)))
struct LibraryExampleTests {
    @Test("One process writes with SQL, another reads it and reacts to what comes later")
    func example() async throws {
        let deployment = try Deployment()
        defer { deployment.remove() }
        try await deployment.withServer { _ in
            func run(_ directory: String, _ arguments: String...) async throws -> Programs.Outcome {
                try await Programs.run(
                    "SyncNotes",
                    [
                        Deployment.app, "http://127.0.0.1:\(deployment.port)",
                        "\(deployment.directory)/\(directory)",
                    ] + arguments
                )
            }
            let first = try await run("writer", "write", "first")
            #expect(first.status == 0, "\(first.output)\(first.errors)")
            #expect(first.output.hasSuffix("uploaded\n"))

            async let following = run("reader", "follow")
            // The reader has learned of the first note when its file has it.
            let file = "\(deployment.directory)/reader/notes/notes.sqlite"
            try await until {
                let notes = try? await Programs.attemptSQL(file, "SELECT count(*) FROM Note")
                return notes?.output == "1\n"
            }
            for text in ["second", "it's the third"] {
                let write = try await run("writer", "write", text)
                #expect(write.status == 0, "\(write.output)\(write.errors)")
            }
            let reader = try await following
            #expect(reader.status == 0, "\(reader.output)\(reader.errors)")
            #expect(reader.output.hasPrefix("first\n"), "\(reader.output)")
            #expect(reader.output.hasSuffix("first\nit's the third\nsecond\n"), "\(reader.output)")
        }
    }

    @Test("The example is a package of its own that needs the library alone")
    func manifest() async throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().path
        let described = try await Programs.run(
            "swift",
            ["package", "dump-package", "--package-path", "\(root)/examples/SyncNotes"]
        )
        #expect(described.status == 0, "\(described.errors)")
        #expect(described.output.contains(#""RealmSync""#))
    }

    @Test("A directory that another process uses is refused with a clear error")
    func locked() async throws {
        let deployment = try Deployment()
        defer { deployment.remove() }
        try deployment.configure("agent")
        try await deployment.withServer { _ in
            try await deployment.withAgent("agent") { _ in
                let refused = try await Programs.run(
                    "SyncNotes",
                    [
                        Deployment.app, "http://127.0.0.1:\(deployment.port)",
                        "\(deployment.directory)/agent", "write", "x",
                    ]
                )
                #expect(refused.status != 0)
                #expect(refused.errors.contains("agent.lock"), "\(refused.errors)")
            }
        }
    }
}
