import Config
import FoundationEssentials
import Glibc
import Programs
import TestSupport
import Testing

@testable import Plugins

@Suite("External programs", .timeLimit(.minutes(10)))
struct ProgramTests {
    let temporary: TemporaryDirectory

    init() throws {
        self.temporary = try TemporaryDirectory()
    }

    private func script(_ text: String) throws -> String {
        let path = temporary.file("plugin-\(UInt32.random(in: 0 ... .max)).sh")
        try "#!/bin/sh\n\(text)\n".write(toFile: path, atomically: false, encoding: .utf8)
        chmod(path, 0o755)
        return path
    }

    private func handler(
        _ text: String,
        arguments: [String] = [],
        timeout: Duration = .seconds(60),
        environment: [String: String] = [:],
        graceTime: Duration = .seconds(60)
    ) throws -> ExecHandler {
        ExecHandler(
            PluginConfiguration.Exec(
                command: [try script(text)] + arguments,
                timeout: timeout,
                environment: environment
            ),
            graceTime: graceTime
        )
    }

    private func failure(of handler: ExecHandler) async -> HandlerFailure? {
        do throws(HandlerFailure) {
            _ = try await handler.handle(HandlerFixture.error)
            return nil
        } catch {
            return error
        }
    }

    @Test("It reads the request, and its output is the decision")
    func decides() async throws {
        let copy = temporary.file("request")
        let handler = try handler("cat > \"$1\"; echo '{\"decision\":\"stop\"}'", arguments: [copy])
        #expect(try await handler.handle(HandlerFixture.error).decision == .stop)
        let request = FileManager.default.contents(atPath: copy) ?? Data()
        #expect(Array(request) == HandlerFixture.error.json())
    }

    @Test("A program that does not read its input, or prints nothing, continues")
    func silent() async throws {
        #expect(try await handler("exec <&-").handle(HandlerFixture.error).decision == .continue)
    }

