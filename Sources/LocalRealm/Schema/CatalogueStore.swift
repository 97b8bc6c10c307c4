internal import Changesets
internal import SQLite
internal import Schemas
internal import Versions

/// The tables `_realm_class` and `_realm_property`.
struct CatalogueStore {
    let connection: Connection

    /// What `published` says of something that came from the server.
    static let learned: Int64 = -1

    /// Reads the catalogue; `options` are what the configuration says of single properties.
    func load(options: [PropertyName: PropertyOptions]) throws -> Catalogue {
        var catalogue = Catalogue()
        try loadClasses(into: &catalogue)
        try loadProperties(into: &catalogue, options: options)
        return catalogue
    }

    private func loadClasses(into catalogue: inout Catalogue) throws {
        let rows = try connection.rows(
            """
            SELECT id, name, kind, table_name, pk_name, pk_type, pk_nullable, published
            FROM _realm_class ORDER BY id
            """
        )
        for row in rows {
            guard case .integer(let id) = row[0], case .text(let name) = row[1],
                case .integer(0) = row[2], case .text(let tableName) = row[3],
                case .text(let keyName) = row[4], case .integer(let keyType) = row[5],
                case .integer(let isNullable) = row[6], case .integer(let published) = row[7],
                let code = Int8(exactly: keyType).flatMap(TypeCode.init(rawValue:)),
                let type = PrimaryKeyType(code)
            else { throw DamagedCatalogue() }
            let key = PrimaryKeySchema(
                name: Text(keyName),
                type: type,
                isNullable: isNullable != 0
            )
            let schema = ClassSchema(name: Text(name), kind: .topLevel(key))
            catalogue.schema.update(schema)
            if published != 0 { catalogue.published.update(schema) }
            catalogue.append(
                ClassTable(id: id, name: Text(name), tableName: tableName, key: key)
            )
        }
    }

    private func loadProperties(
        into catalogue: inout Catalogue,
        options: [PropertyName: PropertyOptions]
    ) throws {
        let rows = try connection.rows(
            """
            SELECT id, class, name, column_name, type, nullable, collection, target, published
            FROM _realm_property ORDER BY id
            """
        )
        for row in rows {
            guard case .integer(let id) = row[0], case .integer(let classID) = row[1],
                case .text(let text) = row[2], case .text(let columnName) = row[3],
                case .integer(let typeCode) = row[4], case .integer(let isNullable) = row[5],
                case .integer(let published) = row[8],
                let code = Int8(exactly: typeCode).flatMap(TypeCode.init(rawValue:)),
                let position = catalogue.position(ofID: classID)
            else { throw DamagedCatalogue() }
            var target: Text?
            if case .integer(let id) = row[7], let position = catalogue.position(ofID: id) {
                target = catalogue[position].name
            }
            guard let type = PropertyType(code, target: target) else { throw DamagedCatalogue() }
            let className = catalogue[position].name
            let name = PropertyName(className: className, property: Text(text))
            let property = PropertySchema(
                name: name.property,
                type: type,
                isNullable: isNullable != 0
            )
            catalogue.add(property, to: className, isPublished: published != 0)
            guard
                let column = Column(
                    id: id,
                    columnName: columnName,
                    property,
                    in: catalogue.schema,
                    options: options[name] ?? PropertyOptions()
                )
            else { throw DamagedCatalogue() }
            catalogue[position].append(column)
        }
    }

    // MARK: Writing

    func insertClass(
        _ name: Text,
        tableName: String,
        key: PrimaryKeySchema,
        published: Int64
    ) throws(SQLiteError) -> Int64 {
        try connection.run(
            """
            INSERT INTO _realm_class(name, kind, table_name, pk_name, pk_type, pk_nullable, published)
            VALUES (?1, 0, ?2, ?3, ?4, ?5, ?6)
            """,
            [
                .text("\(name)"), .text(tableName), .text("\(key.name)"),
                .integer(Int64(key.type.typeCode.rawValue)), .integer(key.isNullable ? 1 : 0),
                .integer(published),
            ]
        )
        return connection.lastInsertedRowID
    }

