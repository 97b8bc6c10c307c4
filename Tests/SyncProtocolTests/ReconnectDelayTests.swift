import SyncProtocol
import TestSupport
import Testing

@Suite("The delay before the next attempt")
struct ReconnectDelayTests {
    /// No jitter, so that the sequence is visible.
    private func exact() -> ReconnectDelay<String> {
        ReconnectDelay(.init(jitter: 0))
    }

    private func sequence(
        _ delay: inout ReconnectDelay<String>,
        _ reasons: String...
    ) -> [Duration] {
        var random = SplitMix64(seed: 0)
        return reasons.map {
            delay.failed($0)
            return delay.next(using: &random)
        }
    }

    @Test("The same reason doubles it up to five minutes, another one starts over")
    func growth() {
        var delay = exact()
        let same = sequence(&delay, "a", "a", "a", "a", "a", "a", "a", "a", "a", "a", "a")
        #expect(same == [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300].map { .seconds($0) })
        #expect(sequence(&delay, "b", "b", "a") == [1, 2, 1].map { .seconds($0) })
        delay.reset()
        #expect(sequence(&delay, "a") == [.seconds(1)])
    }

    @Test("The server's numbers apply as long as their reason")
    func serverNumbers() {
        var delay = exact()
        var random = SplitMix64(seed: 0)
        let backoff = JSONErrorBody.Backoff(
            initialInSeconds: 3,
            maximumInSeconds: 5,
            multiplier: 2
        )
        delay.failed("a", backoff: backoff)
        #expect(delay.next(using: &random) == .seconds(3))
        // Other numbers for the same reason are ignored.
        delay.failed("a", backoff: .init(initialInSeconds: 60, maximumInSeconds: 60, multiplier: 1))
        #expect(delay.next(using: &random) == .seconds(5))
        #expect(sequence(&delay, "b") == [.seconds(1)])
    }

    @Test("Hostile numbers neither trap nor shorten a delay")
    func hostileNumbers() {
        var delay = exact()
        var random = SplitMix64(seed: 0)
        delay.failed(
            "a",
            backoff: .init(initialInSeconds: 7, maximumInSeconds: .max, multiplier: 0)
        )
        for _ in 0..<5 { #expect(delay.next(using: &random) == .seconds(7)) }
        delay.failed(
            "b",
            backoff: .init(initialInSeconds: .max, maximumInSeconds: .max, multiplier: .max)
        )
        for _ in 0..<5 { #expect(delay.next(using: &random) == .seconds(UInt32.max)) }
    }

    @Test("Jitter subtracts up to a quarter")
    func jitter() {
        var random = SplitMix64(seed: 3)
        var seen: Set<Duration> = []
        for _ in 0..<200 {
            var delay = ReconnectDelay<String>()
            delay.failed("a")
            let value = delay.next(using: &random)
            #expect(value <= .seconds(1))
            #expect(value >= .milliseconds(750))
            seen.insert(value)
        }
        #expect(seen.count > 50)
    }

    @Test("Any multiplier and any jitter")
    func fractions() {
        var random = SplitMix64(seed: 0)
        var delay = ReconnectDelay<String>(
            .init(initial: .milliseconds(100), maximum: .seconds(1), multiplier: 1.5, jitter: 0)
        )
        let delays = (0..<8).map { _ in
            delay.failed("a")
            return delay.next(using: &random)
        }
        #expect(
            delays == [100, 150, 225, 338, 507, 761, 1_000, 1_000].map { .milliseconds($0) }
        )
        var values: Set<Duration> = []
        for _ in 0..<200 {
            var delay = ReconnectDelay<String>(.init(initial: .milliseconds(10), jitter: 0.4))
            delay.failed("a")
            values.insert(delay.next(using: &random))
        }
        #expect(values == Set((6...10).map { .milliseconds($0) }))
    }
}
