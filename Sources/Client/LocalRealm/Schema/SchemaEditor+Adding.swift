internal import Changesets
internal import Documents
internal import SQLite
internal import Schemas

/// Writing the gathered changes.
extension SchemaEditor {
    /// Creates the tables and columns that were gathered.
    mutating func flush() throws {
        guard hasPendingAdditions else { return }
        hasPendingAdditions = false
        hasChangedTables = true
        let newClasses = schema.classes.filter { catalogue.classIDs[$0.name] == nil }
        for candidate in newClasses {
            try enter(candidate)
        }
        let newNames = Set(newClasses.map(\.name))
        for candidate in schema.classes {
            try addProperties(of: candidate, isNewTable: newNames.contains(candidate.name))
        }
        for table in catalogue.tables {
            if newNames.contains(table.name) {
                try create(table)
            } else {
                // A new column, or a new property of an embedded class that a column holds.
                try renewParts(of: table)
            }
        }
    }

    /// Gives a class its number, and its table's name if it has one.
    private mutating func enter(_ candidate: ClassSchema) throws {
        let bare = ClassSchema(name: candidate.name, kind: candidate.kind)
        var tableName: String?
        if !candidate.isEmbedded {
            let name = FreeName.table(
                for: "\(candidate.name)",
                taken: catalogue.tables.map(\.tableName)
            )
            try checkFree(name)
            tableName = name
        }
        let id = try store.insertClass(bare, tableName: tableName, published: published)
        catalogue.register(candidate.name, id: id)
        catalogue.schema.update(bare)
        if published != 0 { catalogue.published.update(bare) }
        guard let key = candidate.primaryKey, let tableName else { return }
        catalogue.append(
            ClassTable(
                id: id,
                name: candidate.name,
                tableName: tableName,
                key: key,
                isAsymmetric: candidate.isAsymmetric
            )
        )
    }

    private func checkFree(_ tableName: String) throws {
        let occupant = try connection.row(
            "SELECT type, name FROM sqlite_schema WHERE lower(name) = lower(?1) LIMIT 1",
            [.text(tableName)]
        )
        guard case .text(let type) = occupant?[0], case .text(let name) = occupant?[1] else {
            return
        }
        throw NameTaken(className: tableName, occupant: "\(type) \(name)")
    }

    private mutating func addProperties(of candidate: ClassSchema, isNewTable: Bool) throws {
        guard let known = catalogue.schema[candidate.name] else { return }
        for property in candidate.properties where known.position(of: property.name) == nil {
            if let position = catalogue.position(of: candidate.name) {
                try addColumn(property, to: position, isNewTable: isNewTable)
            } else {
                _ = try insert(property, of: candidate.name, columnName: "\(property.name)")
            }
        }
    }

    private mutating func addColumn(
        _ property: PropertySchema,
        to position: Int,
        isNewTable: Bool
    ) throws {
        let table = catalogue[position]
        let existing = isNewTable ? [] : try columnNames(of: table)
        let columnName = FreeName.column(
            for: "\(property.name)",
            taken: table.columns.map(\.columnName) + [table.keyColumn] + existing
        )
        let id = try insert(property, of: table.name, columnName: columnName)
        let column = Column(
            id: id,
            columnName: columnName,
            property,
            in: schema,
            options: options[.init(className: table.name, property: property.name)]
                ?? PropertyOptions()
        )
        guard let column else {
            preconditionFailure("a link to an unknown class has been refused before")
        }
        catalogue[position] = catalogue[position].adding(column)
        if !isNewTable { try alter(catalogue[position]) }
    }

