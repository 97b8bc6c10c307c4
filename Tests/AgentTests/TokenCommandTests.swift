import AppServices
import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import Agent

@Suite("A token from a command")
struct TokenCommandTests {
    private let temporary: TemporaryDirectory

    init() throws {
        self.temporary = try TemporaryDirectory()
    }

    private func token(
        _ script: String,
        timeout: Duration = .seconds(60)
    ) async throws -> Result<String, UserSession.Failure> {
        let path = temporary.file("token.sh")
        try "#!/bin/sh\n\(script)\n".write(toFile: path, atomically: false, encoding: .utf8)
        chmod(path, 0o755)
        do throws(UserSession.Failure) {
            let command = TokenCommand(command: [path, "a b", "$HOME;x"], timeout: timeout)
            return .success(try await command.token())
        } catch {
            return .failure(error)
        }
    }

    @Test("What it prints is the token; arguments come as they are, and nothing of our environment")
    func prints() async throws {
        setenv("REALM_AGENT_TEST_SECRET", "hunter2", 1)
        defer { unsetenv("REALM_AGENT_TEST_SECRET") }
        #expect(try await token("echo h.p.s").get() == "h.p.s")
        #expect(try await token("printf 'h.p.s'").get() == "h.p.s")
        #expect(try await token(#"echo "$#:$2" | tr -d ' '"#).get() == "2:$HOME;x")
        #expect(try await token(#"echo "x${REALM_AGENT_TEST_SECRET}x${HOME}x""#).get() == "xxx")
    }

    @Test("It is run anew each time")
    func everyTime() async throws {
        let counter = temporary.file("count")
        let script = "echo x >> '\(counter)'; wc -l < '\(counter)'"
        #expect(try await token(script).get() == "1")
        #expect(try await token(script).get() == "2")
    }

    @Test(
        "Output that is no token is refused, and not shown",
        arguments: [
            "true", "echo", "echo hunter2 hunter3", "echo hunter2; echo x", "printf '\\377'",
        ]
    )
    func noToken(script: String) async throws {
        guard
            case .failure(.logInRefused("auth.token_command", let message)) = try await token(
                script
            )
        else {
            Issue.record("it was taken")
            return
        }
        #expect(!message.contains("hunter"))
    }

    @Test(
        "One that fails, hangs or is killed may do better later; one that floods or is missing not"
    )
    func failures() async throws {
        func failure(_ result: Result<String, UserSession.Failure>) -> UserSession.Failure? {
            if case .failure(let failure) = result { failure } else { nil }
        }
        #expect(
            failure(try await token("echo down >&2; exit 3"))
                == .unavailable(
                    reason: "no token from token.command: the program ended with status 3; "
                        + "the end of its standard error: down"
                )
        )
        #expect(
            failure(try await token("sleep 600", timeout: .milliseconds(200)))
                == .unavailable(
                    reason: "no token from token.command: no answer within 0.2 seconds"
                )
        )
        guard case .unavailable = failure(try await token("kill -9 $$")),
            case .logInRefused("auth.token_command", _) = failure(try await token("yes"))
        else {
            Issue.record("wrong kind of failure")
            return
        }
        let missing = TokenCommand(command: [temporary.file("none")])
        do {
            _ = try await missing.token()
            Issue.record("there is no such program")
        } catch UserSession.Failure.logInRefused(let code, let message) {
            #expect(code == "auth.token_command")
            #expect(message.contains("cannot be started: No such file or directory"))
        }
    }
}
