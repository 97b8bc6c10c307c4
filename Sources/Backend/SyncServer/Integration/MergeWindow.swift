import Changesets
import Merge
import ServerStore
import Versions

/// The history unknown to a client, which its uploads are merged with, in its reciprocal form for
/// this client (sync history, 14.4).
struct MergeWindow {
    /// Oldest first; one for each of `operands`.
    private var versions: [ServerVersion]
    private var operands: [MergeOperand]
    /// The rest of `MergeLimits.pairs`, for all changesets of an upload together.
    private var pairsLeft: Int
    private let pairLimit: Int

    /// Pairs of changesets that were merged.
    var mergedPairs: Int { pairLimit - max(0, pairsLeft) }

    /// Loads the entries of other origins after a version; up to the snapshot that the client began
    /// with, those of the snapshot.
    ///
    /// Of a long history, only entries that share a place with the uploads are in memory. The first
    /// upload of a new client is its schema, which shares none with objects.
    init(
        of client: FileIdent,
        with snapshot: ServerVersion = .zero,
        in file: ServerFile,
        after version: ServerVersion,
        meeting uploads: UploadedPlaces,
        within limits: MergeLimits = MergeLimits(),
        indexes: HistoryIndexes? = nil,
        from store: any FileReading
    ) throws {
        let reader = HistoryReader(
            client: client,
            file: file,
            uploads: uploads,
            limits: limits,
            indexes: indexes,
            store: store
        )
        var window: [(ServerVersion, MergeOperand)] = []
        var sizeLeft = limits.historySizeInBytes
        let take: (HistoryEntry) throws -> Void = { entry in
            guard entry.origin != client, !entry.changeset.isEmpty else { return }
            if uploads.isSchemaOnly, !Changeset.mayChangeSchema(entry.changeset) { return }
            let number = entry.version.version
            let original = try Self.operand(of: entry, entry.changeset, in: file.id)
            guard uploads.touched.mayMeet(original.changeset) else { return }
            // Merges have changed its content, but not its places.
            let reciprocal = try store.reciprocal(of: number, for: client, in: file.id)
            window.append(
                (
                    number,
                    try reciprocal.map { try Self.operand(of: entry, $0, in: file.id) } ?? original
                )
            )
            // One is always loaded, of any size.
            guard window.count == 1 || sizeLeft > 0 else { throw IntegrationRefusal.tooMuchHistory }
            sizeLeft -= entry.changeset.count
        }
        if snapshot > version {
            try reader.forEachEntry(of: snapshot, after: version, take)
        }
        try reader.forEachEntry(after: max(version, snapshot), take)
        self.versions = window.map(\.0)
        self.operands = window.map(\.1)
        self.pairsLeft = limits.pairs
        self.pairLimit = limits.pairs
    }

    private static func operand(
        of entry: HistoryEntry,
        _ bytes: [UInt8],
        in file: ServerFileID
    ) throws(StoreError) -> MergeOperand {
        guard let changeset = try? Changeset(decoding: bytes) else {
            throw StoreError.damagedEntry(entry.version.version, of: file)
        }
        let origin = entry.origin == .none ? FileIdent.server : entry.origin
        return MergeOperand(
            changeset: changeset,
            stamp: Stamp(timestamp: entry.timestamp.rawValue, fileIdent: origin.rawValue)
        )
    }

    /// Whether there is something to merge changesets of that base version with.
    func hasHistory(after version: ServerVersion) -> Bool {
        versions.last.map { $0 > version } ?? false
    }

    /// Rebases changesets with the same base version. Returns false if there was nothing to merge
    /// them with.
    mutating func rebase(
        _ theirs: inout [MergeOperand],
        madeOn version: ServerVersion
    ) throws(MergeError) -> Bool {
        let start = versions.firstIndex { $0 > version } ?? versions.count
        guard start < versions.count else { return false }
        var ours = Array(operands[start...])
        operands.removeSubrange(start...)
        try Merge.rebase(ours: &ours, theirs: &theirs, pairsLeft: &pairsLeft)
        operands.append(contentsOf: ours)
        return true
    }

    /// Counts the work of a failed attempt.
    mutating func spend(asMuchAs attempt: MergeWindow) {
        pairsLeft = attempt.pairsLeft
    }

    /// The new reciprocals.
    var changed: [(version: ServerVersion, changeset: Changeset)] {
        zip(versions, operands).filter { $0.1.isDirty }.map { ($0.0, $0.1.changeset) }
    }
}
