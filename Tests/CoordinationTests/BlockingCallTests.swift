import Coordination
import Dispatch
import Testing

@Suite("Blocking calls", .timeLimit(.minutes(10)))
struct BlockingCallTests {
    private struct Failure: Error, Equatable {
        let number: Int
    }

    @Test("The result is returned, and so is the error")
    func results() async throws {
        #expect(await BlockingCall.run { 7 } == 7)
        await #expect(throws: Failure(number: 1)) {
            try await BlockingCall.run { () throws(Failure) -> Int in throw Failure(number: 1) }
        }
    }

    @Test("More blocked calls than the machine has cores, their tasks cancelled: all return")
    func stress() async {
        // Each is held until all have begun, so each needs a thread of its own.
        let count = 20
        let (begun, end) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        await withTaskGroup(of: Int.self) { group in
            for number in 0..<count {
                group.addTask {
                    withUnsafeCurrentTask { $0?.cancel() }
                    return await BlockingCall.run(label: "test") {
                        begun.signal()
                        end.wait()
                        return number
                    }
                }
            }
            await BlockingCall.run {
                for _ in 0..<count { begun.wait() }
                for _ in 0..<count { end.signal() }
            }
            var numbers: Set<Int> = []
            for await number in group { numbers.insert(number) }
            #expect(numbers == Set(0..<count))
        }
    }
}
