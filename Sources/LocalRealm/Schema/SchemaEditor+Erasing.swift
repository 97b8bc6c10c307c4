internal import Changesets
internal import SQLite
internal import Schemas

/// Erasing what the server has erased.
extension SchemaEditor {
    mutating func erase(_ erased: ClassSchema) throws {
        guard let position = catalogue.position(of: erased.name) else { return }
        hasChangedTables = true
        let table = catalogue[position]
        try unlessBlocked {
            try connection.execute("DROP TABLE \(SQLText.name(table.tableName))")
        }
        try store.removeClass(table.id)
        catalogue.remove(at: position)
        catalogue.schema.remove(erased.name)
        catalogue.published.remove(erased.name)
    }

    mutating func erase(_ erased: PropertySchema, of className: Text) throws {
        guard let position = catalogue.position(of: className),
            let columnPosition = catalogue[position].position(of: erased.name)
        else { return }
        hasChangedTables = true
        let table = catalogue[position]
        let column = table.columns[columnPosition]
        try dropTriggers(of: table) { _ in true }
        try connection.execute("DROP INDEX IF EXISTS \"_realm_x_\(column.id)\"")
        try unlessBlocked {
            try connection.execute(
                """
                ALTER TABLE \(SQLText.name(table.tableName)) \
                DROP COLUMN \(SQLText.name(column.columnName))
                """
            )
        }
        try store.removeProperty(column.id)
        catalogue[position].remove(at: columnPosition)
        catalogue.remove(erased.name, of: className)
        try createMissingParts(of: catalogue[position])
    }
}

extension SchemaEditor {
    private func unlessBlocked(_ body: () throws -> Void) throws {
        do {
            try body()
        } catch let error as SQLiteError where error.condition == .other {
            throw Blocked(problem: error.message)
        }
    }
}

/// Something of the application's own (a view, an index, a trigger) needs what is to be erased.
struct Blocked: Error {
    /// Names it.
    let problem: String
}

extension Catalogue {
    fileprivate mutating func remove(_ property: Text, of className: Text) {
        for path in [\Catalogue.schema, \Catalogue.published] {
            guard var known = self[keyPath: path][className] else { continue }
            known.remove(property)
            self[keyPath: path].update(known)
        }
    }
}
