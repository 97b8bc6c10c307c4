internal import Changesets
internal import Documents
internal import SQLite
internal import Schemas

/// Writes the folded actions on the objects of one class to its table (local realm, 5.3).
///
/// A row is read only if the result of an instruction depends on it, and then once, however many
/// instructions there are.
struct BatchWriter {
    let plan: ClassPlan
    let statements: TableStatements
    let backlinks: Backlinks
    let schema: RealmSchema
    var folder: InstructionFolder
    let batch: ObjectBatch

    /// The batch is for a class of the folder's schema that has a table.
    init(
        _ plan: ClassPlan,
        _ statements: TableStatements,
        _ backlinks: Backlinks,
        schema: RealmSchema,
        _ folder: InstructionFolder,
        _ batch: ObjectBatch
    ) {
        self.plan = plan
        self.statements = statements
        self.backlinks = backlinks
        self.schema = schema
        self.folder = folder
        self.batch = batch
    }

    mutating func write() throws {
        let initial = initialRow
        for object in batch.objectsByKey() {
            switch batch.actions[object] {
            case .none:
                break
            case .update:
                try update(object)
            case .create:
                // An existing object keeps its values, apart from the assigned ones.
                if try !insert(object, initial) { try update(object) }
            case .erase:
                try erase(object)
            case .recreate:
                try erase(object)
                _ = try insert(object, initial)
            }
        }
    }

    private var initialRow: [ColumnValue] {
        var row = [ColumnValue](repeating: .null, count: statements.table.columns.count)
        for property in plan.properties { row[property.column] = property.initial }
        return row
    }
}

// MARK: Rows

extension BatchWriter {
    private func erase(_ object: Int) throws {
        let key = batch.keys[object]
        if !plan.linkProperties.isEmpty {
            let old = try read(plan.linkProperties, of: key) ?? []
            for (position, column) in zip(plan.linkProperties, old) {
                try updateBacklinks(key, position, from: State(column), to: State(.null))
            }
        }
        guard try statements.delete(key) || batch.neededBy[object] == nil else {
            throw missing(object)
        }
    }

    /// False if the object already exists; then nothing is changed.
    private mutating func insert(_ object: Int, _ initial: [ColumnValue]) throws -> Bool {
        let key = batch.keys[object]
        var row = initial
        var linked: [(position: Int, state: State)] = []
        do {
            for assignment in batch.assignments(of: object) {
                let column = plan.columns[assignment.property]
                if case .set(let value) = assignment.effect, plan.linkProperties.isEmpty {
                    row[column] = value
                    continue
                }
                let state = try self.state(after: assignment, row[column])
                row[column] = state.column
                if plan.properties[assignment.property].mayHoldLinks {
                    linked.append((assignment.property, state))
                }
            }
        } catch let failure as ApplyFailure {
            // Values that do not fit a new object may fit an existing one.
            if try statements.exists(key) { return false }
            throw failure
        }
        guard try statements.insert(key, row) else { return false }
        for (position, state) in linked {
            let initial = State(plan.properties[position].initial)
            try updateBacklinks(key, position, from: initial, to: state)
        }
        return true
    }

    private mutating func update(_ object: Int) throws {
        let key = batch.keys[object]
        let assignments = batch.assignments(of: object).sorted {
            plan.properties[$0.property].column < plan.properties[$1.property].column
        }
        guard !assignments.isEmpty else { return }
        var values: [ColumnValue] = []
        values.reserveCapacity(assignments.count)
        if assignments.contains(where: needsOldValue) {
            guard let old = try read(assignments.map(\.property), of: key) else {
                throw missing(object)
            }
            for (assignment, column) in zip(assignments, old) {
                let state = try state(after: assignment, column)
                try updateBacklinks(key, assignment.property, from: State(column), to: state)
                values.append(state.column)
            }
        } else {
            for assignment in assignments {
                values.append(try state(after: assignment, .null).column)
            }
        }
        let columns = assignments.map { plan.properties[$0.property].column }
        guard try statements.update(key, at: columns, to: values) else { throw missing(object) }
    }

    private func read(_ properties: [Int], of key: ColumnValue) throws -> [ColumnValue]? {
        let columns = properties.map { plan.properties[$0].column }
        return try statements.withColumns(columns, of: key) { row in
            columns.indices.map { row.columnValue(at: $0) }
        }
    }

    private func missing(_ object: Int) -> any Error {
        guard let place = batch.neededBy[object] else {
            preconditionFailure("only an object that some instruction counts on can be missing")
        }
        return folder.failure(BadInstruction(.missingObject(plan.name)), place)
    }
}

// MARK: Values

extension BatchWriter {
    /// A column's value; decoded if it had to be.
    private struct State {
        let column: ColumnValue
        var value: Documents.Value?

        init(_ column: ColumnValue, _ value: Documents.Value? = nil) {
            self.column = column
            self.value = value
        }
    }

    private func needsOldValue(_ assignment: ObjectBatch.Assignment) -> Bool {
        switch assignment.effect {
        // The links of the replaced value are needed.
        case .set: plan.properties[assignment.property].mayHoldLinks
        case .add, .edit: true
        }
    }

    private mutating func state(
        after assignment: ObjectBatch.Assignment,
        _ old: ColumnValue
    ) throws -> State {
        switch assignment.effect {
        case .set(let column):
            return State(column)
        case .add(let amount):
            return State(old.adding(amount))
        case .edit(let base, let edits):
            var value = try decode(base ?? old, assignment.property)
            for place in batch.places(of: edits) {
                try folder.apply(place, to: &value)
            }
            let property = plan.properties[assignment.property].schema
            return State(ColumnForm.encode(value, of: property, in: schema), value)
        }
    }

    private func decode(_ column: ColumnValue, _ position: Int) throws(DamagedValue)
        -> Documents.Value
    {
        let property = plan.properties[position].schema
        do throws(FormError) {
            return try ColumnForm.decode(column, of: property, in: schema)
        } catch {
            throw DamagedValue(className: plan.name, property: property.name, cause: error)
        }
    }

    private func updateBacklinks(
        _ key: ColumnValue,
        _ position: Int,
        from old: State,
        to new: State
    ) throws {
        guard plan.properties[position].mayHoldLinks else { return }
        try backlinks.update(
            of: key,
            statements.table.columns[plan.properties[position].column].id,
            in: statements.table.id,
            from: try links(old, position),
            to: try links(new, position)
        )
    }

    private func links(_ state: State, _ position: Int) throws -> Set<ObjectReference> {
        if let value = state.value { return value.links }
        let property = plan.properties[position].schema
        guard Backlinks.mayHoldLinks(state.column, property) else { return [] }
        return try decode(state.column, position).links
    }
}

/// A row holds a value its property cannot have: neither the agent nor a captured write put it
/// there.
struct DamagedValue: Error, CustomStringConvertible {
    let className: Text
    let property: Text
    let cause: FormError

    var description: String { "\(className).\(property) of a row holds no such value: \(cause)" }
}
