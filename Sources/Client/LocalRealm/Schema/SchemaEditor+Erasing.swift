internal import Changesets
internal import SQLite
internal import Schemas

/// Erasing classes and properties that the server has erased.
extension SchemaEditor {
    mutating func erase(_ erased: ClassSchema) throws {
        guard let id = catalogue.classIDs[erased.name] else { return }
        hasChangedTables = true
        if let position = catalogue.position(of: erased.name) {
            try unlessBlocked {
                try connection.execute(
                    "DROP TABLE \(SQLText.name(catalogue[position].tableName))"
                )
            }
            catalogue.remove(at: position)
            try Backlinks(connection: connection, catalogue: catalogue).removeAll(ofClass: id)
        }
        try store.removeClass(id)
        catalogue.unregister(erased.name)
        catalogue.schema.remove(erased.name)
        catalogue.published.remove(erased.name)
    }

    mutating func erase(_ erased: PropertySchema, of className: Text) throws {
        guard let id = catalogue.classIDs[className] else { return }
        hasChangedTables = true
        if let position = catalogue.position(of: className) {
            try eraseColumn(erased.name, of: position)
            catalogue.remove(erased.name, of: className)
            try renewParts(of: catalogue[position])
        } else {
            let rewriter = EmbeddedRewriter(connection: connection, catalogue: catalogue)
            try rewriter.erase(erased.name, of: className)
            catalogue.remove(erased.name, of: className)
            for table in catalogue.tables { try renewParts(of: table) }
        }
        try store.removeProperty(erased.name, of: id)
    }

    private mutating func eraseColumn(_ name: Text, of position: Int) throws {
        let table = catalogue[position]
        guard let columnPosition = table.position(of: name) else { return }
        let column = table.columns[columnPosition]
        try dropTriggers(of: table)
        try connection.execute("DROP INDEX IF EXISTS \"_realm_x_\(column.id)\"")
        try unlessBlocked {
            try connection.execute(
                """
                ALTER TABLE \(SQLText.name(table.tableName)) \
                DROP COLUMN \(SQLText.name(column.columnName))
                """
            )
        }
        catalogue[position] = catalogue[position].removing(at: columnPosition)
        try Backlinks(connection: connection, catalogue: catalogue).removeAll(
            of: table,
            column: column
        )
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

/// An object of the application's own (a view, an index, a trigger) depends on what is to be
/// erased.
struct Blocked: Error {
    /// Its name.
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
