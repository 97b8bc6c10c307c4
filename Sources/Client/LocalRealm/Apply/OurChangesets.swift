internal import Changesets
internal import Merge
internal import SQLite
internal import Versions

/// The local changesets that the server had not seen, as transformed by the merges of one batch.
///
/// They are read at the first use and shared by all runs of the batch, so that a later run sees the
/// effects of an earlier one.
struct OurChangesets {
    let connection: Connection
    let state: RealmStateRow
    private var entries: [(version: ClientVersion, operand: MergeOperand)]?
    /// The places that the local changesets above a version touch; nil after a merge that changed some.
    private var touched: (base: ClientVersion, places: Places)?

    private enum Places {
        case known(TouchedPlaces)
        /// Too many to be held in memory, or any change may concern them.
        case all
    }

    /// With more instructions than these the local changesets are compared with theirs by a merge.
    private static let touchedLimit = 100_000

    init(connection: Connection, state: RealmStateRow) {
        self.connection = connection
        self.state = state
    }

    /// Rebases theirs over all local changesets above the version that they may meet, and subtracts
    /// the merged pairs from `pairsLeft`. After an error only a copy made before is usable.
    mutating func rebase(
        _ theirs: inout [MergeOperand],
        after base: ClientVersion,
        pairsLeft: inout Int
    ) throws {
        var entries = try self.entries ?? read(after: base)
        let start = entries.firstIndex { $0.version > base } ?? entries.endIndex
        var operands = entries[start...].map(\.operand)
        self.entries = nil
        if !operands.isEmpty {
            try Merge.rebaseMeeting(
                ours: &operands,
                theirs: &theirs,
                pairsLeft: &pairsLeft,
                progress: connection.countStep
            )
            if operands.contains(where: \.isDirty) { touched = nil }
            for (offset, operand) in operands.enumerated() {
                entries[start + offset].operand = operand
            }
        }
        self.entries = entries
    }

    /// Whether a merge with the local changesets above the version could change a changeset, or them.
    mutating func mayMeet(
        _ changeset: PlainChangeset,
        after base: ClientVersion
    ) throws -> Bool {
        let entries = try self.entries ?? read(after: base)
        self.entries = entries
        if touched?.base != base {
            let ours = entries.filter { $0.version > base }.map(\.operand)
            let isAll =
                ours.reduce(0) { $0 + $1.changeset.instructions.count } > Self.touchedLimit
                || ours.contains { $0.changeset.containsNaN }
            touched = (base, isAll ? .all : .known(TouchedPlaces(of: ours)))
        }
        return switch touched?.places {
        case .known(let places): places.mayMeet(changeset)
        case .all, nil: true
        }
    }

    /// Stores the reciprocals that the merges have changed; the original changesets stay as they
    /// are.
    func saveReciprocals() throws {
        for entry in entries ?? [] where entry.operand.isDirty {
            let statement = try connection.statement(
                "UPDATE _realm_history SET reciprocal = ?1 WHERE version = ?2"
            )
            try statement.bind(blob: entry.operand.changeset.encoded(), at: 1)
            try statement.bind(Int64(clamping: entry.version.rawValue), at: 2)
            try statement.run()
        }
    }

    private func read(
        after base: ClientVersion
    ) throws -> [(version: ClientVersion, operand: MergeOperand)] {
        let statement = try connection.statement(
            """
            SELECT version, origin_timestamp, coalesce(reciprocal, changeset) FROM _realm_history
            WHERE version > ?1 AND origin_file_ident = 0 AND length(changeset) > 0 ORDER BY version
            """
        )
        defer { statement.reset() }
        try statement.bind(Int64(clamping: base.rawValue), at: 1)
        var result: [(version: ClientVersion, operand: MergeOperand)] = []
        while try statement.step() {
            let operand = MergeOperand(
                changeset: try Changeset(decoding: statement.bytes(at: 2)),
                stamp: Stamp(
                    timestamp: OriginTimestamp(stored: statement.integer(at: 1)).rawValue,
                    fileIdent: state.fileIdent.ident.rawValue
                )
            )
            result.append((ClientVersion(UInt64(clamping: statement.integer(at: 0))), operand))
            connection.countStep()
        }
        return result
    }
}
