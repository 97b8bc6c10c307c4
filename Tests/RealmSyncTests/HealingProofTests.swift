import SyncProtocol
import Testing
import Versions

@testable import RealmSync

@Suite("When the failure of a file that is open again is over")
struct HealingProofTests {
    private let proof = HealingProof(localVersion: ClientVersion(5), progress: progress(3))

    private static func progress(_ version: UInt64) -> SyncProgress {
        SyncProgress(
            latestServerVersion: SaltedServerVersion(
                version: ServerVersion(version),
                salt: Salt(1)
            ),
            download: DownloadCursor(
                serverVersion: ServerVersion(version),
                lastIntegratedClientVersion: .zero
            ),
            upload: .zero
        )
    }

    private func isGiven(
        _ localVersion: UInt64 = 5,
        _ version: UInt64 = 3,
        isDownloaded: Bool = false,
        after duration: Duration = .seconds(59)
    ) -> Bool {
        proof.isGiven(
            by: ClientVersion(localVersion),
            Self.progress(version),
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
        #expect(isGiven(5, 4))
        #expect(isGiven(isDownloaded: true))
        #expect(isGiven(after: .seconds(60)))
    }
}