    func insertProperty(
        _ property: PropertySchema,
        of classID: Int64,
        columnName: String,
        target: Int64?,
        isCounter: Bool,
        published: Int64
    ) throws(SQLiteError) -> Int64 {
        try connection.run(
            """
            INSERT INTO _realm_property(class, name, column_name, type, nullable, collection, target,
              counter, published) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
            """,
            [
                .integer(classID), .text("\(property.name)"), .text(columnName),
                .integer(Int64(property.type.typeCode.rawValue)),
                .integer(property.acceptsNull ? 1 : 0),
                .integer(Int64(property.collection.rawValue)),
                target.map { .integer($0) } ?? .null, .integer(isCounter ? 1 : 0),
                .integer(published),
            ]
        )
        return connection.lastInsertedRowID
    }

    func removeClass(_ id: Int64) throws(SQLiteError) {
        try connection.run("DELETE FROM _realm_property WHERE class = ?1", [.integer(id)])
        try connection.run("DELETE FROM _realm_class WHERE id = ?1", [.integer(id)])
    }

    func removeProperty(_ id: Int64) throws(SQLiteError) {
        try connection.run("DELETE FROM _realm_property WHERE id = ?1", [.integer(id)])
    }

    /// Writes down which properties are counters by now: the configuration says so, and may change.
    func saveCounters(of catalogue: Catalogue) throws(SQLiteError) {
        let columns = catalogue.tables.flatMap(\.columns)
        let counters = Set(columns.filter(\.options.isCounter).map(\.id))
        let stored = try connection.rows("SELECT id, counter FROM _realm_property")
        for case (.integer(let id), .integer(let counter)) in stored.map({ ($0[0], $0[1]) })
        where counters.contains(id) != (counter != 0) {
            try connection.run(
                "UPDATE _realm_property SET counter = ?1 WHERE id = ?2",
                [.integer(1 - counter), .integer(id)]
            )
        }
    }

    /// Notes that the changeset of that version carries everything declared so far.
    func markAllPublished(_ version: ClientVersion) throws(SQLiteError) {
        for table in ["_realm_class", "_realm_property"] {
            try connection.run(
                "UPDATE \(table) SET published = ?1 WHERE published = 0",
                [.integer(Int64(clamping: version.rawValue))]
            )
        }
    }
}

/// The rows of the catalogue contradict each other, or what this version can hold.
struct DamagedCatalogue: Error {}

extension Catalogue {
    mutating func add(_ property: PropertySchema, to className: Text, isPublished: Bool) {
        guard var known = schema[className] else { return }
        known.update(property)
        schema.update(known)
        guard isPublished, var publishedClass = published[className] else { return }
        publishedClass.update(property)
        published.update(publishedClass)
    }
}

extension PropertyType {
    /// Nil for the codes that no property of ours has.
    init?(_ code: TypeCode, target: Text?) {
        switch code {
        case .null: self = .mixed
        case .int: self = .int
        case .bool: self = .bool
        case .string: self = .string
        case .binary: self = .binary
        case .timestamp: self = .timestamp
        case .float: self = .float
        case .double: self = .double
        case .decimal: self = .decimal
        case .objectID: self = .objectID
        case .uuid: self = .uuid
        case .link:
            guard let target else { return nil }
            self = .link(target: target)
        case .set, .list, .erased, .dictionary, .objectValue, .globalKey: return nil
        }
    }
}

extension Column {
    /// Nil if the schema has no such link target, or the property is none that a column can hold.
    init?(
        id: Int64,
        columnName: String,
        _ property: PropertySchema,
        in schema: RealmSchema,
        options: PropertyOptions
    ) {
        let type: ColumnType
        switch schema.elementType(of: property) {
        case .scalar(let scalar): type = .scalar(scalar)
        case .link(let target): type = .link(target)
        case .mixed, .embedded, nil: return nil
        }
        self.init(
            id: id,
            name: property.name,
            columnName: columnName,
            type: type,
            isNullable: property.acceptsNull,
            options: options
        )
    }
}
