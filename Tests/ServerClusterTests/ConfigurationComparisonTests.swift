import ServerFixtures
import ServerStore
import Testing

@testable import ServerCluster

@Suite("Configurations of several processes")
struct ConfigurationComparisonTests {
    private let shop = AppID.named("shop-abcde")

    @Test("A difference is reported once, after five minutes; equal again, it starts over")
    func difference() {
        var comparison = ConfigurationComparison()
        var reports: [Int64] = []
        func look(_ other: String, from start: Int64, to end: Int64) {
            for second in start...end {
                let apps = comparison.differing([shop: "a"], [[shop: other]], at: second * 1000)
                if apps == [shop] { reports.append(second) }
            }
        }
        look("a", from: 0, to: 10)
        look("b", from: 11, to: 1000)
        #expect(reports == [311])
        look("a", from: 1001, to: 1001)
        look("b", from: 1002, to: 1400)
        #expect(reports == [311, 1302])
    }

    @Test("A process without the app differs; without other processes nothing does")
    func absence() {
        var comparison = ConfigurationComparison()
        var found = comparison.differing([shop: "a"], [], at: 0)
        #expect(found.isEmpty)
        found = comparison.differing([shop: "a"], [[:]], at: 0)
        #expect(found.isEmpty)
        found = comparison.differing([shop: "a"], [[:]], at: 300_000)
        #expect(found == [shop])
    }
}