    @Test("Its environment is the configured one, without the agent's")
    func environment() async throws {
        let copy = temporary.file("environment")
        setenv("REALM_AGENT_TEST_LEAK", "1", 1)
        let handler = try handler(
            "/usr/bin/env > \"$1\"; pwd >> \"$1\"; ls /proc/self/fd | wc -l >> \"$1\"",
            arguments: [copy],
            environment: ["GREETING": "hello world", "LANG": "de_DE.UTF-8"]
        )
        _ = try await handler.handle(HandlerFixture.error)
        let text = String(
            decoding: FileManager.default.contents(atPath: copy) ?? Data(),
            as: UTF8.self
        )
        let lines = Set(text.split(separator: "\n").map(String.init))
        // PWD and _ are the shell's own; `ls` has its three and the directory it reads.
        #expect(
            lines.subtracting(["PWD=/", "OLDPWD=/", "_=/usr/bin/env", "SHLVL=0", "SHLVL=1"]) == [
                "GREETING=hello world", "LANG=de_DE.UTF-8",
                "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "/", "4",
            ]
        )
    }

    @Test("Arguments reach it as they are: there is no shell in between")
    func noShell() async throws {
        let copy = temporary.file("argument")
        let argument = "$(touch /tmp/never) `id`; 'quotes' \"and\" *"
        _ = try await handler("printf %s \"$2\" > \"$1\"", arguments: [copy, argument])
            .handle(HandlerFixture.error)
        #expect(FileManager.default.contents(atPath: copy) == Data(argument.utf8))
    }

    @Test("A status other than 0 is a failure, with the end of standard error")
    func exitStatus() async throws {
        let failure = try await failure(of: handler("echo '{}'; echo ' oh no ' >&2; exit 3"))
        #expect(failure == .program(.exitStatus(3, errors: "oh no")))
    }

    @Test("A signal is a failure")
    func signal() async throws {
        #expect(
            try await failure(of: handler("kill -USR1 $$"))
                == .program(.signal(SIGUSR1, errors: ""))
        )
    }

    @Test("A program that is missing, or is not executable, is a failure")
    func missing() async throws {
        let missing = ExecHandler(.init(command: [temporary.file("none")]))
        #expect(await failure(of: missing)?.code == "plugin.cannot_start")
        let plain = temporary.file("plain")
        try "text".write(toFile: plain, atomically: false, encoding: .utf8)
        #expect(
            await failure(of: ExecHandler(.init(command: [plain])))?.code == "plugin.cannot_start"
        )
    }

    @Test("One that hangs is asked to end, and its children with it")
    func hangs() async throws {
        let mark = temporary.file("children")
        // On a busy machine a shell may take a while to have a child.
        for timeout in [Duration.milliseconds(700), .seconds(7), .seconds(70)] {
            let handler = try handler(
                "sleep 1000 & echo $! > \"$1\"; sleep 1000",
                arguments: [mark],
                timeout: timeout
            )
            #expect(await failure(of: handler) == .program(.timedOut(timeout)))
            if FileManager.default.contents(atPath: mark)?.isEmpty == false { break }
        }
        try await expectEnded(mark)
    }

    @Test("One that ignores SIGTERM is killed")
    func ignoresTermination() async throws {
        let handler = try handler(
            "trap '' TERM; while :; do sleep 1000; done",
            timeout: .milliseconds(300),
            graceTime: .milliseconds(200)
        )
        #expect(await failure(of: handler) == .program(.timedOut(.milliseconds(300))))
    }

    @Test(
        "A child left behind delays no caller, although it holds the output open, and is killed"
    )
    func leftBehind() async throws {
        let mark = temporary.file("children")
        let handler = try handler(
            "sleep 1000 & echo $! > \"$1\"; echo '{\"decision\":\"retry\"}'",
            arguments: [mark]
        )
        #expect(try await handler.handle(HandlerFixture.error).decision == .retry(after: nil))
        try await expectEnded(mark)
    }

    @Test("One that floods its output is ended; one that fills the limit is not")
    func flood() async throws {
        #expect(
            await failure(of: try handler("yes")) == .program(.tooMuchOutput(limitInBytes: 65_536))
        )
        #expect(
            await failure(of: try handler("head -c 65536 /dev/zero | tr '\\0' ' '")) == nil
        )
        #expect(
            await failure(of: try handler("head -c 65537 /dev/zero | tr '\\0' ' '"))
                == .program(.tooMuchOutput(limitInBytes: 65_536))
        )
    }

    @Test("What it complains about is cut to its end")
    func longErrors() async throws {
        let handler = try handler("yes 0123456789 | head -c 300000 >&2; echo last >&2; exit 1")
        guard case .program(.exitStatus(1, let errors))? = await failure(of: handler) else {
            Issue.record("no exit status")
            return
        }
        #expect(errors.utf8.count <= 1024 && errors.hasSuffix("last"))
    }

    @Test("When the agent stops, so does the program")
    func cancelled() async throws {
        let mark = temporary.file("children")
        let handler = try handler("sleep 1000 & echo $! > \"$1\"; wait", arguments: [mark])
        let task = Task { await failure(of: handler) }
        try await until { FileManager.default.contents(atPath: mark)?.isEmpty == false }
        task.cancel()
        #expect(await task.value == .program(.cancelled))
        try await expectEnded(mark)
    }

    /// The process whose number is in the file has ended, or waits to be reaped.
    private func expectEnded(_ file: String) async throws {
        let text = String(
            decoding: FileManager.default.contents(atPath: file) ?? Data(),
            as: UTF8.self
        )
        let process = try #require(pid_t(text.filter { !$0.isWhitespace }))
        let isEnded = {
            guard let status = FileManager.default.contents(atPath: "/proc/\(process)/stat") else {
                return true
            }
            return String(decoding: status, as: UTF8.self).contains(") Z ")
        }
        #expect(await eventually { isEnded() })
    }
}
