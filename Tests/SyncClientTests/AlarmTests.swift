import Coordination
import Synchronization
import TestSupport
import Testing

@testable import SyncClient

@Suite("An alarm", .timeLimit(.minutes(5)))
struct AlarmTests {
    private let clock = SteppedClock()
    private let signal = Signal()

    private func withAlarm(
        onSleep: @escaping @Sendable () -> Void = {},
        _ body: (Alarm) async throws -> Void
    ) async throws {
        let sleep = clock.syncTime.sleep
        let time = SyncTime(uptime: clock.syncTime.uptime) { duration in
            onSleep()
            try await sleep(duration)
        }
        let alarm = Alarm(time)
        try await withThrowingTaskGroup { group in
            group.addTask { [signal] in await alarm.raise(signal) }
            try await body(alarm)
            group.cancelAll()
        }
    }

    @Test("It rings at its moment, once")
    func ringing() async throws {
        try await withAlarm { alarm in
            alarm.set(.seconds(5))
            try await clock.pass(.seconds(5)...(.seconds(5)))
            #expect(await signal.wait())
            alarm.set(.seconds(8))
            try await clock.pass(.seconds(3)...(.seconds(3)))
            #expect(await signal.wait())
        }
    }

    @Test("A moment that is set again and again needs one timer")
    func sameMoment() async throws {
        let sleeps = Mutex(0)
        try await withAlarm(onSleep: { sleeps.withLock { $0 += 1 } }) { alarm in
            for _ in 0..<1_000 {
                alarm.set(.seconds(5))
                try await clock.settle()
            }
            // The first may be set before the alarm runs, and is then seen twice.
            #expect(sleeps.withLock { $0 } <= 2)
        }
    }

    @Test("It can be moved to earlier and later, and to never")
    func moves() async throws {
        try await withAlarm { alarm in
            alarm.set(.seconds(5))
            try await clock.sleeper(.seconds(5)...(.seconds(5)))
            alarm.set(.seconds(3))
            try await clock.sleeper(.seconds(3)...(.seconds(3)))
            alarm.set(nil)
            clock.advance(by: .seconds(4))
            alarm.set(.seconds(9))
            try await clock.sleeper(.seconds(5)...(.seconds(5)))
            // What was set before does not ring.
            #expect(await !signal.wait(until: {}))
            clock.advance(by: .seconds(5))
            #expect(await signal.wait())
        }
    }

    @Test("A moment that has passed rings at once")
    func past() async throws {
        clock.advance(by: .seconds(10))
        try await withAlarm { alarm in
            alarm.set(.seconds(10))
            #expect(await signal.wait())
        }
    }
}
