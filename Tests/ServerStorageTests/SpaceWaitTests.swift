import ServerFixtures
import ServerStore
import TestSupport
import Testing

@testable import ServerStorage

@Suite("A store whose disk is full when the server starts", .timeLimit(.minutes(1)))
struct SpaceWaitTests {
    private actor Attempts {
        private(set) var count = 0

        func next() -> Int {
            count += 1
            return count
        }
    }

    @Test("It is opened again every second until there is space; the log says so once")
    func full() async throws {
        let clock = SteppedClock()
        let recorder = LogRecorder()
        let wait = SpaceWait(clock: clock, logger: recorder.logger)
        let attempts = Attempts()
        async let outcome = wait.run {
            guard await attempts.next() == 4 else { throw StoreError(.diskFull, "no space") }
            return "open"
        }
        for _ in 1...3 { try await clock.pass(.seconds(1)) }
        let result = try await outcome
        #expect(result == "open")
        #expect(await attempts.count == 4)
        #expect(recorder.records.first?.fields["code"] == "store.disk_full")
        #expect(recorder.records.map(\.message) == ["waiting for space on the disk"])
    }

    @Test("Other failures end the start")
    func others() async throws {
        let wait = SpaceWait(clock: SteppedClock(), logger: LogRecorder().logger)
        await #expect(throws: StoreError(.failed, "no such directory")) {
            try await wait.run { throw StoreError(.failed, "no such directory") }
        }
    }
}
