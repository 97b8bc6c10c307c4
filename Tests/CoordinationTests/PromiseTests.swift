import Coordination
import Testing

@Suite("A promise is kept once, for all waiting tasks", .timeLimit(.minutes(10)))
struct PromiseTests {
    @Test("Kept before a wait, it returns at once, and the first value counts")
    func keptFirst() async {
        let promise = Promise<Int>()
        promise.keep(1)
        promise.keep(2)
        #expect(await promise.value == 1)
        #expect(await promise.value == 1)
    }

    @Test("A cancelled task waits for the value all the same")
    func cancelled() async {
        let promise = Promise<Void>()
        let task = Task {
            await promise.value
            return Task.isCancelled
        }
        task.cancel()
        promise.keep()
        #expect(await task.value)
    }

    @Test("With many waiting, keeping and cancelled tasks at once, all get the same value")
    func stress() async {
        for _ in 0..<200 {
            let promise = Promise<Int>()
            let waits = (0..<20).map { _ in Task { await promise.value } }
            async let keeping: Void = withDiscardingTaskGroup { group in
                for number in 0..<5 { group.addTask { promise.keep(number) } }
            }
            for wait in waits where wait.hashValue.isMultiple(of: 2) { wait.cancel() }
            await keeping
            let value = await promise.value
            for wait in waits { #expect(await wait.value == value) }
        }
    }
}
