import Testing

@testable import Agent

@Suite("The part of the offline limit that is used")
struct OfflineShareTests {
    @Test(
        "It grows with the time since the last contact, and a clock that was put back counts as none",
        arguments: [
            (0, 0, 0), (0, 1_800_000, 0.5), (0, 7_200_000, 2), (9_000, 0, 0), (.max, .min, 0),
            (0, 3_600_000, 1),
        ] as [(Int64, Int64, Double)]
    )
    func share(last: Int64, now: Int64, share: Double) {
        #expect(OfflineShare.used(of: .seconds(3_600), since: last, at: now) == share)
    }

    @Test("No limit is never used up")
    func noLimit() {
        #expect(OfflineShare.used(of: .zero, since: 0, at: 5) == 0)
    }
}
