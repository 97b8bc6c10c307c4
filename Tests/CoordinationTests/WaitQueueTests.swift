import Coordination
import Testing

@Suite("A queue of an actor's waiting tasks", .timeLimit(.minutes(10)))
struct WaitQueueTests {
    /// Places that tasks take and return.
    private actor Places {
        private var free: Int
        private let queue = WaitQueue()
        private var waiting = 0

        init(_ free: Int) { self.free = free }

        func take() async {
            waiting += 1
            while free == 0 { await queue.wait() }
            waiting -= 1
            free -= 1
        }

        func give() {
            free += 1
            queue.wakeOne()
        }

        func give(_ many: Int) {
            free += many
            queue.wakeAll()
        }

        var isQuiet: Bool { waiting == 0 }
        var count: Int { free }
    }

    @Test("Waking all wakes every waiting task")
    func wakeAll() async {
        let places = Places(0)
        await withDiscardingTaskGroup { group in
            for _ in 0..<50 { group.addTask { await places.take() } }
            await Task.yield()
            await places.give(50)
        }
        #expect(await places.isQuiet)
        #expect(await places.count == 0)
    }

    @Test("Many tasks, many of them cancelled, over few places: none waits forever")
    func stress() async {
        for free in 1...3 {
            let places = Places(free)
            let tasks = (0..<500).map { _ in
                Task {
                    await places.take()
                    await Task.yield()
                    await places.give()
                }
            }
            for task in tasks[..<250] { task.cancel() }
            for task in tasks { await task.value }
            #expect(await places.count == free)
        }
    }
}
