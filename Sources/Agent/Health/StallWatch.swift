import Control

/// Finds stalled realms: connected, with local changes, of which the server has acknowledged none for
/// longer than the limit.
struct StallWatch {
    private var seen: [String: (progress: RealmHealth.Uploads.Progress, since: Duration)] = [:]
    /// Maximum time without an acknowledgement.
    let limit: Duration

    init(limit: Duration) {
        self.limit = limit
    }

    /// The realms that are stalled, by name.
    ///
    /// - Parameter now: as the uptime goes.
    mutating func stalled(_ realms: [RealmHealth], at now: Duration) -> [String] {
        var next: [String: (progress: RealmHealth.Uploads.Progress, since: Duration)] = [:]
        for realm in realms {
            guard realm.isConnectedWithChanges, let progress = realm.uploads?.progress else {
                continue
            }
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

extension RealmHealth {
    fileprivate var isConnectedWithChanges: Bool {
        guard state == .open || state == .progress, let uploads else { return false }
        return uploads.localVersion > uploads.progress.acknowledgedVersion
    }
}
