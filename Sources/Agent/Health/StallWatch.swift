import Control

/// Finds stalled realms: connected, with local changes, of which the server has acknowledged none for
/// longer than the limit.
struct StallWatch {
    private struct Progress: Equatable {
        let acknowledgedVersion: UInt64
        let uploadedBytes: UInt64
    }

    private var seen: [String: (progress: Progress, since: Duration)] = [:]
    /// Maximum time without an acknowledgement.
    let limit: Duration

    init(limit: Duration) {
        self.limit = limit
    }

    /// The realms that are stalled, by name.
    ///
    /// - Parameter now: as the uptime goes.
    mutating func stalled(_ realms: [RealmStatus], at now: Duration) -> [String] {
        var next: [String: (progress: Progress, since: Duration)] = [:]
        for realm in realms where realm.isConnectedWithChanges {
            let progress = Progress(
                acknowledgedVersion: realm.acknowledgedVersion,
                uploadedBytes: realm.uploadedBytes
            )
            if let earlier = seen[realm.name], earlier.progress == progress {
                next[realm.name] = earlier
            } else {
                next[realm.name] = (progress, now)
            }
        }
        seen = next
        return next.filter { now - $0.value.since >= limit }.map(\.key).sorted()
    }
}

extension RealmStatus {
    fileprivate var isConnectedWithChanges: Bool {
        (state == .open || state == .progress) && localVersion > acknowledgedVersion
    }
}
