import TestSupport
import Testing

@testable import Query

@Suite("Interval forest")
struct IntervalForestTests {
    @Test("Finds the intervals that contain a value, among many that come and leave")
    func findsAll() {
        for seed in UInt64(0)..<12 {
            var random = SplitMix64(seed: seed)
            var forest = IntervalForest<Int, Int>()
            var all: [Int: Interval<Int>] = [:]
            for step in 0..<600 {
                // First they grow, then they come and go, then they leave.
                let leaves = step < 200 ? 5 : step < 400 ? 2 : 1
                if Int.random(in: 0...leaves, using: &random) == 0 || step > 550,
                    let element = all.keys.sorted().randomElement(using: &random)
                {
                    if let interval = all.removeValue(forKey: element) {
                        forest.remove(interval, element)
                    }
                } else {
                    let lower = Int.random(in: 0..<1_000, using: &random)
                    let length = Int.random(in: 0..<60, using: &random)
                    let form = Int.random(in: 0..<12, using: &random)
                    // A removed interval of an element may come back.
                    let element = Int.random(in: 0..<400, using: &random)
                    guard all[element] == nil else { continue }
                    let interval = Interval(
                        lower: form == 0 ? nil : lower,
                        upper: form == 1 ? nil : lower + length
                    )
                    all[element] = interval
                    forest.insert(interval, element)
                    forest.insert(interval, element)
                }
                let value = Int.random(in: -5..<1_100, using: &random)
                var found: [Int] = []
                forest.find(value) { found.append($0) }
                let expected = all.filter { $0.value.contains(value) }.keys.sorted()
                #expect(found.sorted() == expected, "seed \(seed), step \(step)")
            }
            for (element, interval) in all { forest.remove(interval, element) }
            #expect(forest.isEmpty)
        }
    }

    @Test("A removed interval that comes back is found once")
    func comesBack() {
        var forest = IntervalForest<Int, String>()
        let interval = Interval(lower: 1, upper: 5)
        for name in ["a", "b", "c", "d"] { forest.insert(interval, name) }
        forest.remove(interval, "b")
        forest.insert(interval, "b")
        forest.remove(interval, "c")
        forest.remove(interval, "x")
        var found: [String] = []
        forest.find(5) { found.append($0) }
        #expect(found.sorted() == ["a", "b", "d"])
        found = []
        forest.find(6) { found.append($0) }
        #expect(found == [])
    }
}
