import Control
import SQLite
import Testing

@testable import Agent

@Suite("Long work and work that hangs")
struct WorkWatchTests {
    private func realm(_ name: String, _ steps: UInt64, isAtWork: Bool = true) -> RealmHealth {
        RealmHealth(name: name, state: .open, work: .init(isAtWork: isAtWork, steps: steps))
    }

    @Test("Work that makes steps is long, however long; work that makes none hangs in the end")
    func stallLimit() {
        var watch = WorkWatch(stallLimit: .seconds(60))
        for minute in 0..<90 {
            let realms = [realm("long", UInt64(minute)), realm("idle", 7, isAtWork: false)]
            #expect(watch.hanging(realms, at: .seconds(60 * minute)).isEmpty)
        }
        let start = Duration.seconds(10_000)
        let stuck = [realm("b", 90), realm("a", 3), realm("long", 1)]
        #expect(watch.hanging(stuck, at: start).isEmpty)
        #expect(watch.hanging(stuck, at: start + .seconds(59)).isEmpty)
        let later = [realm("b", 90), realm("a", 3), realm("long", 2)]
        #expect(watch.hanging(later, at: start + .seconds(60)) == ["a", "b"])
        let resumed = [realm("b", 91), realm("a", 3, isAtWork: false), realm("long", 2)]
        #expect(watch.hanging(resumed, at: start + .seconds(61)).isEmpty)
    }

    @Test("A realm that was closed and opened again gets its full time")
    func reopened() {
        var watch = WorkWatch(stallLimit: .seconds(60))
        #expect(watch.hanging([realm("a", 0)], at: .zero).isEmpty)
        #expect(watch.hanging([], at: .seconds(50)).isEmpty)
        #expect(watch.hanging([realm("a", 0)], at: .seconds(70)).isEmpty)
        #expect(watch.hanging([realm("a", 0)], at: .seconds(130)) == ["a"])
    }
}
