import Changesets
import FoundationEssentials
import JSON
import Programs
import Scopes
import ServerConfig
import ServerFixtures
import ServerStore
import Synchronization
import TestSupport
import Testing

@testable import ServerAccounts

@Suite("The program that decides on access")
struct AccessProgramTests {
    /// Keeps the questions, and answers them.
    private final class Fake: Sendable {
        private let state = Mutex<(inputs: [String], fails: Bool)>(([], false))

        var inputs: [String] { state.withLock { $0.inputs } }

        func fail(_ fails: Bool) { state.withLock { $0.fails = fails } }

        /// Lets users write the partition with their id, and read the one named "open".
        func run(_ input: [UInt8]) throws(ProgramFailure) -> [UInt8] {
            let text = String(decoding: input, as: UTF8.self)
            let fails = state.withLock { state in
                state.inputs.append(text)
                return state.fails
            }
            guard !fails else { throw .exitStatus(1, errors: "not now") }
            var answers = ""
            // Any order will do.
            for line in text.split(separator: "\n").reversed() {
                let question = try? JSONDecoder().decode(JSONValue.self, from: Data(line.utf8))
                guard case .object(let members)? = question, case .integer(let id)? = members["id"],
                    case .object(let user)? = members["user"]
                else { return [] }
                let isOwn = members["partition"] == user["id"]
                let isOpen = members["partition"] == .string("open")
                answers += #"{"id":\#(id),"read":\#(isOwn || isOpen),"write":\#(isOwn)}"# + "\n"
            }
            return Array(answers.utf8)
        }
    }

    private static let app = AppID("shop")

    private static func subject(_ id: String) -> AccessProgram.Subject {
        let user = User(
            id: UserID(id),
            identities: [],
            isDisabled: false,
            data: ["email": .string("ann@example.net")]
        )
        return AccessProgram.Subject(user, customData: .object(["team": .integer(7)]))
    }

    private static func ask(
        _ program: AccessProgram,
        _ user: String,
        _ partition: Partition
    ) async throws -> PartitionAccess {
        try await program.access(of: UserID(user), to: partition) { subject(user) }
    }

    private static func expect(
        _ access: PartitionAccess,
        of user: String,
        to partition: Partition,
        _ program: AccessProgram
    ) async throws {
        #expect(try await ask(program, user, partition) == access)
    }

