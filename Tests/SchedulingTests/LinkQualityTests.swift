import Testing

@testable import Scheduling

@Suite("A poor network")
struct LinkQualityTests {
    private let start = instant("2026-11-20T10:00Z")

    private func at(_ seconds: Int) -> Instant { start + .seconds(seconds) }

    @Test("One bad reading makes it poor, a good minute makes it good again")
    func hysteresis() {
        var quality = LinkQuality(PoorNetwork())
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
        var quality = LinkQuality(PoorNetwork())
        for second in [0, 150, 301] { quality.note(.failure, at: at(second)) }
        #expect(!quality.isPoor(at: at(301)))
        quality.note(.failure, at: at(302))
        #expect(quality.isPoor(at: at(302)))
        quality.note(.roundTrip(.milliseconds(5)), at: at(400))
        quality.note(.failure, at: at(430))
        #expect(quality.isPoor(at: at(500)), "a failure is no good reading")
        quality.note(.roundTrip(.milliseconds(5)), at: at(900))
        #expect(!quality.isPoor(at: at(960)))
        quality.note(.failure, at: at(961))
        #expect(!quality.isPoor(at: at(961)), "the old failures are forgotten")
    }
}
