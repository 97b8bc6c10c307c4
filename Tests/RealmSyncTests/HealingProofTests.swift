import Testing
import Versions

@testable import RealmSync

@Suite("When the failure of a file that is open again is over")
struct HealingProofTests {
    private let proof = HealingProof(localVersion: ClientVersion(5))

    private func isGiven(
        _ localVersion: UInt64 = 5,
        isDownloaded: Bool = false,
        after duration: Duration = .seconds(59)
    ) -> Bool {
        proof.isGiven(
            by: ClientVersion(localVersion),
            isDownloaded: isDownloaded,
            after: duration
        )
    }

    @Test("An open file alone proves nothing: the next write may fail")
    func opened() {
        #expect(!isGiven())
    }

    @Test("A local or remote write proves it, a completed download, and a minute without failure")
    func proven() {
        #expect(isGiven(6))
        #expect(isGiven(isDownloaded: true))
        #expect(isGiven(after: .seconds(60)))
    }
}
