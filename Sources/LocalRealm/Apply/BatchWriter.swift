internal import Documents
internal import SQLite
internal import Schemas

/// Writes the folded actions on the objects of one class to its table (local realm, 5.3).
struct BatchWriter {
    let statements: TableStatements
    /// What a created object has where nothing was assigned.
    private let defaults: [ColumnValue]

    init(_ statements: TableStatements) {
        self.statements = statements
        self.defaults = statements.table.columns.map { ColumnForm.encode($0.typeDefault) }
    }

    func write(_ batch: ObjectBatch) throws {
        for object in batch.objectsByKey() {
            let key = batch.keys[object]
            switch batch.actions[object] {
            case .none:
                break
            case .update:
                try update(key, batch.assignments(of: object))
            case .create:
                // If it is there, it keeps its values, and gets those that were assigned.
                if try !insert(key, batch.assignments(of: object)) {
                    try update(key, batch.assignments(of: object))
                }
            case .erase:
                try erase(key, mustExist: batch.mustExist[object])
            case .recreate:
                try erase(key, mustExist: batch.mustExist[object])
                _ = try insert(key, batch.assignments(of: object))
            }
        }
    }

    private func erase(_ key: ColumnValue, mustExist: Bool) throws {
        guard try statements.delete(key) || !mustExist else { throw missing }
    }

    private func insert(
        _ key: ColumnValue,
        _ assignments: some Sequence<ObjectBatch.Assignment>
    ) throws -> Bool {
        var values = defaults
        for assignment in assignments {
            values[assignment.column] = assignment.effect.applied(to: values[assignment.column])
        }
        return try statements.insert(key, values)
    }

    private func update(
        _ key: ColumnValue,
        _ assignments: some Sequence<ObjectBatch.Assignment>
    ) throws {
        let assignments = assignments.sorted { $0.column < $1.column }
        guard !assignments.isEmpty else { return }
        var values: [ColumnValue] = []
        values.reserveCapacity(assignments.count)
        if assignments.contains(where: \.effect.needsOldValue) {
            // SQL would add with overflow into a real number; the format adds around the corner.
            let old = try statements.withRow(of: key) { row in
                assignments.map { row.columnValue(at: $0.column) }
            }
            guard let old else { throw missing }
            values = zip(assignments, old).map { $0.effect.applied(to: $1) }
        } else {
            values = assignments.map { $0.effect.applied(to: .null) }
        }
        guard try statements.update(key, at: assignments.map(\.column), to: values) else {
            throw missing
        }
    }

    private var missing: BadInstruction {
        BadInstruction(.missingObject(statements.table.name))
    }
}

extension ObjectBatch.Effect {
    var needsOldValue: Bool {
        switch self {
        case .set: false
        case .add: true
        }
    }

    func applied(to old: ColumnValue) -> ColumnValue {
        switch (self, old) {
        case (.set(let value), _): value
        case (.add(let amount), .integer(let value)): .integer(value &+ amount)
        case (.add, _): old
        }
    }
}
