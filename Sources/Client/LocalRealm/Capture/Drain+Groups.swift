internal import Changesets
internal import Documents
internal import SQLite
internal import Schemas

/// The instructions of one group of log rows: erasures of recreated objects, creations, values, erasures
/// (local realm, 4.3).
extension Drain {
    mutating func write(_ group: Int) throws {
        let touched = log.groups[group].touched
        let hasDeletions = log.groups[group].hasDeletions
        if hasDeletions {
            for object in touched where log.objects[object].isReborn(in: group) {
                try writeErasure(of: object)
            }
        }
        for object in touched where log.objects[object].isBorn(in: group) {
            guard let reference = references[object] else { continue }
            changeset.createObject(reference)
            if hasAsymmetricClasses, isAsymmetric(object) { ingestedCount += 1 }
            try cutIfLarge()
        }
        try writeValues(of: touched, in: group)
        if hasDeletions {
            for object in touched where log.objects[object].isGone(in: group) {
                try writeErasure(of: object)
            }
        }
        guard hasAsymmetricClasses else { return }
        for object in touched where log.objects[object].isBorn(in: group) && isAsymmetric(object) {
            let table = draft.catalogue[log.objects[object].table]
            _ = try statements.statements(of: table).delete(log.objects[object].key)
        }
    }

    private func isAsymmetric(_ object: Int) -> Bool {
        draft.catalogue[log.objects[object].table].isAsymmetric
    }

    private mutating func writeErasure(of object: Int) throws {
        guard let reference = references[object] else { return }
        changeset.eraseObject(reference)
        try cutIfLarge()
    }
}

// MARK: Values

extension Drain {
    private mutating func writeValues(of touched: [Int], in group: Int) throws {
        var rows =
            isDirect
            ? InsertedRows(
                of: log.groups[group],
                tableCount: draft.catalogue.tables.count,
                statements
            ) : nil
        defer { rows?.end() }
        for object in touched {
            guard log.objects[object].isPresent, !log.objects[object].endsLater,
                let reference = references[object]
            else { continue }
            if log.objects[object].birthGroup == group {
                try writeInitialValues(of: object, reference, &rows)
            } else {
                try writeChanges(of: object, reference, in: group)
            }
            try cutIfLarge()
        }
    }

