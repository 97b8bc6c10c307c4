import Versions

/// When the server learned of the versions that a session has not been sent yet.
struct WaitingVersions {
    /// All versions after those of the entry before.
    private struct Entry {
        let upTo: ServerVersion
        /// Milliseconds since 1970.
        let since: Int64
    }

    /// The oldest first; most sessions have none.
    private var entries: [Entry] = []
    private var sent = ServerVersion.zero

    /// A client that does not read must not fill the memory.
    static let mostEntries = 32

    /// Milliseconds since 1970; nil if everything is sent.
    var oldest: Int64? { entries.first?.since }

    var count: Int { entries.count }

    mutating func grew(to version: ServerVersion, at now: Int64) {
        guard version > max(sent, entries.last?.upTo ?? .zero) else { return }
        if entries.count == Self.mostEntries { halve() }
        entries.append(Entry(upTo: version, since: now))
    }

    mutating func sent(upTo version: ServerVersion) {
        sent = max(sent, version)
        guard let first = entries.first, first.upTo <= sent else { return }
        entries.removeAll { $0.upTo <= sent }
    }

    /// Joins each two entries, under the time of the older one.
    private mutating func halve() {
        entries = stride(from: 0, to: entries.count, by: 2).map { index in
            let second = min(index + 1, entries.count - 1)
            return Entry(upTo: entries[second].upTo, since: entries[index].since)
        }
    }
}
