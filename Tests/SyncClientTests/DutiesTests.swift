import Coordination
import Synchronization
import TestSupport
import Testing

@testable import SyncClient

@Suite("Duties follow signals and the time", .timeLimit(.minutes(10)))
struct DutiesTests {
    private let clock = SteppedClock()
    private let signal = Signal()

    /// The occasions of a duty's work so far.
    private final class Diary: Sendable {
        private let occasions = Mutex<[Duty.Occasion]>([])
        let entries = Signal()

        var all: [Duty.Occasion] { occasions.withLock { $0 } }

        func note(_ occasion: Duty.Occasion) {
            occasions.withLock { $0.append(occasion) }
            entries.raise()
        }
    }

    private func with(_ duties: [Duty], _ body: () async throws -> Void) async throws {
        let duties = Duties(duties, clock.syncTime)
        try await withThrowingTaskGroup { group in
            group.addTask { await duties.carryOut() }
            try await body()
            group.cancelAll()
        }
    }

    @Test("A raise before or during the work is followed once it is done; several count once")
    func raises() async throws {
        let (diary, goOn) = (Diary(), Signal())
        let duty = Duty(on: signal) { occasion in
            diary.note(occasion)
            await goOn.wait()
            return .onSignal
        }
        signal.raise()
        try await with([duty]) {
            await diary.entries.wait()
            for _ in 0..<3 { signal.raise() }
            #expect(diary.all == [.signal])
            goOn.raise()
            await diary.entries.wait()
            goOn.raise()
            signal.raise()
            await diary.entries.wait()
            goOn.raise()
        }
        #expect(diary.all == [.signal, .signal, .signal])
    }

    @Test("The beginning, the time and a wish for more come after their pauses, in one sleep")
    func times() async throws {
        let (diary, other) = (Diary(), Diary())
        let duty = Duty(on: signal, after: .seconds(5), isDueAtOnce: true) { occasion in
            diary.note(occasion)
            return diary.all.count == 1 ? .again : .within(.seconds(60))
        }
        let late = Duty(on: Signal(), after: .seconds(20), isDueAtOnce: true) { occasion in
            other.note(occasion)
            return .onSignal
        }
        try await with([late, duty]) {
            try await clock.pass(.seconds(5))
            await diary.entries.wait()
            try await clock.pass(.seconds(5)...(.seconds(5)))
            await diary.entries.wait()
            #expect(diary.all == [.beginning, .signal])
            #expect(other.all.isEmpty)
            try await clock.pass(.seconds(10)...(.seconds(10)))
            await other.entries.wait()
            try await clock.pass(.seconds(50)...(.seconds(50)))
            await diary.entries.wait()
            #expect(diary.all == [.beginning, .signal, .time])
            // A raise shortens the wait for the time.
            signal.raise()
            try await clock.pass(.seconds(5)...(.seconds(5)))
            await diary.entries.wait()
            #expect(diary.all == [.beginning, .signal, .time, .signal])
            #expect(other.all == [.beginning])
        }
    }

    @Test("A concurrent duty begins at each raise beside itself; others beside each other")
    func concurrent() async throws {
        let diary = Diary()
        let duties = [true, false].map { isConcurrent in
            Duty(
                on: isConcurrent ? signal : Signal(),
                isDueAtOnce: true,
                isConcurrent: isConcurrent
            ) { occasion in
                diary.note(occasion)
                await Signal().wait()
                return .onSignal
            }
        }
        try await with(duties) {
            try await until { diary.all.count == 2 }
            signal.raise()
            try await until { diary.all.count == 3 }
        }
        #expect(diary.all == [.beginning, .beginning, .signal])
    }

    @Test("A cancellation ends running work, and leaves the signal to others")
    func cancelled() async throws {
        let begun = Signal()
        let ended = Atomic(false)
        let duty = Duty(on: signal, isDueAtOnce: true) { _ in
            begun.raise()
            await Signal().wait()
            ended.store(true, ordering: .sequentiallyConsistent)
            return .again
        }
        try await with([duty]) { await begun.wait() }
        let hasEnded = ended.load(ordering: .sequentiallyConsistent)
        #expect(hasEnded)
        signal.raise()
        #expect(await signal.wait())
    }
}
