internal import Changesets
internal import Documents
internal import SQLite
internal import Schemas

/// Applies again what a reset has discarded.
extension Ingest {
    /// Applies the changes of one line to the object's current state.
    func reapply(_ line: Line) throws -> RecoveredOutcome {
        let change = try RecoveredChange(line, catalogue)
        guard let position = catalogue.position(of: change.object.className) else {
            preconditionFailure("a change is of a class of the realm")
        }
        let table = catalogue[position]
        // The rows of an asymmetric class are deleted as soon as they are captured.
        let now = table.isAsymmetric ? nil : try tables.document(for: change.object)
        let plan = change.plan(for: now)
        let key = ColumnForm.encodeKey(change.object.key)
        let statements = pool.statements(of: table)
        try run(line, change.object.className) { () throws(SQLiteError) in
            switch plan.action {
            case .insert:
                guard let document = plan.result else { return }
                let values = table.columns.map { column in
                    value(of: column, document, change)
                }
                _ = try statements.insert(key, values)
            case .update:
                guard let document = plan.result else { return }
                let positions = plan.written.compactMap {
                    table.position(of: change.owner.properties[$0].name)
                }.sorted()
                let values = positions.map { value(of: table.columns[$0], document, change) }
                _ = try statements.update(key, at: positions, to: values)
            case .delete: _ = try statements.delete(key)
            case .none, .skip: break
            }
        }
        return RecoveredOutcome(line, change, plan, now: now, JSONForm(schema: catalogue.schema))
    }

    private func value(
        of column: Column,
        _ document: Document,
        _ change: RecoveredChange
    ) -> ColumnValue {
        guard let position = change.owner.position(of: column.name) else {
            return column.insertDefault
        }
        return column.encode(document.values[position], in: catalogue.schema)
    }
}

extension RecoveredOutcome {
    fileprivate init(
        _ line: Ingest.Line,
        _ change: RecoveredChange,
        _ plan: RecoveredChange.Plan,
        now: Document?,
        _ form: JSONForm
    ) {
        self.line = line.number
        className = change.object.className.description
        key = change.key
        action = plan.action
        conflict = plan.conflict
        properties = plan.written.compactMap { position in
            guard let result = plan.result else { return nil }
            let property = change.owner.properties[position]
            return Property(
                name: property.name.description,
                now: now.map { form.encode($0.values[position], of: property) },
                then: form.encode(result.values[position], of: property)
            )
        }
    }
}