    /// Writes the row of a property, and returns its number.
    private mutating func insert(
        _ property: PropertySchema,
        of className: Text,
        columnName: String
    ) throws -> Int64 {
        guard let classID = catalogue.classIDs[className] else {
            preconditionFailure("the class of a new property has been entered before")
        }
        var target: Int64?
        if case .link(let name) = property.type { target = catalogue.classIDs[name] }
        let name = PropertyName(className: className, property: property.name)
        let id = try store.insertProperty(
            property,
            of: classID,
            columnName: columnName,
            target: target,
            isCounter: options[name]?.isCounter ?? false,
            published: published
        )
        catalogue.add(property, to: className, isPublished: published != 0)
        return id
    }

    private func columnNames(of table: ClassTable) throws(SQLiteError) -> [String] {
        try connection.rows(
            "SELECT name FROM pragma_table_info(?1)",
            [.text(table.tableName)]
        ).compactMap { row in
            if case .text(let name) = row[0] { name } else { nil }
        }
    }

    /// Adds the last column to the file.
    private func alter(_ table: ClassTable) throws(SQLiteError) {
        let position = table.columns.count - 1
        let column = table.columns[position]
        try connection.execute(definition(of: table).addColumn(at: position))
        // Existing rows get the default of the type, as on every other replica.
        if column.insertDefault != column.typeDefault {
            let name = SQLText.name(column.columnName)
            try connection.execute(
                """
                UPDATE \(SQLText.name(table.tableName)) SET \(name) = \
                \(SQLText.literal(column.typeDefault))
                """
            )
        }
    }

    private func create(_ table: ClassTable) throws(SQLiteError) {
        let definition = definition(of: table)
        try connection.execute(definition.createTable)
        for part in definition.indexes + definition.triggers {
            try connection.execute(part.sql)
        }
    }

    func definition(of table: ClassTable) -> TableDefinition {
        TableDefinition(table, catalogue)
    }

    /// Recreates the agent's missing or changed triggers and indexes of a table.
    func renewParts(of table: ClassTable) throws(SQLiteError) {
        let definition = definition(of: table)
        let wanted = definition.indexes + definition.triggers
        let stored = try StoredParts(of: table, on: connection)
        for part in stored.parts where !wanted.contains(part) {
            try connection.execute("DROP \(stored.type(of: part)) \(SQLText.name(part.name))")
        }
        for part in wanted where !stored.parts.contains(part) {
            try connection.execute(part.sql)
        }
    }

    /// Lets programs only read the table, or write to it again.
    func renewReadOnlyTriggers(of table: ClassTable) throws(SQLiteError) {
        let definition = definition(of: table)
        for trigger in definition.readOnlyTriggers {
            try connection.execute("DROP TRIGGER IF EXISTS \(SQLText.name(trigger.name))")
            if definition.isReadOnly { try connection.execute(trigger.sql) }
        }
    }

    func dropTriggers(of table: ClassTable) throws(SQLiteError) {
        for trigger in definition(of: table).triggers {
            try connection.execute("DROP TRIGGER IF EXISTS \(SQLText.name(trigger.name))")
        }
    }
}

/// The agent's triggers and indexes that a table actually has.
struct StoredParts {
    private(set) var parts: Set<TableDefinition.Part> = []
    private var types: [String: String] = [:]

    init(of table: ClassTable, on connection: Connection) throws(SQLiteError) {
        let rows = try connection.rows(
            """
            SELECT type, name, sql FROM sqlite_schema WHERE type IN ('trigger', 'index')
            AND lower(tbl_name) = lower(?1) AND substr(name, 1, 7) = '\(Layout.prefix)'
            """,
            [.text(table.tableName)]
        )
        for row in rows {
            guard case .text(let type) = row[0], case .text(let name) = row[1],
                case .text(let sql) = row[2]
            else { continue }
            parts.insert(TableDefinition.Part(name: name, sql: sql))
            types[name] = type
        }
    }

    func type(of part: TableDefinition.Part) -> String {
        types[part.name] == "index" ? "INDEX" : "TRIGGER"
    }
}

/// A table or view of the application has the name that a class needs.
struct NameTaken: Error {
    let className: String
    let occupant: String
}
