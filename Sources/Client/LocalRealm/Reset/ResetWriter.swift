internal import Changesets
internal import ClientReset
internal import Documents
internal import SQLite
internal import Schemas
internal import Subscriptions
internal import Versions

/// Carries out a plan within the current transaction (client reset, 5 and 6.4).
struct ResetWriter {
    let connection: Connection
    let statements: StatementPool
    let options: [PropertyName: PropertyOptions]

    func write(_ plan: ResetPlan, _ draft: inout Draft) throws {
        try writeSchema(plan, &draft)
        for (className, changes) in plan.rows where !changes.isEmpty {
            try write(changes, of: className, draft.catalogue)
        }
        try writeHistory(plan.rewrite, plan.fresh.progress.download.serverVersion)
        writeState(plan, &draft.state)
        try writeSubscriptions(plan, &draft)
        try draft.ingest.reload(
            draft.catalogue,
            after: draft.state.progress.upload.clientVersion,
            on: connection
        )
        try ResetRow(connection: connection).markSpent()
    }

    private func writeSchema(_ plan: ResetPlan, _ draft: inout Draft) throws {
        guard plan.schema.hasAdditions(to: draft.catalogue.schema) else { return }
        var editor = SchemaEditor(
            connection,
            draft.catalogue,
            options: options,
            published: CatalogueStore.learned
        )
        try editor.add(plan.schema)
        try editor.flush()
        try draft.adopt(editor)
        statements.removeAll()
    }

    private func write(
        _ changes: [ResetPlan.RowChange],
        of className: Text,
        _ catalogue: Catalogue
    ) throws {
        guard let owner = catalogue.schema[className] else { return }
        let plan = ClassPlan(owner, catalogue)
        guard let table = plan.table else { return }
        let rows = statements.statements(of: table)
        let links = LinkColumns(plan, connection, catalogue)
        for change in changes {
            switch change {
            case .delete(let key):
                try links.update(key, from: rows, to: [:], isDeleted: true)
                _ = try rows.delete(key)
            case .insert(let key, let values):
                try links.update(key, from: rows, to: values)
                let row = table.columns.map { values[$0.name] ?? .null }
                _ = try rows.insert(key, row)
            case .update(let key, let values):
                try links.update(key, from: rows, to: values)
                let positions = table.columns.indices.filter {
                    values[table.columns[$0].name] != nil
                }
                let row = positions.map { values[table.columns[$0].name] ?? .null }
                _ = try rows.update(key, at: positions, to: row)
            }
        }
    }

    /// Keeps only the recovered changesets, based on the fresh copy (client reset, 6.4).
    private func writeHistory(_ rewrite: HistoryRewrite, _ version: ServerVersion) throws {
        for entry in rewrite.recovered {
            try connection.run(
                """
                UPDATE _realm_history SET changeset = ?1, size = ?2, reciprocal = NULL,
                  remote_version = ?3 WHERE version = ?4
                """,
                [
                    .blob(entry.bytes), .integer(Int64(entry.bytes.count)),
                    .integer(Int64(clamping: version.rawValue)),
                    .integer(Int64(clamping: entry.version.rawValue)),
                ]
            )
        }
        let recovered = Set(rewrite.recovered.map { Int64(clamping: $0.version.rawValue) })
        let stored = try connection.rows("SELECT version FROM _realm_history")
        for case .integer(let other) in stored.map({ $0[0] }) where !recovered.contains(other) {
            try connection.run("DELETE FROM _realm_history WHERE version = ?1", [.integer(other)])
        }
    }

    /// The fresh copy has the view of the active set. Newer sets are sent behind the recovered changes, or
    /// are discarded like changes (client reset, 10).
    private func writeSubscriptions(_ plan: ResetPlan, _ draft: inout Draft) throws {
        try BootstrapStore(connection: connection).removeAll()
        switch plan.change {
        case .toFlexible(let record)?:
            return try draft.switchToFlexible(record, plan.subscriptions, on: connection)
        case .toPartition?: return try draft.switchToPartition(on: connection)
        case nil: break
        }
        try draft.changeSubscriptions(on: connection) { sets in
            sets.reset(keepsPending: plan.method == .recover)
        }
    }

    private func writeState(_ plan: ResetPlan, _ state: inout RealmStateRow) {
        state.fileIdent = plan.fresh.fileIdent
        state.progress = HistoryRewrite.progress(afterFreshCopy: plan.fresh.progress)
        state.historyBaseVersion = plan.rewrite.baseVersion
        state.downloadedBytes = 0
        state.downloadableBytes = 0
        state.uploadedBytes = 0
        state.uploadableBytes = plan.rewrite.uploadableBytes
        state.isFirstDownloadFinished = true
        _ = state.advanceVersion()
    }
}

/// Keeps `_realm_backlink` correct while rows are replaced.
private struct LinkColumns {
    private let plan: ClassPlan
    private let backlinks: Backlinks
    private let schema: RealmSchema

    init(_ plan: ClassPlan, _ connection: Connection, _ catalogue: Catalogue) {
        self.plan = plan
        self.backlinks = Backlinks(connection: connection, catalogue: catalogue)
        self.schema = catalogue.schema
    }

    func update(
        _ key: ColumnValue,
        from rows: TableStatements,
        to values: [Text: ColumnValue],
        isDeleted: Bool = false
    ) throws {
        let changed = plan.linkProperties.map { plan.properties[$0] }.filter {
            isDeleted || values[$0.schema.name] != nil
        }
        guard !changed.isEmpty else { return }
        let old = try rows.withColumns(changed.map(\.column), of: key) { row in
            changed.indices.map { row.columnValue(at: $0) }
        }
        for (index, property) in changed.enumerated() {
            try backlinks.update(
                of: key,
                rows.table.columns[property.column].id,
                in: rows.table.id,
                from: try links(old?[index] ?? .null, property),
                to: try links(values[property.schema.name] ?? .null, property)
            )
        }
    }

    private func links(
        _ column: ColumnValue,
        _ property: ClassPlan.Property
    ) throws -> Set<ObjectReference> {
        guard Backlinks.mayHoldLinks(column, property.schema) else { return [] }
        return try ColumnForm.decode(column, of: property.schema, in: schema).links
    }
}
