internal import Changesets
internal import Documents
internal import SQLite
internal import Schemas

/// The instructions of one group of log rows: erasures of recreated objects, creations, values, erasures
/// (local realm, 4.3).
extension Drain {
    mutating func write(_ group: Int) throws {
        let touched = log.groups[group].touched
        for object in touched where log.objects[object].isReborn(in: group) {
            try writeErasure(of: object)
        }
        for object in touched where log.objects[object].isBorn(in: group) {
            guard let reference = references[object] else { continue }
            changeset.createObject(reference)
            if draft.catalogue[log.objects[object].table].isAsymmetric { ingestedCount += 1 }
            try cutIfLarge()
        }
        for object in touched {
            guard log.objects[object].isPresent, !log.objects[object].endsLater,
                let reference = references[object]
            else { continue }
            try writeValues(of: object, reference, in: group)
            try cutIfLarge()
        }
        for object in touched where log.objects[object].isGone(in: group) {
            try writeErasure(of: object)
        }
        for object in touched where log.objects[object].isBorn(in: group) {
            let table = draft.catalogue[log.objects[object].table]
            guard table.isAsymmetric else { continue }
            _ = try statements.statements(of: table).delete(log.objects[object].key)
        }
    }

    private mutating func writeErasure(of object: Int) throws(SQLiteError) {
        guard let reference = references[object] else { return }
        changeset.eraseObject(reference)
        try cutIfLarge()
    }
}

// MARK: Values

extension Drain {
    private mutating func writeValues(
        of object: Int,
        _ reference: ObjectReference,
        in group: Int
    ) throws {
        let trace = log.objects[object]
        let isNew = trace.birthGroup == group
        let table = draft.catalogue[trace.table]
        let changes = log.takeChanges(of: object, in: group)
        let old = Dictionary(changes.map { ($0.column, $0.old) }) { first, _ in first }
        let positions = isNew ? table.drainOrder : table.drainOrder.filter { old[$0] != nil }
        guard !positions.isEmpty else { return }

        var repair = Repair()
        let schema = draft.catalogue.schema
        let tableStatements = statements.statements(of: table)
        _ = try tableStatements.withRow(of: trace.key) { row in
            for position in positions {
                let column = table.columns[position]
                let place = Place(object: object, column: position)
                let before =
                    isNew
                    ? nil
                    : old[position].flatMap { try? column.decode($0, in: schema) } ?? unsent[place]
                let value: Documents.Value
                if let later = log.laterValue(of: object, column: position) {
                    guard let decoded = try? column.decode(later, in: schema) else {
                        // A later group has replaced the value that cannot be sent.
                        unsent[place] = before
                        continue
                    }
                    value = decoded
                } else {
                    let stored = row.columnValue(at: position)
                    if !isNew, stored == old[position], before != nil { continue }
                    value = try read(stored, column, at: position, before, trace, &repair)
                }
                writeValue(value, of: column, before: before, reference, isNew)
            }
        }
        if !repair.positions.isEmpty {
            _ = try tableStatements.update(trace.key, at: repair.positions, to: repair.values)
        }
    }

    /// A property of one of the log's objects.
    struct Place: Hashable {
        let object: Int
        let column: Int
    }

    /// Columns to write back: values that were not in their canonical form, or not valid.
    private struct Repair {
        var positions: [Int] = []
        var values: [ColumnValue] = []
    }

    /// Reads the value of a row in its canonical form; one of the wrong type is replaced by the one
    /// before (local realm, 4.6).
    private mutating func read(
        _ stored: ColumnValue,
        _ column: Column,
        at position: Int,
        _ before: Documents.Value?,
        _ trace: CaptureLog.ObjectTrace,
        _ repair: inout Repair
    ) throws -> Documents.Value {
        let schema = draft.catalogue.schema
        let value: Documents.Value
        let correction: ColumnValue?
        do {
            let decoded = try column.decode(stored, in: schema)
            if requiresLinkTargets { try requireTargets(of: decoded, before) }
            correction = column.correction(of: stored, readAs: decoded, in: schema)
            value = decoded
        } catch let error as FormError {
            try reject(trace, column: position, stored, error)
            value = try before ?? column.decode(column.insertDefault, in: schema)
            correction = column.encode(value, in: schema)
            if schema.mayHoldLinksInJSON(column.property) {
                let table = draft.catalogue[trace.table]
                try backlinks.set(value.links, of: table, trace.key, column)
            }
        }
        if let correction {
            repair.positions.append(position)
            repair.values.append(correction)
        }
        return value
    }

    private mutating func writeValue(
        _ value: Documents.Value,
        of column: Column,
        before: Documents.Value?,
        _ reference: ObjectReference,
        _ isNew: Bool
    ) {
        if isNew {
            // A replica that sets the property at the same time must win over the default.
            let isDefault =
                column.options.defaultValue.map { value == .scalar($0) } ?? false
            diff.writeInitial(
                value,
                of: column.property,
                in: reference,
                isDefault: isDefault,
                into: &changeset
            )
        } else if let before {
            diff.write(
                from: before,
                to: value,
                of: column.property,
                in: reference,
                into: &changeset
            )
        } else {
            diff.writeReplacement(value, of: column.property, in: reference, into: &changeset)
        }
    }
}

// MARK: Links

extension Drain {
    /// Throws `FormError` if the value has a link that it had not before, to an object that does not exist.
    ///
    /// Links of before stay: the server erases objects and leaves links to them.
    private func requireTargets(of value: Documents.Value, _ before: Documents.Value?) throws {
        let added = value.links.subtracting(before?.links ?? [])
        // In one order, so that the reported one is always the same.
        for link in added.sorted(by: { "\($0)" < "\($1)" }) {
            guard let position = draft.catalogue.position(of: link.className),
                case let table = draft.catalogue[position],
                try statements.statements(of: table).exists(ColumnForm.encodeKey(link.key))
            else { throw FormError(.missingTarget(link.className)) }
        }
    }
}
