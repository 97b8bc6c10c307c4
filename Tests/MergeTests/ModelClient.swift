import Changesets
import Documents
import Merge
import Schemas

/// The client half of the history algorithm, in memory (merge rules, 2).
struct ModelClient {
    let ident: UInt64
    private(set) var realm: InMemoryRealm
    private(set) var serverVersion = 0
    /// Local transactions, oldest first.
    private var history: [Entry] = []
    private var version = 0

    private struct Entry {
        let version: Int
        let baseVersion: Int
        let stamp: Stamp
        let bytes: [UInt8]
        /// The entry after merges with the server, if any changed it.
        var reciprocal: [UInt8]?
    }

    init(ident: UInt64, realm: InMemoryRealm) {
        self.ident = ident
        self.realm = realm
    }

    mutating func commit(_ changeset: Changeset, bytes: [UInt8], time: UInt64) throws {
        try realm.apply(changeset)
        version += 1
        history.append(
            Entry(
                version: version,
                baseVersion: serverVersion,
                stamp: Stamp(timestamp: time, fileIdent: ident),
                bytes: bytes
            )
        )
    }

    func uploads(after version: Int) -> [Upload] {
        history.filter { $0.version > version }.map {
            Upload(
                clientVersion: $0.version,
                baseVersion: $0.baseVersion,
                stamp: $0.stamp,
                bytes: $0.bytes
            )
        }
    }

    /// All or nothing: after an error the client is unchanged.
    mutating func integrate(_ downloads: [Download]) throws {
        var copy = self
        try copy.integrateAll(downloads.filter { $0.serverVersion > serverVersion })
        self = copy
    }

    private mutating func integrateAll(_ downloads: [Download]) throws {
        var rest = downloads[...]
        var cache: [MergeOperand] = try history.map {
            try MergeOperand(decoding: $0.reciprocal ?? $0.bytes, $0.stamp)
        }
        while let base = rest.first?.baseVersion {
            let run = rest.prefix { $0.baseVersion == base }
            rest = rest.dropFirst(run.count)
            let start = history.firstIndex { $0.version > base } ?? history.endIndex
            var ours = Array(cache[start...])
            var theirs = try run.map { try MergeOperand(decoding: $0.bytes, $0.stamp) }
            try rebase(ours: &ours, theirs: &theirs)
            cache.replaceSubrange(start..., with: ours)
            for operand in theirs {
                try realm.apply(operand.changeset)
            }
        }
        for (position, operand) in cache.enumerated() where operand.isDirty {
            history[position].reciprocal = operand.changeset.encoded()
        }
        guard let last = downloads.last else { return }
        serverVersion = last.serverVersion
        version += 1
        // No later changeset can have an earlier base.
        history.removeAll { $0.version <= last.baseVersion }
    }
}
