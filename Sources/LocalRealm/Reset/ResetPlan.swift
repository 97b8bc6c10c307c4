internal import Changesets
internal import ClientReset
internal import Documents
internal import SQLite
internal import Schemas
internal import Versions

/// Everything a reset is going to change, worked out before the first change (client reset, 5 and 6).
struct ResetPlan {
    let method: ResetMethod
    let unsynced: [UnsyncedObject]
    /// The schema that the realm is to have.
    let schema: RealmSchema
    let discarded: [DiscardedChange]
    let recoveredInstructionCount: Int
    let rewrite: HistoryRewrite
    let rows: [(table: Text, changes: [RowChange])]
    let fresh: RealmState

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
        _ method: ResetMethod
    ) throws {
        let local = RealmTables(connection, draft.catalogue, statements)
        // Before any change is replayed, which would only fail for the same reason in other words.
        try StateTransfer.checkAgreement(of: local.schema, with: fresh.tables.schema)
        let unsynced = try UnsyncedChanges(connection, draft.state)
        var changed = ChangedObjects()
        var recovery = Recovery(fresh: fresh.tables, local: local)
        var replayed: [HistoryRewrite.Entry] = []
        for (version, changeset) in try unsynced.changesets() {
            changed.add(changeset)
            guard method == .recover else { continue }
            replayed.append(.init(version: version, bytes: try recovery.replay(changeset)))
        }
        _ = try StateTransfer.checkSchema(of: local.schema, against: recovery.state.schema)
        self.method = method
        self.unsynced = try changed.objects.map { object in
            try UnsyncedObject(object, changed.properties[object] ?? [], local)
        }
        self.schema = recovery.state.schema
        self.discarded = recovery.discarded
        self.recoveredInstructionCount = recovery.recoveredCount
        self.rewrite = HistoryRewrite(replayed: replayed, newest: draft.state.localVersion)
        self.rows = try Self.rows(local, fresh.tables, recovery.state)
        self.fresh = fresh.state
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

extension UnsyncedObject {
    init(_ object: ObjectReference, _ properties: Set<Text>, _ local: RealmTables) throws {
        let key = ColumnForm.encodeKey(object.key)
        className = object.className
        self.key = SQLText.literal(key)
        self.properties = properties.sorted()
        let document = try local.document(for: object)
        isDeleted = document == nil
        guard let owner = local.schema[object.className],
            let table = local.plan(of: owner.name)?.table
        else {
            (self.document, sql) = (nil, "")
            return
        }
        self.document = document.map {
            JSONForm(schema: local.schema).encode($0, key: object.key, of: owner)
        }
        let (name, keyName) = (SQLText.name(table.tableName), SQLText.name(table.keyColumn))
        guard let document else {
            sql = "DELETE FROM \(name) WHERE \(keyName) IS \(self.key);"
            return
        }
        var (columns, values) = ([keyName], [self.key])
        for (position, property) in owner.properties.enumerated()
        where properties.contains(property.name) {
            guard let column = table.position(of: property.name) else { continue }
            columns.append(SQLText.name(table.columns[column].columnName))
            let value = document.values[position]
            values.append(
                SQLText.literal(ColumnForm.encode(value, of: property, in: local.schema))
            )
        }
        let assignments = columns.dropFirst().map { "\($0) = excluded.\($0)" }
        let conflict =
            assignments.isEmpty ? "NOTHING" : "UPDATE SET \(assignments.joined(separator: ", "))"
        sql = """
            INSERT INTO \(name)(\(columns.joined(separator: ", "))) \
            VALUES (\(values.joined(separator: ", "))) ON CONFLICT(\(keyName)) DO \(conflict);
            """
    }
}