    private mutating func writeChanges(
        of object: Int,
        _ reference: ObjectReference,
        in group: Int
    ) throws {
        let trace = log.objects[object]
        let table = draft.catalogue[trace.table]
        let changes = log.takeChanges(of: object, in: group)
        let old = Dictionary(changes.map { ($0.column, $0.old) }) { first, _ in first }
        let positions = table.drainOrder.filter { old[$0] != nil }
        guard !positions.isEmpty else { return }

        var repair = Repair()
        let schema = draft.catalogue.schema
        _ = try statements.statements(of: table).withRow(of: trace.key) { row in
            for position in positions {
                let column = table.columns[position]
                let place = Place(object: object, column: position)
                let before =
                    old[position].flatMap { try? column.decode($0, in: schema) } ?? unsent[place]
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
                    if stored == old[position], before != nil { continue }
                    value = try read(stored, column, at: position, before, object, &repair)
                }
                writeChange(to: value, of: column, before: before, reference)
            }
        }
        try carryOut(repair, of: object, in: table)
    }

    private mutating func writeInitialValues(
        of object: Int,
        _ reference: ObjectReference,
        _ rows: inout InsertedRows?
    ) throws {
        let (position, key) = (log.objects[object].table, log.objects[object].key)
        let table = draft.catalogue[position]
        var repair = Repair()
        let isWritten = try rows?.withRow(of: key, in: table, at: position) { row in
            try writeInitialValues(of: object, reference, table, row, &repair)
        }
        if isWritten != true {
            _ = try statements.statements(of: table).withRow(of: key) { row in
                try writeInitialValues(of: object, reference, table, row, &repair)
            }
        }
        try carryOut(repair, of: object, in: table)
    }

    private mutating func writeInitialValues(
        of object: Int,
        _ reference: ObjectReference,
        _ table: ClassTable,
        _ row: Statement,
        _ repair: inout Repair
    ) throws {
        let hasChanges = log.objects[object].hasChanges
        let schema = draft.catalogue.schema
        for position in table.drainOrder {
            let column = table.columns[position]
            if isDirect, !hasChanges, let type = column.plainType,
                writePlainly(row, position, column, type, reference)
            {
                continue
            }
            let value: Documents.Value
            if let later = log.laterValue(of: object, column: position) {
                guard let decoded = try? column.decode(later, in: schema) else {
                    // A later group has replaced the value that cannot be sent.
                    unsent[Place(object: object, column: position)] = nil
                    continue
                }
                value = decoded
            } else {
                let stored = row.columnValue(at: position)
                value = try read(stored, column, at: position, nil, object, &repair)
            }
            // A replica that sets the property at the same time must win over the default.
            let isDefault = column.options.defaultValue.map { value == .scalar($0) } ?? false
            diff.writeInitial(
                value,
                of: column.property,
                in: reference,
                isDefault: isDefault,
                into: &changeset
            )
        }
    }

    /// Sends the value of a new object from its row, without a `Value` in between. With one statement for
    /// all rows of a group (`InsertedRows`), and keys that are not hashed (`ObjectPositions`), a drained object
    /// of ten fields takes 4.0 microseconds of processor time, not 5.4 (`Benchmarks/transfer.py`).
    ///
    /// - Returns: false, and nothing is written, if there is more to do than that.
    private mutating func writePlainly(
        _ row: Statement,
        _ position: Int,
        _ column: Column,
        _ type: ScalarType,
        _ reference: ObjectReference
    ) -> Bool {
        let scalar: Scalar
        switch (type, row.storageClass(at: position)) {
        case (_, .null):
            return column.isNullable
        case (.int, .integer):
            let number = row.integer(at: position)
            if number == 0, !column.isNullable { return true }
            scalar = .int(number)
        case (.bool, .integer):
            let number = row.integer(at: position)
            guard 0...1 ~= number else { return false }
            if number == 0, !column.isNullable { return true }
            scalar = .bool(number == 1)
        case (.double, .real):
            let number = row.real(at: position)
            // There are two zeros.
            if number == 0 { return false }
            scalar = .double(DoubleBits(number))
        case (.string, .text):
            let bytes = row.bytes(at: position)
            guard bytes.count <= FormatLimits.stringSizeInBytes else { return false }
            if bytes.isEmpty, !column.isNullable { return true }
            scalar = .string(Text(bytes: bytes))
        case (.binary, .blob):
            let bytes = row.bytes(at: position)
            guard bytes.count <= FormatLimits.binarySizeInBytes else { return false }
            if bytes.isEmpty, !column.isNullable { return true }
            scalar = .binary(bytes)
        default:
            return false
        }
        changeset.update(reference, column.name, to: .scalar(scalar))
        return true
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

    private func carryOut(
        _ repair: Repair,
        of object: Int,
        in table: ClassTable
    ) throws {
        guard !repair.positions.isEmpty else { return }
        try requireWriteLock()
        _ = try statements.statements(of: table).update(
            log.objects[object].key,
            at: repair.positions,
            to: repair.values
        )
    }

    /// Reads the value of a row in its canonical form; one of the wrong type is replaced by the one
    /// before (local realm, 4.6).
    private mutating func read(
        _ stored: ColumnValue,
        _ column: Column,
        at position: Int,
        _ before: Documents.Value?,
        _ object: Int,
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
            let trace = log.objects[object]
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

    private mutating func writeChange(
        to value: Documents.Value,
        of column: Column,
        before: Documents.Value?,
        _ reference: ObjectReference
    ) {
        if let before {
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