    /// Serves the program while the body runs.
    private func with(
        _ hook: HookConfiguration = HookConfiguration(command: ["/bin/true"]),
        lifetime: Duration = .seconds(60),
        clock: any Clock<Duration> = SteppedClock(),
        log: LogRecorder = LogRecorder(),
        run: (@Sendable ([UInt8]) async throws(ProgramFailure) -> [UInt8])? = nil,
        _ body: @escaping @Sendable (AccessProgram) async throws -> Void
    ) async throws {
        let configuration = AccessProgramConfiguration(hook: hook, lifetime: lifetime)
        let app = try #require(Self.app)
        let program =
            run.map {
                AccessProgram(configuration, of: app, clock: clock, logger: log.logger, run: $0)
            } ?? AccessProgram(configuration, of: app, clock: clock, logger: log.logger)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await program.serve() }
            defer { group.cancelAll() }
            try await body(program)
        }
    }

    private static let all = PartitionAccess(mayRead: true, mayWrite: true)
    private static let reading = PartitionAccess(mayRead: true, mayWrite: false)

    @Test("Its answers count, for as long as the cache says")
    func cache() async throws {
        let (fake, clock) = (Fake(), SteppedClock())
        try await with(clock: clock, run: { input throws(ProgramFailure) in try fake.run(input) }) {
            program in
            try await Self.expect(Self.all, of: "ann", to: .string("ann"), program)
            try await Self.expect(Self.reading, of: "ann", to: .string("open"), program)
            try await Self.expect(.nothing, of: "ann", to: .string("bob"), program)
            #expect(fake.inputs.count == 3)
            clock.advance(by: .seconds(59))
            try await Self.expect(Self.all, of: "ann", to: .string("ann"), program)
            try await Self.expect(.nothing, of: "ann", to: .string("bob"), program)
            #expect(fake.inputs.count == 3)
            clock.advance(by: .seconds(1))
            try await Self.expect(Self.all, of: "ann", to: .string("ann"), program)
            #expect(fake.inputs.count == 4)
        }
        try await with(
            lifetime: .zero,
            run: { input throws(ProgramFailure) in try fake.run(input) }
        ) { program in
            for _ in 0..<2 { _ = try await Self.ask(program, "ann", .null) }
        }
        #expect(fake.inputs.count == 6)
    }

    @Test("A question has the user, the user's own object and the partition; no user, no access")
    func question() async throws {
        let fake = Fake()
        try await with(run: { input throws(ProgramFailure) in try fake.run(input) }) { program in
            _ = try await Self.ask(program, "ann", .int(5))
            let none = try await program.access(of: UserID("bob"), to: .null) { nil }
            #expect(none == .nothing)
        }
        #expect(
            fake.inputs == [
                #"{"app":"shop","id":1,"kind":"access","partition":{"$numberLong":"5"},"user":"#
                    + #"{"custom_data":{"team":7},"data":{"email":"ann@example.net"},"id":"ann","#
                    + #""type":"normal"},"version":1}"# + "\n"
            ]
        )
    }

    @Test("Changed rules or a changed user empty the cache; another user's change does not")
    func changes() async throws {
        let fake = Fake()
        try await with(run: { input throws(ProgramFailure) in try fake.run(input) }) { program in
            _ = try await Self.ask(program, "ann", .null)
            program.noteChange(of: UserID("bob"))
            _ = try await Self.ask(program, "ann", .null)
            #expect(fake.inputs.count == 1)
            program.noteChange(of: UserID("ann"))
            _ = try await Self.ask(program, "ann", .null)
            #expect(fake.inputs.count == 2)
            program.noteChange(of: nil)
            _ = try await Self.ask(program, "ann", .null)
            #expect(fake.inputs.count == 3)
        }
    }

    @Test("A decision that was asked for before a change is not kept")
    func overtaken() async throws {
        let fake = Fake()
        let program = Mutex<AccessProgram?>(nil)
        try await with(run: { input throws(ProgramFailure) in
            program.withLock { $0 }?.noteChange(of: nil)
            return try fake.run(input)
        }) { served in
            program.withLock { $0 = served }
            for _ in 0..<2 { _ = try await Self.ask(served, "ann", .null) }
        }
        #expect(fake.inputs.count == 2)
    }

    @Test("Questions that wait share a run, and the same question is asked once")
    func sharing() async throws {
        let (fake, clock) = (Fake(), SteppedClock())
        try await with(run: { input throws(ProgramFailure) in
            // The first run lasts until the others have asked.
            if fake.inputs.isEmpty { try? await clock.sleep(for: .seconds(1)) }
            return try fake.run(input)
        }) { program in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { _ = try await Self.ask(program, "first", .null) }
                try await clock.settle()
                for number in 0..<50 {
                    let user = "user\(number % 25)"
                    group.addTask {
                        try await Self.expect(Self.all, of: user, to: .string(Text(user)), program)
                    }
                }
                try await until { await program.waitingCount == 26 }
                clock.advance(by: .seconds(1))
                try await group.waitForAll()
            }
        }
        #expect(fake.inputs.map { $0.split(separator: "\n").count } == [1, 25])
    }

    @Test(
        "A program that hangs, crashes, lies or floods decides nothing, and the log says so once",
        arguments: [
            "exec sleep 600", "kill -9 $$", "exit 3", "exec yes", ":", "echo nonsense",
            #"echo '{"id":1,"read":true}'"#, #"echo '{"id":1,"read":1,"write":1}'"#,
            #"echo '{"id":2,"read":true,"write":true}'"#,
            #"echo '{"id":1,"read":true,"write":true}'; echo '{"id":1,"read":true,"write":true}'"#,
            #"echo '{"id":1,"read":true,"write":true}'; exit 1"#,
            #"echo '{"id":-9223372036854775808,"read":true,"write":true}'"#,
        ]
    )
    func badPrograms(script: String) async throws {
        let (log, clock) = (LogRecorder(), SteppedClock())
        let hook = HookConfiguration(
            command: ["/bin/sh", "-c", script],
            timeout: script.contains("sleep") ? .milliseconds(200) : .seconds(50)
        )
        try await with(hook, clock: clock, log: log) { program in
            for _ in 0..<3 {
                let error = await #expect(throws: AccessProgram.Undecided.self) {
                    try await Self.ask(program, "ann", .string("ann"))
                }
                #expect(error?.reason == .failed)
                try await clock.pass(.seconds(1) ... .seconds(60))
                try await until { await !program.isAway }
            }
        }
        let failures = log.records.filter { $0.fields["code"] == "server.access" }
        #expect(failures.count == 1)
        #expect(failures.first?.fields["app"] == "shop")
    }

    @Test("After a failure it rests, longer each time; then one question at a time, until it works")
    func backOff() async throws {
        let (fake, log, clock) = (Fake(), LogRecorder(), SteppedClock())
        fake.fail(true)
        try await with(
            clock: clock,
            log: log,
            run: { input throws(ProgramFailure) in
                try fake.run(input)
            }
        ) { program in
            for (attempt, delay) in [1, 2, 4, 8, 16, 32, 60, 60].enumerated() {
                await #expect(throws: AccessProgram.Undecided.self) {
                    try await Self.ask(program, "ann", .null)
                }
                #expect(try await clock.sleeper(.zero ... .seconds(600)) == .seconds(delay))
                // While it rests, it is not asked.
                await #expect(throws: AccessProgram.Undecided.self) {
                    try await Self.ask(program, "ann", .null)
                }
                #expect(fake.inputs.count == attempt + 1)
                if attempt == 7 { fake.fail(false) }
                clock.advance(by: .seconds(delay))
                try await until { await !program.isAway }
            }
            try await Self.expect(Self.all, of: "ann", to: .string("ann"), program)
        }
        #expect(
            log.records.map(\.message) == [
                "the program that decides on access failed",
                "the program that decides on access works again",
            ]
        )
    }

    @Test("Writing without reading is nothing")
    func writing() {
        #expect(PartitionAccess(mayRead: false, mayWrite: true) == .nothing)
        #expect(AccessRules(.nothing).read?.admits(Self.subject("ann").user, to: .null) == false)
        #expect(AccessRules(.nothing).write?.admits(Self.subject("ann").user, to: .null) == false)
        #expect(AccessRules(Self.all) == AccessRules())
    }

    @Test("The cache keeps the newest decisions, up to its limit, and none beyond its lifetime")
    func limits() {
        var cache = AccessCache(lifetime: .seconds(10), limit: 100)
        func key(_ number: Int) -> AccessCache.Key {
            AccessCache.Key(user: UserID("u\(number)"), partition: .null)
        }
        for number in 0..<1000 { cache.note(Self.all, of: key(number % 500), at: .zero) }
        #expect(cache.count == 100)
        #expect(cache.access(key(499), at: .seconds(9)) == Self.all)
        #expect(cache.access(key(399), at: .seconds(9)) == nil)
        #expect(cache.access(key(499), at: .seconds(10)) == nil)
        cache.note(Self.all, of: key(1), at: .seconds(10))
        #expect(cache.count == 1)
        cache.remove(UserID("u1"))
        #expect(cache.count == 0)
        cache.note(Self.reading, of: key(2), at: .seconds(11))
        cache.removeAll()
        #expect(cache.access(key(2), at: .seconds(11)) == nil)
    }
}
