internal import Changesets
internal import Documents
internal import SQLite
internal import Schemas

/// Writing what was gathered.
extension SchemaEditor {
    /// Creates the tables and columns that were gathered.
    mutating func flush() throws {
        guard hasPendingAdditions else { return }
        if let unsupported = Unsupported(in: schema) { throw unsupported }
        hasPendingAdditions = false
        hasChangedTables = true
        let newClasses = schema.classes.filter { catalogue.position(of: $0.name) == nil }
        for candidate in newClasses {
            try enter(candidate)
        }
        let newNames = Set(newClasses.map(\.name))
        for candidate in schema.classes {
            try addColumns(of: candidate, isNewTable: newNames.contains(candidate.name))
        }
        for table in catalogue.tables where newNames.contains(table.name) {
            try create(table)
        }
    }

    /// Gives a class its number and its table's name.
    private mutating func enter(_ candidate: ClassSchema) throws {
        guard let key = candidate.primaryKey else {
            preconditionFailure("a class without key has been refused before")
        }
        let tableName = FreeName.table(
            for: "\(candidate.name)",
            taken: catalogue.tables.map(\.tableName)
        )
        try checkFree(tableName)
        let id = try store.insertClass(
            candidate.name,
            tableName: tableName,
            key: key,
            published: published
        )
        let bare = ClassSchema(name: candidate.name, kind: candidate.kind)
        catalogue.schema.update(bare)
        if published != 0 { catalogue.published.update(bare) }
        catalogue.append(
            ClassTable(id: id, name: candidate.name, tableName: tableName, key: key)
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

    private mutating func addColumns(of candidate: ClassSchema, isNewTable: Bool) throws {
        guard let position = catalogue.position(of: candidate.name) else { return }
        let missing = candidate.properties.filter {
            catalogue[position].position(of: $0.name) == nil
        }
        guard !missing.isEmpty else { return }
        if !isNewTable {
            try dropTriggers(of: catalogue[position]) { $0.hasSuffix("_exists") }
        }
        for property in missing {
            try addColumn(property, to: position, isNewTable: isNewTable)
        }
        if !isNewTable { try createMissingParts(of: catalogue[position]) }
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
        var target: Int64?
        if case .link(let name) = property.type {
            target = catalogue.position(of: name).map { catalogue[$0].id }
        }
        let name = PropertyName(className: table.name, property: property.name)
        let columnOptions = options[name] ?? PropertyOptions()
        let id = try store.insertProperty(
            property,
            of: table.id,
            columnName: columnName,
            target: target,
            isCounter: columnOptions.isCounter,
            published: published
        )
        let column = Column(
            id: id,
            columnName: columnName,
            property,
            in: schema,
            options: columnOptions
        )
        guard let column else {
            preconditionFailure("a property that no column can hold has been refused before")
        }
        catalogue.add(property, to: table.name, isPublished: published != 0)
        catalogue[position].append(column)
        if !isNewTable { try alter(catalogue[position]) }
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
        try connection.execute(TableDefinition(table: table).addColumn(at: position))
        // Rows that are there get the default of the type, as they do on every other replica.
        if let declared = column.options.defaultValue, declared != column.typeDefault {
            let name = SQLText.name(column.columnName)
            let value = SQLText.literal(ColumnForm.encode(column.typeDefault))
            try connection.execute(
                "UPDATE \(SQLText.name(table.tableName)) SET \(name) = \(value)"
            )
        }
    }

    private func create(_ table: ClassTable) throws(SQLiteError) {
        let definition = TableDefinition(table: table)
        try connection.execute(definition.createTable)
        for part in definition.indexes + definition.triggers {
            try connection.execute(part.sql)
        }
    }

    func createMissingParts(of table: ClassTable) throws(SQLiteError) {
        let definition = TableDefinition(table: table)
        for part in definition.indexes + definition.triggers {
            let isThere = try connection.integer(
                "SELECT 1 FROM sqlite_schema WHERE name = ?1",
                [.text(part.name)]
            )
            if isThere == nil { try connection.execute(part.sql) }
        }
    }

    func dropTriggers(
        of table: ClassTable,
        where isDropped: (String) -> Bool
    ) throws(SQLiteError) {
        for trigger in TableDefinition(table: table).triggers where isDropped(trigger.name) {
            try connection.execute("DROP TRIGGER IF EXISTS \(SQLText.name(trigger.name))")
        }
    }
}

/// Something of the application's own has the name that a class needs.
struct NameTaken: Error {
    let className: String
    let occupant: String
}
