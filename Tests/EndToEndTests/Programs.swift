import FoundationEssentials
import Subprocess
import TestSupport
import Testing

#if canImport(System)
    import System
#else
    import SystemPackage
#endif

/// The programs under test and the tools beside them, as processes.
enum Programs {
    /// The directory of the executables: beside the test runner.
    static let directory: String = {
        let runner =
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        return runner.lastIndex(of: "/").map { String(runner[..<$0]) } ?? "."
    }()

    struct Outcome {
        let status: Int32
        let output: String
        let errors: String
    }

    /// One of ours, or a tool.
    static func executable(_ program: String) -> Executable {
        program.hasPrefix("realm-") || program == "SyncNotes"
            ? .path(FilePath("\(directory)/\(program)")) : .name(program)
    }

    /// Runs a program to its end.
    static func run(_ program: String, _ arguments: [String], input: String = "") async throws
        -> Outcome
    {
        let result = try await Subprocess.run(
            executable(program),
            arguments: Arguments(arguments),
            input: .fileDescriptor(
                FileDescriptor(rawValue: try StandardInput.descriptor(reading: input)),
                closeAfterSpawningProcess: true
            ),
            output: .string(limit: 16 << 20),
            error: .string(limit: 1 << 20)
        )
        let status: Int32 =
            switch result.terminationStatus {
            case .exited(let code): code
            case .signaled(let signal): 128 + signal
            }
        return Outcome(
            status: status,
            output: result.standardOutput,
            errors: result.standardError
        )
    }

    /// Runs SQL with the `sqlite3` tool, as any program would, with a busy timeout.
    @discardableResult
    static func sqlite3(_ file: String, _ sql: String) async throws -> String {
        let outcome = try await attemptSQL(file, sql)
        #expect(outcome.status == 0, "sqlite3: \(outcome.errors)")
        return outcome.output
    }

    /// The same for SQL that may fail: a realm that starts over has no tables for a moment.
    static func attemptSQL(_ file: String, _ sql: String) async throws -> Outcome {
        try await run("sqlite3", ["-bail", "-cmd", ".timeout 30000", file], input: sql)
    }
}

extension FilePath {
    /// A log file that grows over restarts.
    func openedForAppending() throws -> FileDescriptor {
        try FileDescriptor.open(
            self,
            .writeOnly,
            options: [.create, .append],
            permissions: [.ownerReadWrite]
        )
    }
}
