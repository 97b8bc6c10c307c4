import Dispatch
import SQLite
import Synchronization
import TestSupport
import Testing

@Suite("Threads for blocking work", .timeLimit(.minutes(10)))
struct DatabaseThreadsTests {
    private final class Notes: Sendable {
        private let numbers = Mutex<[Int]>([])

        var all: [Int] { numbers.withLock { $0 } }

        func note(_ number: Int) { numbers.withLock { $0.append(number) } }
    }

    /// The number at work at the same time.
    private final class Census: Sendable {
        private let now = Atomic(0)
        private let highest = Atomic(0)

        var most: Int { highest.load(ordering: .relaxed) }

        func measure(_ work: () -> Void) {
            let count = now.wrappingAdd(1, ordering: .relaxed).newValue
            highest.max(count, ordering: .relaxed)
            work()
            now.wrappingSubtract(1, ordering: .relaxed)
        }
    }

    @Test("Each executor keeps its order, and no more threads than allowed are at work")
    func order() async {
        let threads = DatabaseThreads(limit: 4)
        let census = Census()
        let orders = (0..<50).map { _ in Notes() }
        await withTaskGroup(of: Void.self) { group in
            for order in orders {
                let executor = threads.executor()
                group.addTask {
                    for number in 0..<100 {
                        await executor.perform { census.measure { order.note(number) } }
                    }
                }
            }
        }
        for order in orders { #expect(order.all == Array(0..<100)) }
        #expect(census.most <= 4)
        #expect(threads.count <= 4)
    }

    @Test("Work is done in the order of its submission")
    func submission() async {
        let threads = DatabaseThreads(limit: 8)
        let executor = threads.executor()
        let order = Notes()
        let store = Store(executor)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<500 { group.addTask { await store.note { order.note($0) } } }
        }
        #expect(order.all == Array(1...500))
    }

    private actor Store {
        private nonisolated let executor: DatabaseExecutor
        private var count = 0

        init(_ executor: DatabaseExecutor) { self.executor = executor }

        nonisolated var unownedExecutor: UnownedSerialExecutor {
            executor.asUnownedSerialExecutor()
        }

        func note(_ notes: @Sendable (Int) -> Void) {
            count += 1
            notes(count)
        }
    }

    @Test("A blocked executor delays no other")
    func blocked() async {
        let threads = DatabaseThreads(limit: 2)
        let gate = DispatchSemaphore(value: 0)
        let (slow, quick) = (threads.executor(), threads.executor())
        async let blocked: Int = slow.perform {
            gate.wait()
            return 1
        }
        for number in 0..<100 { #expect(await quick.perform { number } == number) }
        gate.signal()
        #expect(await blocked == 1)
    }

    @Test("Idle threads end, and start again")
    func idle() async throws {
        let threads = DatabaseThreads(limit: 8, idleTimeInSeconds: 1)
        let executors = (0..<8).map { _ in threads.executor() }
        for _ in 0..<2 {
            await withTaskGroup(of: Void.self) { group in
                for executor in executors { group.addTask { await executor.perform {} } }
            }
            #expect(threads.count > 0)
            try await until { threads.count == 0 }
        }
    }
}
