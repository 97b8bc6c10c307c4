import LocalRealm
import SyncClient
import Versions

/// The events that end the failure of a realm whose file is open again.
struct HealingProof {
    /// As it was when it was opened: each write to the file has a version.
    let localVersion: ClientVersion

    /// Whether something was written, nothing is left to write, or nothing has failed for a minute.
    func isGiven(
        by localVersion: ClientVersion,
        isDownloaded: Bool,
        after duration: Duration
    ) -> Bool {
        localVersion != self.localVersion || isDownloaded || duration >= .seconds(60)
    }
}

extension HealingProof {
    init(since snapshot: RealmClientStatus) {
        self.init(localVersion: snapshot.file.localVersion)
    }

    func isGiven(by snapshot: RealmClientStatus, after duration: Duration) -> Bool {
        isGiven(
            by: snapshot.file.localVersion,
            isDownloaded: snapshot.standing.hasCompleted,
            after: duration
        )
    }
}
