import ServerStore
import SyncProtocol
import Versions

/// The newest part of a file's history in memory, without gaps, which all its sessions read.
///
/// Of a scan of the store it differs only in what it costs: after growth that 64 sessions hear of, the store
/// is asked once.
struct RecentHistory: Sendable {
    /// The part of a history in the store that follows a version.
    struct Growth: Sendable {
        let generation: UInt64
        /// The present salt of that version; nil if the history does not have it.
        let saltOfStart: Salt?
        let newest: SaltedServerVersion
        let historySizeInBytes: UInt64
        let asymmetric: AsymmetricClasses
        /// Those for all clients; nil if there is more than is kept in memory.
        let entries: [HistoryEntry]?
    }

    /// Of the changesets; older entries are dropped.
    static let limitInBytes = 1 << 20

    private let generation: UInt64
    /// The entries follow it.
    private var start: SaltedServerVersion
    private(set) var end: SaltedServerVersion
    private var entries: [HistoryEntry] = []
    private var historySizeInBytes: UInt64 = 0
    private var asymmetric: AsymmetricClasses
    private(set) var sizeInBytes = 0

    /// Nil if the store has another history at the start, or too much after it.
    init?(after start: SaltedServerVersion, _ growth: Growth) {
        self.generation = growth.generation
        self.start = start
        self.end = start
        self.asymmetric = growth.asymmetric
        guard extend(growth) else { return nil }
    }

    /// Adds what follows the end; false if the store has another history there, or too much after it.
    mutating func extend(_ growth: Growth) -> Bool {
        guard growth.generation == generation, growth.saltOfStart == end.salt,
            let added = growth.entries
        else { return false }
        entries += added
        end = growth.newest
        historySizeInBytes = growth.historySizeInBytes
        asymmetric = growth.asymmetric
        sizeInBytes += added.reduce(0) { $0 + Self.size(of: $1) }
        var dropped = 0
        while sizeInBytes > Self.limitInBytes, dropped < entries.count {
            start = entries[dropped].version
            sizeInBytes -= Self.size(of: entries[dropped])
            dropped += 1
        }
        entries.removeFirst(dropped)
        return true
    }

    private static func size(of entry: HistoryEntry) -> Int {
        entry.changeset.count + 128
    }

    /// The DOWNLOAD that a scan of the store would find for a session that was told of everything up to a
    /// version; nil if the store must be asked.
    func batch(
        for client: ClientFile,
        from cursor: DownloadCursor,
        toldOf told: SaltedServerVersion,
        softLimitInBytes: Int
    ) -> DownloadScan.Batch? {
        let position = cursor.serverVersion
        guard client.generation == generation, told.version == position,
            client.snapshotVersion <= position, position >= start.version, position <= end.version
        else { return nil }
        let first = entries.firstIndex { $0.version.version > position } ?? entries.endIndex
        // Versions that are missing are for one client only: perhaps for this one.
        guard UInt64(entries.count - first) == end.version.rawValue - position.rawValue,
            told.salt == salt(before: first, at: position)
        else { return nil }
        var found = DownloadCollection(
            for: client.ident,
            from: cursor,
            softLimitInBytes: softLimitInBytes,
            historySizeInBytes: historySizeInBytes,
            without: asymmetric
        )
        for entry in entries[first...] where found.take(entry) == .stop { break }
        return found.batch(newest: end, client.upload)
    }

    /// The salt of a version, which the entry before an index has; nil if it is not known.
    private func salt(before index: Int, at version: ServerVersion) -> Salt? {
        if version == end.version { return end.salt }
        if version == start.version { return start.salt }
        guard index > 0, entries[index - 1].version.version == version else { return nil }
        return entries[index - 1].version.salt
    }
}
