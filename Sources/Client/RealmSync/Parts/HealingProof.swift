import LocalRealm
import SyncClient
import SyncProtocol
import Versions

/// The events that end the failure of a realm whose file is open again.
struct HealingProof {
    /// As they were when it was opened.
    let localVersion: ClientVersion
    let progress: SyncProgress

    /// Whether something was written, nothing is left to write, or nothing has failed for a minute.
    func isGiven(
        by localVersion: ClientVersion,
        _ progress: SyncProgress,
        isDownloaded: Bool,
        after duration: Duration
    ) -> Bool {
        localVersion != self.localVersion || progress != self.progress || isDownloaded
            || duration >= .seconds(60)
    }
}

extension HealingProof {
    init(since snapshot: RealmClientStatus) {
        self.init(localVersion: snapshot.file.localVersion, progress: snapshot.file.progress)
    }

    func isGiven(by snapshot: RealmClientStatus, after duration: Duration) -> Bool {
        isGiven(
            by: snapshot.file.localVersion,
            snapshot.file.progress,
            isDownloaded: snapshot.standing.hasCompleted,
            after: duration
        )
    }
}
