import Changesets
import Testing

@testable import ServerStore

@Suite("Stored keys")
struct StoredKeyTests {
    @Test("Numbers lie in their order, so that neighbours share a page")
    func order() {
        let numbers: [Int64] = [.min, -65_536, -1, 0, 1, 63, 64, 127, 128, 8_192, 1 << 40, .max]
        let stored = numbers.map { StoredKey.encode(.int($0)) }
        for (smaller, larger) in zip(stored, stored.dropFirst()) {
            #expect(smaller.lexicographicallyPrecedes(larger))
        }
        #expect(stored.map { StoredKey.decode($0) } == numbers.map { .int($0) })
    }

    @Test("Every kind of key survives a round trip; invalid bytes are refused")
    func roundTrip() {
        let keys: [ObjectKey] = [
            .null, .int(-7), .string("seven"), .objectID(.zero), .uuid(.zero),
            .globalKey(GlobalKey(high: 7, low: .max)),
        ]
        #expect(keys.map { StoredKey.decode(StoredKey.encode($0)) } == keys)
        let damaged: [[UInt8]] = [[], [1], [1, 7], Array(repeating: 1, count: 10), [99]]
        #expect(damaged.allSatisfy { StoredKey.decode($0) == nil })
    }
}
