import TestSupport
import Testing

@testable import Scheduling

@Suite("A poor network")
struct NetworkQualityTests {
    private func at(_ seconds: Int) -> Duration { .seconds(7_000 + seconds) }

    @Test("One bad reading makes it poor, a good minute makes it good again")
    func hysteresis() {
        var quality = NetworkQuality(PoorNetwork())
        quality.note(.roundTrip(.milliseconds(1_000)), at: at(0))
        #expect(!quality.isPoor(at: at(0)))
        quality.note(.roundTrip(.milliseconds(1_001)), at: at(1))
        #expect(quality.isPoor(at: at(1)))
        #expect(quality.isPoor(at: at(1_000)), "nothing good was measured")
        quality.note(.roundTrip(.milliseconds(100)), at: at(1_000))
        #expect(quality.recoversAt == at(1_060))
        #expect(quality.isPoor(at: at(1_059)))
        quality.note(.loss(0.2), at: at(1_059))
        #expect(quality.isPoor(at: at(1_060)))
        quality.note(.loss(0.1), at: at(1_100))
        quality.note(.roundTrip(.milliseconds(1)), at: at(1_130))
        #expect(quality.isPoor(at: at(1_159)))
        #expect(!quality.isPoor(at: at(1_160)))
    }

    @Test("Failures count within their span of time")
    func failures() {
        var quality = NetworkQuality(PoorNetwork())
        for second in [0, 150, 301] { quality.note(.failure, at: at(second)) }
        #expect(!quality.isPoor(at: at(301)))
        quality.note(.failure, at: at(302))
        #expect(quality.isPoor(at: at(302)))
        quality.note(.roundTrip(.milliseconds(5)), at: at(400))
        quality.note(.failure, at: at(430))
        #expect(quality.isPoor(at: at(500)), "a failure is not a good reading")
        quality.note(.roundTrip(.milliseconds(5)), at: at(900))
        #expect(!quality.isPoor(at: at(960)))
        quality.note(.failure, at: at(961))
        #expect(!quality.isPoor(at: at(961)), "the old failures are forgotten")
        #expect(quality.complaint == nil)
    }

    @Test("An attempt has four round trips; a slow one counts as failed")
    func slowAttempts() {
        var quality = NetworkQuality(PoorNetwork())
        for second in 0..<3 { quality.note(.attempt(.seconds(4)), at: at(second)) }
        #expect(!quality.isPoor(at: at(3)))
        quality.note(.attempt(.milliseconds(4_001)), at: at(4))
        quality.note(.failure, at: at(5))
        #expect(!quality.isPoor(at: at(5)))
        quality.note(.attempt(.seconds(60)), at: at(6))
        #expect(quality.isPoor(at: at(6)))
        #expect(quality.complaint == .failures(3))
        quality.note(.attempt(.seconds(1)), at: at(10))
        #expect(!quality.isPoor(at: at(70)))
    }

    @Test("It is probed seldom while bad, and again before it counts as good")
    func probing() {
        var quality = NetworkQuality(
            PoorNetwork(recoverAfter: .seconds(60), probeEvery: .seconds(300))
        )
        quality.note(.loss(0.5), at: at(0))
        #expect(quality.probePause == .seconds(300))
        quality.note(.attempt(.milliseconds(80)), at: at(300))
        #expect(quality.probePause == .seconds(30))
        quality.note(.failure, at: at(330))
        #expect(quality.probePause == .seconds(300))
        quality = NetworkQuality(PoorNetwork(recoverAfter: .zero, probeEvery: .seconds(10)))
        quality.note(.loss(0.5), at: at(0))
        quality.note(.loss(0), at: at(10))
        #expect(quality.probePause == .seconds(1))
        #expect(!quality.isPoor(at: at(10)))
    }

    @Test("Of two simultaneous measurements, the bad one counts")
    func samples() {
        var quality = NetworkQuality(PoorNetwork())
        quality.note(.sample(roundTrip: .milliseconds(10), loss: nil), at: at(0))
        #expect(!quality.isPoor(at: at(0)))
        quality.note(.sample(roundTrip: .seconds(2), loss: 0), at: at(1))
        #expect(quality.complaint == .roundTrip(.seconds(2)))
        #expect(quality.isPoor(at: at(100)))
        quality.note(.sample(roundTrip: .milliseconds(10), loss: 0.5), at: at(100))
        #expect(quality.complaint == .loss(0.5))
        #expect(quality.isPoor(at: at(300)))
        quality.note(.sample(roundTrip: .milliseconds(10), loss: 0), at: at(300))
        #expect(!quality.isPoor(at: at(360)))
    }

    @Test(
        "Readings around a threshold do not make it flap: bad ones keep it poor, despite good ones"
    )
    func flapping() {
        for seed in UInt64(0)..<200 {
            var random = SplitMix64(seed: seed)
            var quality = NetworkQuality(PoorNetwork(recoverAfter: .seconds(60)))
            var changes = 0
            var wasPoor = false
            // An hour of readings each ten seconds, half of them bad.
            for second in stride(from: 0, to: 3_600, by: 10) {
                let isBad = Bool.random(using: &random)
                quality.note(.roundTrip(.milliseconds(isBad ? 1_001 : 999)), at: at(second))
                if quality.isPoor(at: at(second)) != wasPoor { changes += 1 }
                wasPoor = quality.isPoor(at: at(second))
            }
            // Six consecutive good ones are needed, which happens about once in ten minutes.
            #expect(changes < 40, "seed \(seed)")
        }
    }
}

@Suite("The share of lost segments")
struct SegmentLossTests {
    @Test("A share is that of the time since the last one, and waits for enough segments")
    func shares() {
        var loss = SegmentLoss()
        #expect(loss.share(sent: 10, resent: 5) == nil)
        #expect(loss.share(sent: 20, resent: 5) == 0.25)
        #expect(loss.share(sent: 39, resent: 6) == nil)
        #expect(loss.share(sent: 60, resent: 7) == 0.05)
        #expect(loss.share(sent: 160, resent: 7) == 0)
    }

    @Test("Counters that wrap or lie give no share")
    func overflow() {
        var loss = SegmentLoss()
        #expect(loss.share(sent: .max, resent: 0) == 0)
        #expect(loss.share(sent: 100, resent: 0) == nil)
        #expect(loss.share(sent: 120, resent: 400) == 1)
        #expect(loss.share(sent: 0, resent: 0) == nil)
    }
}
