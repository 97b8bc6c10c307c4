import Testing

@testable import ServerAccounts
@testable import ServerStore

@Suite("Attempt limiter")
struct AttemptLimiterTests {
    private typealias Key = AttemptLimiter.Key

    @Test("Keys with the same concatenation are different")
    func keys() {
        #expect(Key("ab", "c") != Key("a", "bc"))
        #expect(Key("a", "b") != Key("a", "b", ""))
        #expect(Key("a", "b") == Key("a", "b"))
    }

    @Test("A bucket refills with time, and full ones are removed")
    func sweep() {
        var limiter = AttemptLimiter(burst: 2, refillInterval: 100, capacity: 1000)
        for name in 0..<50 { #expect(limiter.take(Key("\(name)"), at: 0) == nil) }
        #expect(limiter.take(Key("1"), at: 0) == nil)
        #expect(limiter.take(Key("1"), at: 0) == 100)
        #expect(limiter.take(Key("1"), at: 100) == nil)
        #expect(limiter.count == 50)
        // Time alone empties it, at the next attempt of anyone.
        #expect(limiter.take(Key("new"), at: 1000) == nil)
        #expect(limiter.count == 1)
    }

    @Test("Memory is bounded, and the emptiest buckets are not removed first")
    func capacity() {
        var limiter = AttemptLimiter(burst: 3, refillInterval: 1_000_000, capacity: 100)
        let guesser = Key("guesser")
        for _ in 0..<3 { #expect(limiter.take(guesser, at: 0) == nil) }
        for name in 0..<10_000 { #expect(limiter.take(Key("\(name)"), at: 0) == nil) }
        #expect(limiter.count <= 100)
        #expect(limiter.take(guesser, at: 0) != nil)
    }

    @Test(
        "A clock that is set back does not lock anyone out for longer than a bucket takes to fill"
    )
    func clock() {
        var limiter = AttemptLimiter(burst: 2, refillInterval: 100)
        for _ in 0..<2 { #expect(limiter.take(Key("a"), at: 1_000_000) == nil) }
        #expect(limiter.take(Key("a"), at: 0) == 100)
    }
}
