import Glibc
import Synchronization
import TestSupport
import Testing

@testable import LocalRealm

@Suite("The thread of all watches", .timeLimit(.minutes(5)))
struct WatchThreadTests {
    private let thread = WatchThread()

    @Test("Pieces from many threads are all done, those of one thread in its order")
    func order() async throws {
        let done = Mutex<[[Int]]>(Array(repeating: [], count: 8))
        let add: @Sendable (Int) -> Void = { [thread] source in
            for number in 0..<2_000 {
                thread.run { done.withLock { $0[source].append(number) } }
            }
        }
        await withDiscardingTaskGroup { group in
            for source in 0..<8 { group.addTask { add(source) } }
        }
        try await until { done.withLock { $0.allSatisfy { $0.count == 2_000 } } }
        #expect(done.withLock { $0 } == Array(repeating: Array(0..<2_000), count: 8))
    }

    @Test("What is planned comes after its delay, in the order of the moments")
    func plans() async throws {
        let done = Mutex<[(name: Int, moment: ContinuousClock.Instant)]>([])
        let began = ContinuousClock.now
        thread.run { [thread] in
            for delay in [40, 10, 30, 0, 20] {
                thread.run(after: .milliseconds(delay)) {
                    done.withLock { $0.append((delay, .now)) }
                }
            }
        }
        try await until { done.withLock { $0.count == 5 } }
        let result = done.withLock { $0 }
        #expect(result.map(\.name) == [0, 10, 20, 30, 40])
        for piece in result {
            #expect(piece.moment - began >= .milliseconds(piece.name))
        }
    }

    @Test("A piece wakes the thread while it waits for something that is planned for later")
    func wakes() async throws {
        let done = Mutex(0)
        thread.run { [thread] in
            thread.run(after: .seconds(100_000)) { done.withLock { $0 = -1 } }
        }
        for count in 1...200 {
            thread.run { done.withLock { $0 += 1 } }
            try await until { done.withLock { $0 } == count }
        }
    }

    @Test("A descriptor is read when it has something, and left alone for as long as asked")
    func reading() async throws {
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0)
        let (output, input) = (ends[0], ends[1])
        let moments = Mutex<[ContinuousClock.Instant]>([])
        let pause = Duration.milliseconds(30)
        thread.run { [thread] in
            thread.read(output) {
                var byte: UInt8 = 0
                if Glibc.read(output, &byte, 1) == 1 { moments.withLock { $0.append(.now) } }
                return pause
            }
        }
        for _ in 0..<4 { _ = write(input, "x", 1) }
        try await until { moments.withLock { $0.count == 4 } }
        let result = moments.withLock { $0 }
        for (earlier, later) in zip(result, result.dropFirst()) {
            #expect(later - earlier >= pause)
        }
        // Pieces are done meanwhile, and what comes late is read.
        let done = Mutex(false)
        thread.run { done.withLock { $0 = true } }
        try await until { done.withLock { $0 } }
        _ = write(input, "x", 1)
        try await until { moments.withLock { $0.count == 5 } }
        // The thread has the pipe for as long as the process lives.
    }
}
