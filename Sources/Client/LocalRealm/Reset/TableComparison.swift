internal import Changesets
internal import ClientReset
internal import Documents
internal import SQLite
internal import Schemas

/// Finds the rows of one class that differ from those of the fresh copy, by reading both in the order
/// of their keys (client reset, 5.2).
struct TableComparison {
    private let owner: ClassSchema
    private let local: RealmTables
    private let fresh: RealmTables
    /// The schema of both sides after the reset.
    private let schema: RealmSchema
    private let shape: DocumentShape

    init(
        _ owner: ClassSchema,
        local: RealmTables,
        fresh: RealmTables,
        _ schema: RealmSchema
    ) {
        self.owner = owner
        self.local = local
        self.fresh = fresh
        self.schema = schema
        self.shape = DocumentShape(from: schema, to: local.schema)
    }

    /// `recovered` are objects that are different from the fresh copy's, or gone (nil).
    func changes(recovered: [ObjectKey: Document?]) throws -> [ResetPlan.RowChange] {
        let overlay = Dictionary(
            uniqueKeysWithValues: recovered.map { (ColumnForm.encodeKey($0.key), $0.value) }
        )
        var changes: [ResetPlan.RowChange] = []
        var mine = try Rows(local, owner)
        var theirs = try Rows(fresh, owner)
        // Recovered objects are compared below.
        try mine.advance { overlay[$0] != nil }
        try theirs.advance { overlay[$0] != nil }
        while mine.key != nil || theirs.key != nil {
            switch (mine.key, theirs.key) {
            case (let left?, let right?) where left == right:
                let row = try converted(theirs)
                let differing = row.filter { mine.value(of: $0.key) != $0.value }
                if !differing.isEmpty { changes.append(.update(left, differing)) }
                try mine.advance { overlay[$0] != nil }
                try theirs.advance { overlay[$0] != nil }
            case (let left?, let right) where right.map { left.precedes($0) } ?? true:
                changes.append(.delete(left))
                try mine.advance { overlay[$0] != nil }
            case (_, let right?):
                changes.append(.insert(right, try converted(theirs)))
                try theirs.advance { overlay[$0] != nil }
            case (_?, nil), (nil, nil):
                preconditionFailure("a row without an opposite precedes the end")
            }
        }
        for (key, document) in overlay.sorted(by: { $0.key.precedes($1.key) }) {
            if let change = try change(of: key, to: document) { changes.append(change) }
        }
        return changes
    }

    /// The columns of a fresh row, in the form of the local realm.
    private func converted(_ rows: Rows) throws -> [Text: ColumnValue] {
        var result = rows.row
        guard let plan = fresh.plan(of: owner.name) else { return result }
        for property in plan.properties where mustConvert(property.schema) {
            let name = property.schema.name
            guard let column = result[name] else { continue }
            let value = try fresh.decode(column, property, of: owner.name)
            let shape = DocumentShape(from: fresh.schema, to: local.schema)
            let converted = shape.convert(value, of: property.schema)
            result[name] = ColumnForm.encode(converted, of: property.schema, in: target)
        }
        for property in owner.properties where result[property.name] == nil {
            let value = property.defaultValue
            result[property.name] = ColumnForm.encode(value, of: property, in: schema)
        }
        return result
    }

    /// Embedded objects are written with their properties in the order of the schema.
    private func mustConvert(_ property: PropertySchema) -> Bool {
        guard case .embedded = schema.elementType(of: property) else { return false }
        return fresh.schema != local.schema
    }

    /// The schema whose order local columns follow, with the properties to be added.
    private var target: RealmSchema {
        var result = local.schema
        for change in result.additions(from: schema) { result.replay(change) }
        return result
    }

    private func change(of key: ColumnValue, to document: Document?) throws -> ResetPlan.RowChange?
    {
        let reference = ObjectReference(
            className: owner.name,
            key: try ColumnForm.decodeKey(key, as: owner.primaryKey ?? .none)
        )
        let current = try local.document(for: reference)
        guard let document else { return current.map { _ in .delete(key) } }
        let target = target
        let wanted = DocumentShape(from: schema, to: target).convert(document, of: owner.name)
        guard let targetClass = target[owner.name] else { return nil }
        var row: [Text: ColumnValue] = [:]
        for (position, property) in targetClass.properties.enumerated() {
            let value = wanted.values[position]
            row[property.name] = ColumnForm.encode(value, of: property, in: target)
        }
        guard let current, let plan = local.plan(of: owner.name) else { return .insert(key, row) }
        let shaped = DocumentShape(from: local.schema, to: target).convert(current, of: plan.name)
        let differing = StateTransfer.differences(from: shaped, to: wanted).map {
            targetClass.properties[$0.position].name
        }
        guard !differing.isEmpty else { return nil }
        return .update(key, row.filter { differing.contains($0.key) })
    }
}

/// The rows of one class in the order of their keys.
private struct Rows {
    private let statement: Statement?
    private let names: [Text]
    private(set) var key: ColumnValue?

    init(_ tables: RealmTables, _ owner: ClassSchema) throws {
        guard let plan = tables.plan(of: owner.name), let table = plan.table else {
            (statement, names) = (nil, [])
            return
        }
        names = plan.properties.map(\.schema.name)
        let keyName = SQLText.name(table.keyColumn)
        let columns =
            [keyName] + plan.properties.map { SQLText.name(table.columns[$0.column].columnName) }
        statement = try tables.connection.prepare(
            """
            SELECT \(columns.joined(separator: ", ")) FROM \(SQLText.name(table.tableName)) \
            ORDER BY \(keyName)
            """
        )
    }

    /// Moves to the next row that is not to be skipped.
    mutating func advance(skipping isSkipped: (ColumnValue) -> Bool) throws {
        key = nil
        guard let statement else { return }
        while try statement.step() {
            let next = statement.columnValue(at: 0)
            guard !isSkipped(next) else { continue }
            key = next
            return
        }
    }

    func value(of name: Text) -> ColumnValue? {
        names.firstIndex(of: name).flatMap { statement?.columnValue(at: $0 + 1) }
    }

    var row: [Text: ColumnValue] {
        var result: [Text: ColumnValue] = [:]
        for (index, name) in names.enumerated() {
            result[name] = statement?.columnValue(at: index + 1)
        }
        return result
    }
}

extension ColumnValue {
    /// The order in which SQLite sorts keys.
    fileprivate func precedes(_ other: ColumnValue) -> Bool {
        switch (self, other) {
        case (.null, _): other != .null
        case (.integer(let left), .integer(let right)): left < right
        case (.integer, .real), (.integer, .text), (.integer, .blob): true
        case (.real(let left), .real(let right)): left < right
        case (.real, .text), (.real, .blob): true
        case (.text(let left), .text(let right)), (.blob(let left), .blob(let right)):
            left.lexicographicallyPrecedes(right)
        case (.text, .blob): true
        case (.integer, .null), (.real, .null), (.real, .integer), (.text, .null),
            (.text, .integer), (.text, .real), (.blob, _):
            false
        }
    }
}
