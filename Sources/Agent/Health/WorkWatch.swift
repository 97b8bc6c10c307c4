import SQLite

/// Tells realms whose file hangs from those with long work: work that makes no step for too long.
struct WorkWatch {
    private var seen: [String: (reading: WorkMeter.Reading, since: Duration)] = [:]
    /// How long work may make no step.
    let patience: Duration

    init(patience: Duration) {
        self.patience = patience
    }

    /// The realms that hang, by name.
    ///
    /// - Parameter now: as the uptime goes.
    mutating func hanging(_ readings: [String: WorkMeter.Reading], at now: Duration) -> [String] {
        var next: [String: (reading: WorkMeter.Reading, since: Duration)] = [:]
        for (name, reading) in readings where reading.isAtWork {
            if let earlier = seen[name], earlier.reading == reading {
                next[name] = earlier
            } else {
                next[name] = (reading, now)
            }
        }
        seen = next
        return next.filter { now - $0.value.since >= patience }.map(\.key).sorted()
    }
}
