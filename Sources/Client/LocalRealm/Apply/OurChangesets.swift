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
            for (offset, operand) in operands.enumerated() {
                entries[start + offset].operand = operand
            }
        }
        self.entries = entries
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
