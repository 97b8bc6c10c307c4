internal import Changesets
internal import ClientReset
internal import Documents
internal import SQLite
internal import Schemas
internal import Subscriptions
internal import Versions

/// Everything a reset is going to change, computed before the first change (client reset, 5 and 6).
struct ResetPlan {
    let method: ResetMethod
    let unsynced: [UnsyncedObject]
    /// The schema of the realm after the reset.
    let schema: RealmSchema
    let discarded: [DiscardedChange]
    let recoveredInstructionCount: Int
    let rewrite: HistoryRewrite
    let rows: [(table: Text, changes: [RowChange])]
    let fresh: RealmStateRow
    /// The change of the kind of sync that the reset is part of; nil for none.
    let change: ModeSwitch?
    /// The subscriptions of the fresh copy.
    let subscriptions: [Subscription]

    enum RowChange {
        case insert(ColumnValue, [Text: ColumnValue])
        case update(ColumnValue, [Text: ColumnValue])
        case delete(ColumnValue)
    }

    /// - Throws: `ResetFailure` if the reset is not possible.
    init(
        _ connection: Connection,
        _ draft: Draft,
        _ statements: StatementPool,
        _ fresh: FreshCopy,
        _ method: ResetMethod,
        _ change: ModeSwitch? = nil
    ) throws {
        let local = RealmTables(connection, draft.catalogue, statements)
        // Before any change is replayed, which would fail for the same reason with a less clear
        // message.
        try StateTransfer.checkAgreement(of: local.schema, with: fresh.tables.schema)
        let unsynced = try UnsyncedChanges(connection, draft.state)
        var changed = ChangedObjects(schema: local.schema)
        var migration = draft.migration
        if case .toFlexible(let record)? = change { migration = record }
        var recovery = Recovery(
            fresh: fresh.tables,
            local: local,
            partition: change == .toPartition ? nil : migration?.value
        )
        var outgoing = OutgoingObjects(local)
        var replayed: [HistoryRewrite.Entry] = []
        for (version, changeset) in try unsynced.changesets() {
            changed.add(changeset)
            try outgoing.add(changeset)
            guard method == .recover else { continue }
            replayed.append(.init(version: version, bytes: try recovery.replay(changeset)))
        }
        _ = try StateTransfer.checkSchema(of: local.schema, against: recovery.state.schema)
        self.method = method
        self.unsynced = try changed.objects.map { object in
            UnsyncedObject(
                object,
                changed.changes(of: object),
                try outgoing.document(for: object) ?? local.document(for: object),
                local.catalogue,
                server: try fresh.tables.document(for: object),
                fresh.tables.schema
            )
        }
        self.schema = recovery.state.schema
        self.discarded = recovery.discarded
        self.recoveredInstructionCount = recovery.recoveredCount
        self.rewrite = HistoryRewrite(replayed: replayed, newest: draft.state.localVersion)
        self.rows = try Self.rows(local, fresh.tables, recovery.state)
        self.fresh = fresh.state
        self.change = change
        self.subscriptions = fresh.subscriptions
    }

    private static func rows(
        _ local: RealmTables,
        _ fresh: RealmTables,
        _ state: RecoveredState<RealmTables>
    ) throws -> [(table: Text, changes: [RowChange])] {
        var recovered: [Text: [ObjectKey: Document?]] = [:]
        for (object, document) in state.changes {
            recovered[object.className, default: [:]].updateValue(document, forKey: object.key)
        }
        return try state.schema.classes.filter { !$0.isEmbedded && !$0.isAsymmetric }.map { owner in
            let comparison = TableComparison(owner, local: local, fresh: fresh, state.schema)
            return (owner.name, try comparison.changes(recovered: recovered[owner.name] ?? [:]))
        }
    }

    var report: ResetReport {
        var (created, updated, erased) = (0, 0, 0)
        for change in rows.lazy.flatMap(\.changes) {
            switch change {
            case .insert: created += 1
            case .update: updated += 1
            case .delete: erased += 1
            }
        }
        return ResetReport(
            method: method,
            unsynced: unsynced,
            discarded: discarded,
            recoveredInstructionCount: recoveredInstructionCount,
            recoveredChangesetCount: rewrite.recovered.count,
            createdRows: created,
            updatedRows: updated,
            erasedRows: erased,
            serverVersion: fresh.progress.download.serverVersion
        )
    }
}
