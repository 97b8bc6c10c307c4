import TestSupport
import Testing

@testable import ClientReset

/// Client reset, 7.3, on random histories of one list.
@Suite("Lists that recovery keeps track of")
struct ListTrackerTests {
    /// Elements of the start are small, the server's are in the hundreds, our own in the thousands.
    private struct Lists {
        var random: SplitMix64
        let start: [Int]
        var local: [Int]
        var fresh: [Int]
        var tracker = ListTracker()
        private var next = 1000

        init(seed: UInt64) {
            random = SplitMix64(seed: seed)
            start = Array(0..<Int.random(in: 0...5, using: &random))
            (local, fresh) = (start, start)
        }

        private mutating func below(_ end: Int) -> Int { Int.random(in: 0..<end, using: &random) }

        /// The server's changes, which the client does not see.
        mutating func changeOnServer() {
            for number in 0..<below(6) {
                if !fresh.isEmpty, below(3) == 0 {
                    fresh.remove(at: below(fresh.count))
                } else {
                    fresh.insert(100 + number, at: below(fresh.count + 1))
                }
            }
        }

        /// One change to an element of our own, in both lists.
        mutating func changeOwn() {
            let own = local.indices.filter { local[$0] >= 1000 }
            switch below(4) {
            case 0 where !own.isEmpty:
                let index = own[below(own.count)]
                local.remove(at: index)
                if let place = tracker.erase(at: UInt32(index)) { fresh.remove(at: Int(place)) }
            case 1 where own.count > 1:
                let (from, to) = (own[below(own.count)], own[below(own.count)])
                guard from != to else { return }
                local.insert(local.remove(at: from), at: to)
                if let moved = tracker.move(from: UInt32(from), to: UInt32(to)) {
                    fresh.insert(fresh.remove(at: Int(moved.from)), at: Int(moved.to))
                }
            default:
                let index = below(local.count + 1)
                local.insert(next, at: index)
                let place = tracker.insert(at: UInt32(index), size: fresh.count)
                fresh.insert(next, at: Int(place))
                next += 1
            }
        }
    }

    @Test("If the server has changed nothing, its list becomes the local one")
    func unchangedServer() {
        for seed in 0..<5_000 as Range<UInt64> {
            var lists = Lists(seed: seed)
            for _ in 0..<12 { lists.changeOwn() }
            #expect(lists.fresh == lists.local, "seed \(seed)")
        }
    }

    @Test("Our own elements keep their order, and so do the server's, after any change there")
    func order() {
        for seed in 0..<5_000 as Range<UInt64> {
            var lists = Lists(seed: seed)
            lists.changeOnServer()
            let server = lists.fresh
            for _ in 0..<12 { lists.changeOwn() }
            #expect(lists.fresh.filter { $0 < 1000 } == server, "seed \(seed)")
            let own = lists.local.filter { $0 >= 1000 }
            #expect(lists.fresh.filter { $0 >= 1000 } == own, "seed \(seed)")
        }
    }
}
