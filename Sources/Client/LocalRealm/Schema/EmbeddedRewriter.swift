internal import Changesets
internal import Documents
internal import SQLite
internal import Schemas

/// Removes an erased property from the embedded objects that columns hold (local realm, 7.3).
///
/// Adding one changes no row: a missing member reads as its default.
struct EmbeddedRewriter {
    let connection: Connection
    /// As before the erasure.
    let catalogue: Catalogue

    func erase(_ property: Text, of className: Text) throws {
        guard var owner = catalogue.schema[className],
            let erased = owner.position(of: property)
        else { return }
        owner.remove(property)
        var schema = catalogue.schema
        schema.update(owner)
        let walker = DocumentWalker(schema: catalogue.schema)
        for table in catalogue.tables {
            for column in table.columns {
                guard case .embedded(let held) = column.type.jsonElement,
                    catalogue.schema.embeds(className, in: held)
                else { continue }
                try rewrite(column, of: table) { value in
                    walker.walk(&value, of: column.property) { document, inner in
                        if inner.name == className { document.values.remove(at: erased) }
                    }
                    return column.encode(value, in: schema)
                }
            }
        }
    }

    private func rewrite(
        _ column: Column,
        of table: ClassTable,
        _ transform: (inout Documents.Value) -> ColumnValue
    ) throws {
        let (name, key) = (SQLText.name(table.tableName), SQLText.name(table.keyColumn))
        let columnName = SQLText.name(column.columnName)
        let select = try connection.prepare(
            "SELECT \(key), \(columnName) FROM \(name) NOT INDEXED WHERE \(columnName) IS NOT NULL"
        )
        let update = try connection.prepare(
            "UPDATE \(name) SET \(columnName) = ?1 WHERE \(key) IS ?2"
        )
        let backlinks = Backlinks(connection: connection, catalogue: catalogue)
        while try select.step() {
            let key = select.columnValue(at: 0)
            // A value that cannot be read is left to the drain, which rejects it.
            guard
                var value = try? column.decode(select.columnValue(at: 1), in: catalogue.schema)
            else { continue }
            try update.bind(transform(&value), at: 1)
            try update.bind(key, at: 2)
            try update.run()
            try backlinks.set(value.links, of: table, key, column)
        }
    }
}

extension RealmSchema {
    /// Whether objects of an embedded class are, or hold, objects of another.
    func embeds(_ wanted: Text, in className: Text) -> Bool {
        var visited: Set<Text> = []
        return embeds(wanted, in: className, &visited)
    }

    private func embeds(_ wanted: Text, in className: Text, _ visited: inout Set<Text>) -> Bool {
        if className == wanted { return true }
        guard visited.insert(className).inserted, let owner = self[className] else { return false }
        return owner.properties.contains { property in
            guard case .embedded(let inner) = elementType(of: property) else { return false }
            return embeds(wanted, in: inner, &visited)
        }
    }
}
