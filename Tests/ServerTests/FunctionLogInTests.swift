import JSON
import Logging
import ServerFixtures
import TestSupport
import Testing

@testable import ServerAccounts
@testable import ServerConfig
@testable import ServerStore

/// Checklist lines A4 and A7 of app services, 16: users whom a program of the operator's knows.
@Suite("App services: custom functions", .timeLimit(.minutes(10)))
struct FunctionLogInTests {
    private let path = "/app/shop-abcde/auth/providers/custom-function/login"

    private func apps(_ hook: HookConfiguration) async throws -> TestApps {
        try await TestApps(
            apps: [ServedAppConfiguration(id: TestApps.shop, anonymous: true, function: hook)]
        )
    }

    @Test("A4 The program gets the unchanged payload, and its answer names the user")
    func logIn() async throws {
        try await withTemporaryDirectory { directory in
            let hook = try TestHook(in: directory)
            let apps = try await apps(hook.configuration)
            try hook.answer(#"{"id":"card-7","name":"Ann","age":5,"min_age":7,"none":null}"#)
            let body = #"""
                {"card":{"$numberLong":"7"},"pin":"0042; rm -rf /","provider":"mine",\#
                "options":{"device":{"sdk":"x"}}}
                """#
            let first = await apps.call("POST", path, body)
            #expect(first.status == 200)
            #expect(first.fields.count == 4)
            let request = try #require(hook.requests.first)
            #expect(request["kind"] == .string("log_in"))
            #expect(request["app"] == .string("shop-abcde"))
            #expect(
                request["payload"]
                    == .object([
                        "card": .object(["$numberLong": .string("7")]),
                        "pin": .string("0042; rm -rf /"), "provider": .string("mine"),
                    ])
            )
            let profile = await apps.call(
                "GET",
                "/auth/profile",
                token: first.fields["access_token"]
            )
            #expect(profile.text.contains(#""data":{"age":5,"min_age":"7","name":"Ann"}"#))
            #expect(profile.text.contains(#""provider_type":"custom-function""#))
            #expect(profile.text.contains(#""id":"card-7""#))

            try hook.answer("\"card-7\"")
            #expect(await apps.call("POST", path).fields["user_id"] == first.fields["user_id"])
            try hook.answer("\"card-8\"")
            #expect(await apps.call("POST", path).fields["user_id"] != first.fields["user_id"])
        }
    }

    @Test("An anonymous user gets the identity that the program names")
    func linking() async throws {
        try await withTemporaryDirectory { directory in
            let hook = try TestHook(in: directory)
            let apps = try await apps(hook.configuration)
            try hook.answer("\"card-7\"")
            let anonymous = await apps.logInAnonymously().fields
            let linked = await apps.call(
                "POST",
                "\(path)?link=true",
                "{}",
                token: anonymous["access_token"]
            )
            #expect(linked.fields["user_id"] == anonymous["user_id"])
            #expect(await apps.call("POST", path).fields["user_id"] == anonymous["user_id"])
        }
    }

    @Test(
        "A log-in fails if the program names no user",
        arguments: ["", " \n", "null", "\"\"", "{}", "7", "[]", #"{"id":5}"#, #"{"id":""}"#]
    )
    func noUser(answer: String) async throws {
        try await withTemporaryDirectory { directory in
            let hook = try TestHook(in: directory)
            let apps = try await apps(hook.configuration)
            try hook.answer(answer)
            let reply = await apps.call("POST", path, "{}")
            #expect(reply.status == 401)
            #expect(reply.fields["error_code"] == "AuthError")
        }
    }

    @Test(
        "A program that fails refuses the log-in, without details for the client",
        arguments: [
            (["/bin/sh", "-c", "echo secret >&2; exit 3"], "FunctionExecutionError"),
            (["/bin/sh", "-c", "kill -9 $$"], "FunctionExecutionError"),
            (["/bin/echo", "no JSON"], "FunctionExecutionError"),
            (["/bin/sh", "-c", "while :; do echo 0123456789; done"], "FunctionExecutionError"),
            (["/no/such/program"], "FunctionExecutionError"),
            (["/bin/sleep", "1000"], "ExecutionTimeLimitExceeded"),
        ]
    )
    func failures(command: [String], code: String) async throws {
        let limit = command.contains("1000") ? Duration.milliseconds(200) : .seconds(50)
        let apps = try await apps(HookConfiguration(command: command, timeout: limit))
        let reply = await apps.call("POST", path, "{}")
        #expect(reply.status == 400)
        #expect(reply.fields == ["error": "the log-in function failed", "error_code": code])
    }

    @Test("Guessing at the program is slowed down")
    func guessing() async throws {
        let apps = try await apps(HookConfiguration(command: ["/bin/true"]))
        for _ in 0..<10 { #expect(await apps.call("POST", path, "{}").status == 401) }
        #expect(await apps.call("POST", path, "{}").status == 429)
    }

    @Test("A7 Without a function there is no such provider; a body must be an object")
    func bodies() async throws {
        let without = try await TestApps()
        let reply = await without.call("POST", path, "{}")
        #expect(reply.fields["error_code"] == "AuthProviderNotFound")
        let apps = try await apps(HookConfiguration(command: ["/bin/true"]))
        for body in ["[]", "5", "{"] {
            #expect(await apps.call("POST", path, body).fields["error_code"] == "BadRequest")
        }
    }

    // MARK: Turns

    private func runner(atOnce: Int, waitingAtMost: Int) -> HookRunner {
        HookRunner(
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
            atOnce: atOnce,
            waitingAtMost: waitingAtMost
        )
    }

    @Test("Many requests are few processes at a time")
    func turns() async throws {
        let counts = try await withTemporaryDirectory { try await runningAtOnce(in: $0) }
        #expect(counts.count == 20)
        #expect(counts.allSatisfy { (1...3).contains($0) })
    }

    /// The number of programs that each of twenty has met, itself included.
    private func runningAtOnce(in directory: String) async throws -> [Int] {
        let runner = runner(atOnce: 3, waitingAtMost: 100)
        let count = "touch \"$0/$$\"; sleep 0.02; set -- \"$0\"/*; echo $#; rm \"$0/$$\""
        let hook = HookConfiguration(
            command: ["/bin/sh", "-c", count, directory],
            timeout: .seconds(50)
        )
        return try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<20 {
                group.addTask {
                    let answer = try await runner.ask(hook, .logIn, about: TestApps.shop, [:])
                    guard case .integer(let count) = answer else { return 0 }
                    return Int(count)
                }
            }
            var counts: [Int] = []
            while let count = try await group.next() { counts.append(count) }
            return counts
        }
    }

    @Test("Requests beyond the queue are refused, and accepted when there is room again")
    func overload() async throws {
        let runner = runner(atOnce: 1, waitingAtMost: 1)
        let slow = HookConfiguration(command: ["/bin/sleep", "1000"], timeout: .seconds(50))
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<2 {
                group.addTask {
                    _ = try? await runner.ask(slow, .logIn, about: TestApps.shop, [:])
                }
            }
            #expect(await eventually { await runner.load.waiting >= 1 })
            await #expect(throws: HookRunner.Failure.overloaded) {
                try await runner.ask(slow, .logIn, about: TestApps.shop, [:])
            }
            group.cancelAll()
        }
        #expect(await runner.load.running == 0)
        #expect(await runner.load.waiting == 0)
        let quick = HookConfiguration(command: ["/bin/echo", "true"], timeout: .seconds(50))
        #expect(try await runner.ask(quick, .logIn, about: TestApps.shop, [:]) == .bool(true))
    }
}
