import Changesets
import Merge
import Versions

/// What the server has and a client has not seen: the history that its uploads are merged with, in
/// the form it has taken for this client (sync history, 14.4).
struct MergeWindow {
    /// Oldest first; as many as `operands`.
    private var versions: [ServerVersion]
    private var operands: [MergeOperand]

    /// Loads the entries after a version that did not come from the client itself; up to the snapshot
    /// that it began with, those of the snapshot.
    ///
    /// Of a long history only what the uploads may meet is held in memory: a client that begins sends
    /// its schema, and everybody else's objects have nothing to do with that.
    init(
        of client: FileIdent,
        with snapshot: ServerVersion = .zero,
        in file: ServerFileID,
        after version: ServerVersion,
        meeting uploads: [MergeOperand],
        from store: any FileReading
    ) throws(StoreError) {
        let reciprocals = try store.reciprocals(for: client, in: file, after: version)
        var window: [(ServerVersion, MergeOperand)] = []
        var places: TouchedPlaces?
        let take: (HistoryEntry) throws(StoreError) -> Visit = { entry throws(StoreError) in
            guard entry.origin != client, !entry.changeset.isEmpty else { return .next }
            let number = entry.version.version
            let operand = try Self.operand(of: entry, reciprocals[number], in: file)
            // Most uploads have nobody else's entries to meet.
            let touched = places ?? TouchedPlaces(of: uploads)
            places = touched
            if touched.mayMeet(operand.changeset) { window.append((number, operand)) }
            return .next
        }
        if snapshot > version {
            try store.forEachSnapshotEntry(of: file, in: snapshot, after: version, take)
        }
        try store.forEachEntry(of: file, after: max(version, snapshot), readBy: client, take)
        self.versions = window.map(\.0)
        self.operands = window.map(\.1)
    }

    private static func operand(
        of entry: HistoryEntry,
        _ reciprocal: [UInt8]?,
        in file: ServerFileID
    ) throws(StoreError) -> MergeOperand {
        guard let changeset = try? Changeset(decoding: reciprocal ?? entry.changeset) else {
            let number = entry.version.version.rawValue
            throw StoreError(
                .unusable,
                "history entry \(number) of server file \(file.rawValue) is damaged"
            )
        }
        let origin = entry.origin == .none ? FileIdent.server : entry.origin
        return MergeOperand(
            changeset: changeset,
            stamp: Stamp(timestamp: entry.timestamp.rawValue, fileIdent: origin.rawValue)
        )
    }

    /// About half a minute of work. Only thousands of changes to one list on either side come near it;
    /// the client that sent them is reset (merge rules, 10).
    private static let pairLimit = 2_000_000_000

    /// Rebases changesets that were all made on top of the same version.
    mutating func rebase(
        _ theirs: inout [MergeOperand],
        madeOn version: ServerVersion
    ) throws(MergeError) {
        let start = versions.firstIndex { $0 > version } ?? versions.count
        guard start < versions.count else { return }
        var ours = Array(operands[start...])
        operands.removeSubrange(start...)
        try Merge.rebase(ours: &ours, theirs: &theirs, pairLimit: Self.pairLimit)
        operands.append(contentsOf: ours)
    }

    /// What the merges changed: new reciprocals.
    var changed: [(version: ServerVersion, changeset: Changeset)] {
        zip(versions, operands).filter { $0.1.isDirty }.map { ($0.0, $0.1.changeset) }
    }
}
