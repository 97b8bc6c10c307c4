import AppServices
import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import Agent

@Suite("A token from a command", .timeLimit(.minutes(10)))
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

    @Test("Its output is the token; it gets its arguments, and none of the agent's environment")
    func prints() async throws {
        setenv("REALM_AGENT_TEST_SECRET", "hunter2", 1)
        defer { unsetenv("REALM_AGENT_TEST_SECRET") }
        #expect(try await token("echo h.p.s").get() == "h.p.s")
        #expect(try await token("printf 'h.p.s'").get() == "h.p.s")
        #expect(try await token(#"echo "$#:$2" | tr -d ' '"#).get() == "2:$HOME;x")
        #expect(try await token(#"echo "x${REALM_AGENT_TEST_SECRET}x${HOME}x""#).get() == "xxx")
    }

    @Test("It runs again for each token")
    func everyTime() async throws {
        let counter = temporary.file("count")
        let script = "echo x >> '\(counter)'; wc -l < '\(counter)'"
        #expect(try await token(script).get() == "1")
        #expect(try await token(script).get() == "2")
    }

    @Test(
        "Output that is not a token is refused, and not shown",
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

    private func failure(_ script: String, timeout: Duration = .seconds(60)) async throws -> String
    {
        switch try await token(script, timeout: timeout) {
        case .success: "none"
        case .failure(let failure): Self.words(failure)
        }
    }

    private static func words(_ failure: UserSession.Failure) -> String {
        switch failure {
        case .unavailable(let reason, _): "later: \(reason)"
        case .logInRefused(let code, let message): "\(code): \(message)"
        case .anonymousSessionEnded, .loggedOut, .storage: "\(failure)"
        }
    }

    @Test("One that fails, hangs or is killed may do better later; one that floods will not")
    func failures() async throws {
        let failed = try await failure("echo down >&2; exit 3")
        #expect(
            failed
                == "later: no token from token.command: the program ended with status 3; "
                + "the end of its standard error: down"
        )
        let hangs = try await failure("sleep 600", timeout: .milliseconds(200))
        #expect(hangs == "later: no token from token.command: no answer within 0.2 seconds")
        let killed = try await failure("kill -9 $$")
        #expect(killed.hasPrefix("later: "), "\(killed)")
        let floods = try await failure("yes")
        #expect(floods.hasPrefix("auth.token_command: "), "\(floods)")
    }

    @Test("A missing program is an error that an operator must correct")
    func missing() async {
        let command = TokenCommand(command: [temporary.file("none")])
        do throws(UserSession.Failure) {
            _ = try await command.token()
            Issue.record("there is no such program")
        } catch {
            let words = Self.words(error)
            #expect(words.hasPrefix("auth.token_command: "))
            #expect(words.contains("cannot be started: No such file or directory"), "\(words)")
        }
    }
}
