import SQLite

/// Finds realms whose file hangs, as distinct from long work: no step for longer than the limit.
struct WorkWatch {
    private var seen: [String: (reading: WorkMeter.Reading, since: Duration)] = [:]
    /// Maximum time between two steps of the work.
    let stallLimit: Duration

    init(stallLimit: Duration) {
        self.stallLimit = stallLimit
    }

    /// The realms that hang, by name.
    ///
    /// - Parameter now: as the uptime goes.
    mutating func hanging(_ realms: [RealmHealth], at now: Duration) -> [String] {
        var next: [String: (reading: WorkMeter.Reading, since: Duration)] = [:]
        for realm in realms {
            guard let reading = realm.work, reading.isAtWork else { continue }
            if let earlier = seen[realm.name], earlier.reading == reading {
                next[realm.name] = earlier
            } else {
                next[realm.name] = (reading, now)
            }
        }
        seen = next
        return next.filter { now - $0.value.since >= stallLimit }.map(\.key).sorted()
    }
}
