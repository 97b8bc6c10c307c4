import SQLite
import Testing

@testable import Agent

@Suite("Long work and work that hangs")
struct WorkWatchTests {
    private func reading(_ steps: UInt64, isAtWork: Bool = true) -> WorkMeter.Reading {
        WorkMeter.Reading(isAtWork: isAtWork, steps: steps)
    }

    @Test("Work that makes steps is long, however long; work that makes none hangs in the end")
    func stallLimit() {
        var watch = WorkWatch(stallLimit: .seconds(60))
        for minute in 0..<90 {
            let readings = ["long": reading(UInt64(minute)), "idle": reading(7, isAtWork: false)]
            #expect(watch.hanging(readings, at: .seconds(60 * minute)).isEmpty)
        }
        let start = Duration.seconds(10_000)
        let stuck = ["b": reading(90), "a": reading(3), "long": reading(1)]
        #expect(watch.hanging(stuck, at: start).isEmpty)
        #expect(watch.hanging(stuck, at: start + .seconds(59)).isEmpty)
        let later = ["b": reading(90), "a": reading(3), "long": reading(2)]
        #expect(watch.hanging(later, at: start + .seconds(60)) == ["a", "b"])
        let resumed = ["b": reading(91), "a": reading(3, isAtWork: false), "long": reading(2)]
        #expect(watch.hanging(resumed, at: start + .seconds(61)).isEmpty)
    }

    @Test("A realm that was closed and opened again gets its full time")
    func reopened() {
        var watch = WorkWatch(stallLimit: .seconds(60))
        #expect(watch.hanging(["a": reading(0)], at: .zero).isEmpty)
        #expect(watch.hanging([:], at: .seconds(50)).isEmpty)
        #expect(watch.hanging(["a": reading(0)], at: .seconds(70)).isEmpty)
        #expect(watch.hanging(["a": reading(0)], at: .seconds(130)) == ["a"])
    }
}
