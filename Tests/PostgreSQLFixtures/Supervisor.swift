internal import CLinux
internal import Glibc
internal import Synchronization

/// A shell beside the test process that runs the server's programs, one command at a time.
///
/// Its input is a pipe from the tests. When they end, also by a crash, the pipe ends, and the shell
/// stops the server and removes its folder.
final class Supervisor: Sendable {
    private struct Pipes {
        let shell: Int32
        let commands: Int32
        let results: Int32
    }

    private let pipes: Mutex<Pipes>
    /// The folder of the server, made for it.
    let folder: String

    private static let script = """
        folder=$1 programs=$2
        unset PGDATA PGHOST PGPORT PGUSER PGDATABASE PGOPTIONS
        trap : HUP INT TERM
        # Tests that have ended read no results: that must not end the shell before the server.
        trap '' PIPE
        end() {
            "$programs/pg_ctl" -D "$folder/data" -s -m immediate stop
            cd /
            rm -rf "$folder"
        }
        trap end EXIT
        cd "$folder"
        while read -r command; do
            if eval "$command" </dev/null >>"$folder/log" 2>&1; then echo ok; else echo failed; fi
        done
        """

    init(programs: String) throws {
        folder = try Self.makeFolder()
        var commands: [Int32] = [-1, -1]
        var results: [Int32] = [-1, -1]
        guard linux_pipe(&commands) == 0, linux_pipe(&results) == 0 else {
            throw FixtureFailure("no pipe: \(errno)")
        }
        let shell = ["/bin/sh", "-c", Self.script, "supervisor", folder, programs]
        // PostgreSQL refuses to run as root.
        let isRoot = getuid() == 0
        let user = ["/usr/bin/setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"]
        let environment = ["PATH=/usr/bin:/bin", "HOME=\(folder)", "LC_ALL=C.UTF-8"]
        let arguments = (isRoot ? user + shell : shell).map { strdup($0) } + [nil]
        let variables = environment.map { strdup($0) } + [nil]
        defer { for text in arguments + variables { free(text) } }
        var child: Int32 = 0
        let status = linux_spawn(&child, arguments, variables, commands[0], results[1], 2)
        close(commands[0])
        close(results[1])
        guard status == 0 else { throw FixtureFailure("no shell: \(status)") }
        pipes = Mutex(Pipes(shell: child, commands: commands[1], results: results[0]))
    }

    deinit {
        pipes.withLock { pipes in
            close(pipes.commands)
            // Ends when the shell does.
            var byte: UInt8 = 0
            while read(pipes.results, &byte, 1) > 0 {}
            close(pipes.results)
            waitpid(pipes.shell, nil, 0)
        }
    }

    /// Runs a command of the shell in the server's folder; false if it failed.
    func run(_ command: String) throws -> Bool {
        try pipes.withLock { pipes in
            let line = Array("\(command)\n".utf8)
            guard write(pipes.commands, line, line.count) == line.count else {
                throw FixtureFailure("the supervisor is gone")
            }
            return try Self.readLine(pipes.results) == "ok"
        }
    }

    private static func readLine(_ descriptor: Int32) throws -> String {
        var line: [UInt8] = []
        var byte: UInt8 = 0
        while line.count < 100 {
            var readable = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&readable, 1, 120_000) == 1, read(descriptor, &byte, 1) == 1 else { break }
            if byte == 10 { return String(decoding: line, as: UTF8.self) }
            line.append(byte)
        }
        throw FixtureFailure(
            "the supervisor did not answer: \(String(decoding: line, as: UTF8.self))"
        )
    }

    /// Short, since the path of a socket has 107 bytes at most, and readable by the server's user.
    private static func makeFolder() throws -> String {
        var template = Array("/tmp/realm-pg-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw FixtureFailure("no folder: \(errno)") }
        let folder = String(
            decoding: template.dropLast().map(UInt8.init(bitPattern:)),
            as: UTF8.self
        )
        if getuid() == 0 {
            guard let user = getpwnam("postgres") else {
                throw FixtureFailure("this machine has no user postgres")
            }
            guard chown(folder, user.pointee.pw_uid, user.pointee.pw_gid) == 0 else {
                throw FixtureFailure("the folder cannot be given away: \(errno)")
            }
        }
        return folder
    }
}
