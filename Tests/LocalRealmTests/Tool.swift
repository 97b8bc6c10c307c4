import Subprocess
import TestSupport

#if canImport(System)
    import System
#else
    import SystemPackage
#endif

/// The programs that write realms in these tests, besides the agent's own SQLite library.
enum Tool {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// Runs SQL with the `sqlite3` command-line tool, and returns what it prints.
    @discardableResult
    static func sqlite3(_ path: String, _ sql: String) async throws -> String {
        try await run("sqlite3", ["-batch", "-bail", "-cmd", ".timeout 10000", path], sql)
    }

    /// Inserts a note without waiting for the disk. If a commit waits for it longer than a watch looks after a
    /// notification, only the next poll finds it, and the tests of notifications have none.
    static func insertNote(_ number: Int, into path: String) async throws {
        try await sqlite3(
            path,
            "PRAGMA synchronous = OFF; INSERT INTO Note VALUES (\(number), 'x')"
        )
    }

    /// Runs SQL like a person who types it: a failing statement prints an `Error:`, and the next
    /// one runs.
    static func sqlite3Session(_ path: String, _ sql: String) async throws -> String {
        let result = try await Subprocess.run(
            .name("sqlite3"),
            arguments: ["-batch", "-cmd", ".timeout 10000", path],
            input: .fileDescriptor(
                FileDescriptor(rawValue: try StandardInput.descriptor(reading: sql)),
                closeAfterSpawningProcess: true
            ),
            output: .string(limit: 1 << 20),
            error: .string(limit: 1 << 20)
        )
        let errors = result.standardError.split(separator: "\n").map { line in
            // "Runtime error near line 1: what is wrong (19)"
            let message = line.split(separator: ": ", maxSplits: 1).last ?? line
            let end = message.lastIndex(of: "(") ?? message.endIndex
            return "Error: \(message[..<end].dropLast(end == message.endIndex ? 0 : 1))\n"
        }
        return result.standardOutput + errors.joined()
    }

    /// Runs a Python program; `path` is the file, `connection` an open connection to it.
    @discardableResult
    static func python(_ path: String, _ program: String) async throws -> String {
        let preamble = """
            import sqlite3, sys
            path = sys.argv[1]
            connection = sqlite3.connect(path, timeout=10, isolation_level=None)

            """
        return try await run("python3", ["-", path], preamble + program)
    }

    private static func run(
        _ program: String,
        _ arguments: [String],
        _ input: String
    ) async throws -> String {
        let result = try await Subprocess.run(
            .name(program),
            arguments: Arguments(arguments),
            input: .fileDescriptor(
                FileDescriptor(rawValue: try StandardInput.descriptor(reading: input)),
                closeAfterSpawningProcess: true
            ),
            output: .string(limit: 16 << 20),
            error: .string(limit: 1 << 20)
        )
        guard result.terminationStatus.isSuccess else {
            throw Failure(description: result.standardError)
        }
        return result.standardOutput
    }
}
