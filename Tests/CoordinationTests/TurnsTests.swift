import Coordination
import Synchronization
import TestSupport
import Testing

@Suite("Turns", .timeLimit(.minutes(10)))
struct TurnsTests {
    private struct Refusal: Error {}
    private struct Failure: Error {}

    private final class Record: Sendable {
        private let state = Mutex<[String]>([])

        var names: [String] { state.withLock { $0 } }

        func add(_ name: String) { state.withLock { $0.append(name) } }
    }

    /// Counts the tasks at work, and keeps the maximum.
    private final class Workplace: Sendable {
        private let state = Mutex((now: 0, most: 0, done: 0))

        var most: Int { state.withLock { $0.most } }
        var done: Int { state.withLock { $0.done } }

        func work() async {
            state.withLock {
                $0.now += 1
                $0.most = max($0.most, $0.now)
            }
            await Task.yield()
            state.withLock {
                $0.now -= 1
                $0.done += 1
            }
        }
    }

    /// Whether the work had its turn.
    private func attempt<Source>(
        _ turns: Turns<Source>,
        from source: Source,
        _ work: () async -> Void
    ) async -> Bool {
        do throws(Refusal) {
            try await turns.take(from: source, orThrow: Refusal()) { () async throws(Refusal) in
                await work()
            }
            return true
        } catch {
            return false
        }
    }

    @Test("Waiting tasks get their turns in order of arrival")
    func order() async throws {
        let turns = Turns<OrderOfArrival>()
        let first = Promise<Void>()
        let order = Record()
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask { await turns.take { await first.value } }
            try await until { turns.load.working == 1 }
            for number in 0..<20 {
                group.addTask { await turns.take { order.add("\(number)") } }
                try await until { turns.load.waiting == number + 1 }
            }
            first.keep()
        }
        #expect(order.names == (0..<20).map(String.init))
        #expect(turns.load == (0, 0))
    }

    @Test("Sources take turns, and beyond the limit the one with the most waiting tasks is refused")
    func sources() async throws {
        let turns = Turns<String>(waitingAtMost: 3)
        let first = Promise<Void>()
        let order = Record()
        let refused = Record()
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask { _ = await attempt(turns, from: "") { await first.value } }
            try await until { turns.load.working == 1 }
            for (number, name) in ["a1", "a2", "a3", "b1"].enumerated() {
                group.addTask {
                    let hadTurn = await attempt(turns, from: String(name.prefix(1))) {
                        order.add(name)
                    }
                    if !hadTurn { refused.add(name) }
                }
                try await until {
                    turns.load.waiting + refused.names.count == number + 1
                }
            }
            first.keep()
        }
        #expect(order.names == ["a1", "b1", "a2"])
        #expect(refused.names == ["a3"])
    }

    @Test("Work that throws ends its turn")
    func failure() async throws {
        let turns = Turns<OrderOfArrival>()
        for _ in 0..<3 {
            await #expect(throws: Failure.self) {
                try await turns.take { () async throws(Failure) in throw Failure() }
            }
        }
        #expect(turns.load == (0, 0))
    }

    @Test("Each of many tasks, half of them cancelled, has its turn within the limit")
    func stress() async {
        for limit in 1...4 {
            let turns = Turns<Int>(atOnce: limit, waitingAtMost: .max)
            let workplace = Workplace()
            let tasks = (0..<500).map { number in
                Task { await attempt(turns, from: number % 7) { await workplace.work() } }
            }
            for task in tasks[..<250] { task.cancel() }
            for task in tasks {
                let hadTurn = await task.value
                #expect(hadTurn)
            }
            #expect(workplace.done == 500)
            #expect(workplace.most <= limit)
            #expect(turns.load == (0, 0))
        }
    }

    @Test("With a limit on waiting tasks, a task either has its turn or is refused")
    func stressWithLimit() async {
        let turns = Turns<Int>(atOnce: 2, waitingAtMost: 5)
        let workplace = Workplace()
        let refusals = await withTaskGroup(of: Bool.self) { group in
            for number in 0..<1_000 {
                group.addTask {
                    await attempt(turns, from: number % 3) { await workplace.work() }
                }
            }
            return await group.reduce(0) { $1 ? $0 : $0 + 1 }
        }
        #expect(workplace.done + refusals == 1_000)
        #expect(turns.load == (0, 0))
    }
}
