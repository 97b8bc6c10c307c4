import Coordination
import Synchronization
import TestSupport
import Testing

@Suite("A queue with a bound", .timeLimit(.minutes(10)))
struct BoundedQueueTests {
    private struct Failure: Error, Equatable {}
    private typealias Queue = BoundedQueue<Int, Failure>

    @Test("A full queue suspends the producer until an element is taken")
    func backPressure() async throws {
        let queue = Queue(capacity: 2)
        let pushed = Atomic(0)
        let producer = Task {
            for number in 0..<4 {
                _ = await queue.push(number)
                pushed.add(1, ordering: .sequentiallyConsistent)
            }
        }
        try await until { pushed.load(ordering: .sequentiallyConsistent) == 2 }
        for number in 0..<4 { #expect(try await queue.pop() == number) }
        await producer.value
    }

    @Test("Elements of an ended queue can still be taken, then the end is reported")
    func ends() async throws {
        let (finished, failed) = (Queue(capacity: 2), Queue(capacity: 2))
        #expect(await finished.push(1))
        #expect(await failed.push(2))
        finished.finish()
        finished.finish(throwing: Failure())
        failed.finish(throwing: Failure())
        #expect(await !finished.push(3))
        #expect(try await finished.pop() == 1)
        #expect(try await finished.pop() == nil)
        #expect(try await failed.pop() == 2)
        await #expect(throws: Failure()) { try await failed.pop() }
    }

    @Test("Who does not wait is told once, by an element or by the end")
    func watch() async throws {
        let queue = Queue(capacity: 1)
        let woken = Atomic(0)
        let wake: @Sendable () -> Void = { woken.add(1, ordering: .sequentiallyConsistent) }
        #expect(!queue.isReady(orWake: wake))
        #expect(woken.load(ordering: .sequentiallyConsistent) == 0)
        #expect(await queue.push(1))
        #expect(queue.isFull)
        #expect(queue.add(2))
        #expect(woken.load(ordering: .sequentiallyConsistent) == 1)
        #expect(queue.isReady(orWake: wake))
        #expect(try await [queue.pop(), queue.pop()] == [1, 2])
        #expect(!queue.isReady(orWake: wake))
        queue.finish()
        #expect(!queue.add(3))
        #expect(woken.load(ordering: .sequentiallyConsistent) == 2)
        #expect(queue.isReady(orWake: wake))
        #expect(try await queue.pop() == nil)
    }

    @Test("An end wakes all waiting tasks")
    func endWakes() async throws {
        let (empty, full) = (Queue(capacity: 1), Queue(capacity: 1))
        #expect(await full.push(0))
        async let popped = empty.pop()
        async let pushed = [full.push(1), full.push(2)]
        empty.finish()
        full.finish()
        #expect(try await popped == nil)
        #expect(await pushed == [false, false])
    }

    @Test(
        "Many producers, some of them cancelled: each accepted element is delivered once, in order"
    )
    func stress() async throws {
        for capacity in [1, 3] {
            let queue = Queue(capacity: capacity)
            let producers = (0..<40).map { producer in
                Task {
                    var accepted: [Int] = []
                    for number in 0..<50 {
                        let element = producer * 1_000 + number
                        if await queue.push(element) { accepted.append(element) }
                    }
                    return accepted
                }
            }
            let consumer = Task {
                var taken: [Int] = []
                while let element = try await queue.pop() {
                    taken.append(element)
                    // In the middle of it, so that cancellation meets tasks that wait.
                    if taken.count == 300 { for producer in producers[..<20] { producer.cancel() } }
                }
                return taken
            }
            var accepted: [[Int]] = []
            for producer in producers { accepted.append(await producer.value) }
            queue.finish()
            let taken = try await consumer.value
            #expect(taken.sorted() == accepted.flatMap(\.self).sorted())
            for (producer, elements) in accepted.enumerated() {
                #expect(taken.filter { $0 / 1_000 == producer } == elements)
            }
            for elements in accepted[20...] { #expect(elements.count == 50) }
        }
    }

    @Test("A cancelled consumer leaves every element to the next")
    func consumers() async throws {
        let queue = Queue(capacity: 2)
        async let pushing: Void = {
            for number in 0..<2_000 { _ = await queue.push(number) }
            queue.finish()
        }()
        var taken: [Int] = []
        while taken.count < 2_000 {
            let consumer = Task {
                var elements: [Int] = []
                while let element = try await queue.pop() { elements.append(element) }
                return elements
            }
            await Task.yield()
            consumer.cancel()
            taken += try await consumer.value
        }
        await pushing
        #expect(taken == Array(0..<2_000))
    }
}
