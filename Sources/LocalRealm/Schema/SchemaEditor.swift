internal import Changesets
internal import Documents
internal import SQLite
internal import Schemas

/// Changes the tables of a realm within the current transaction (local realm, 7.3).
///
/// What is added may come bit by bit: it is gathered and written at once, so that a new class gets one
/// CREATE TABLE with all of its columns. What is erased takes effect at once.
struct SchemaEditor {
    let connection: Connection
    let options: [PropertyName: PropertyOptions]
    /// What `published` is set to: 0 for what must still be sent, `CatalogueStore.learned` for what
    /// came from the server.
    let published: Int64
    private(set) var catalogue: Catalogue
    /// The schema with everything gathered; the catalogue's own lags behind until `flush()`.
    private(set) var schema: RealmSchema
    private(set) var hasChangedTables = false
    private var hasPendingAdditions = false

    init(
        _ connection: Connection,
        _ catalogue: Catalogue,
        options: [PropertyName: PropertyOptions],
        published: Int64
    ) {
        self.connection = connection
        self.options = options
        self.published = published
        self.catalogue = catalogue
        self.schema = catalogue.schema
    }

    private var store: CatalogueStore { CatalogueStore(connection: connection) }
}

// MARK: Gathering

extension SchemaEditor {
    /// Applies a schema instruction from the server.
    mutating func apply(_ instruction: Instruction, strings: StringTable) throws {
        switch try schema.apply(instruction, strings: strings) {
        case nil:
            try learn(instruction, strings)
        case .classAdded, .propertyAdded:
            hasPendingAdditions = true
        case .classErased(let erased):
            try flush()
            try erase(erased)
        case .propertyErased(let erased, let className, _):
            try flush()
            try erase(erased, of: className)
        }
    }

    /// Adds everything that the declared schema has and this one lacks.
    mutating func add(_ declared: RealmSchema) throws {
        for candidate in declared.classes {
            hasPendingAdditions =
                try schema.addClass(candidate.name, candidate.kind) != nil || hasPendingAdditions
        }
        for candidate in declared.classes {
            for property in candidate.properties {
                let change = try schema.addProperty(property, to: candidate.name)
                hasPendingAdditions = change != nil || hasPendingAdditions
            }
        }
    }

    /// The server has what was declared here and not sent yet: it need not be sent.
    private mutating func learn(_ instruction: Instruction, _ strings: StringTable) throws {
        switch instruction {
        case .addTable(let table):
            let name = strings[table.className]
            guard catalogue.published[name] == nil, let known = catalogue.schema[name] else {
                return
            }
            try store.markPublished(class: name, published)
            catalogue.published.update(ClassSchema(name: name, kind: known.kind))
        case .addColumn(let column):
            let className = strings[column.className]
            let name = strings[column.field]
            guard let position = catalogue.position(of: className),
                let columnPosition = catalogue[position].position(of: name),
                let property = catalogue.schema[className]?.property(named: name),
                catalogue.published[className]?.property(named: name) == nil
            else { return }
            let id = catalogue[position].columns[columnPosition].id
            try store.markPublished(property: id, published)
            catalogue.add(property, to: className, isPublished: true)
        default:
            return
        }
    }
}

// MARK: Writing what was gathered

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
        for name in newNames {
            guard let position = catalogue.position(of: name) else { continue }
            try create(catalogue[position])
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

    private func createMissingParts(of table: ClassTable) throws(SQLiteError) {
        let definition = TableDefinition(table: table)
        for part in definition.indexes + definition.triggers {
            let isThere = try connection.integer(
                "SELECT 1 FROM sqlite_schema WHERE name = ?1",
                [.text(part.name)]
            )
            if isThere == nil { try connection.execute(part.sql) }
        }
    }

    private func dropTriggers(
        of table: ClassTable,
        where isDropped: (String) -> Bool
    ) throws(SQLiteError) {
        for trigger in TableDefinition(table: table).triggers where isDropped(trigger.name) {
            try connection.execute("DROP TRIGGER IF EXISTS \(SQLText.name(trigger.name))")
        }
    }
}

// MARK: Erasing

extension SchemaEditor {
    private mutating func erase(_ erased: ClassSchema) throws {
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

    private mutating func erase(_ erased: PropertySchema, of className: Text) throws {
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

/// Something of the application's own has the name that a class needs.
struct NameTaken: Error {
    let className: String
    let occupant: String
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
