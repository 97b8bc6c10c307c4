internal import Changesets
internal import SQLite
internal import Schemas
internal import Versions

/// The tables `_realm_class` and `_realm_property`.
struct CatalogueStore {
    let connection: Connection

    /// The value of `published` for classes and properties from the server.
    static let learned: Int64 = -1

    /// Reads the catalogue; `options` are the configuration of single properties.
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
            guard case .integer(let id) = row[0], case .text(let text) = row[1],
                case .integer(let kind) = row[2], case .integer(let published) = row[7]
            else { throw DamagedCatalogue() }
            let name = Text(text)
            let schema: ClassSchema
            if kind == ClassKindCode.embedded {
                schema = ClassSchema(name: name, kind: .embedded)
            } else {
                guard case .text(let tableName) = row[3] else { throw DamagedCatalogue() }
                let key = try key(of: row)
                let isAsymmetric = kind == ClassKindCode.asymmetric
                schema = ClassSchema(
                    name: name,
                    kind: isAsymmetric ? .asymmetric(key) : .topLevel(key)
                )
                catalogue.append(
                    ClassTable(
                        id: id,
                        name: name,
                        tableName: tableName,
                        key: key,
                        isAsymmetric: isAsymmetric
                    )
                )
            }
            catalogue.register(name, id: id)
            catalogue.schema.update(schema)
            if published != 0 { catalogue.published.update(schema) }
        }
    }

    private func key(of row: [SQLiteValue]) throws -> PrimaryKeySchema {
        guard case .text(let name) = row[4], case .integer(let keyType) = row[5],
            case .integer(let isNullable) = row[6],
            let code = Int8(exactly: keyType).flatMap(TypeCode.init(rawValue:)),
            let type = PrimaryKeyType(code)
        else { throw DamagedCatalogue() }
        return PrimaryKeySchema(name: Text(name), type: type, isNullable: isNullable != 0)
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
                case .text(let columnName) = row[3], case .integer(let published) = row[8],
                let className = catalogue.classNames[classID]
            else { throw DamagedCatalogue() }
            let property = try property(of: row, catalogue)
            catalogue.add(property, to: className, isPublished: published != 0)
            guard let position = catalogue.position(of: className) else { continue }
            let name = PropertyName(className: className, property: property.name)
            guard
                let column = Column(
                    id: id,
                    columnName: columnName,
                    property,
                    in: catalogue.schema,
                    options: options[name] ?? PropertyOptions()
                )
            else { throw DamagedCatalogue() }
            catalogue[position] = catalogue[position].adding(column)
        }
    }

    private func property(of row: [SQLiteValue], _ catalogue: Catalogue) throws -> PropertySchema {
        guard case .text(let name) = row[2], case .integer(let typeCode) = row[4],
            case .integer(let isNullable) = row[5], case .integer(let collection) = row[6],
            let code = Int8(exactly: typeCode).flatMap(TypeCode.init(rawValue:)),
            let collection = CollectionType(storedCode: collection)
        else { throw DamagedCatalogue() }
        var target: Text?
        if case .integer(let id) = row[7] { target = catalogue.classNames[id] }
        guard let type = PropertyType(code, target: target) else { throw DamagedCatalogue() }
        return PropertySchema(
            name: Text(name),
            type: type,
            isNullable: isNullable != 0,
            collection: collection
        )
    }

    // MARK: Writing

    /// Writes the row of a class; only an embedded one has no table.
    func insertClass(
        _ schema: ClassSchema,
        tableName: String?,
        published: Int64
    ) throws(SQLiteError) -> Int64 {
        let key = schema.primaryKey
        try connection.run(
            """
            INSERT INTO _realm_class(name, kind, table_name, pk_name, pk_type, pk_nullable, published)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
            """,
            [
                .text("\(schema.name)"), .integer(ClassKindCode.of(schema)),
                tableName.map { .text($0) } ?? .null,
                key.map { .text("\($0.name)") } ?? .null,
                key.map { .integer(Int64($0.type.typeCode.rawValue)) } ?? .null,
                key.map { .integer($0.isNullable ? 1 : 0) } ?? .null,
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

    func removeProperty(_ name: Text, of classID: Int64) throws(SQLiteError) {
        try connection.run(
            "DELETE FROM _realm_property WHERE class = ?1 AND name = ?2",
            [.integer(classID), .text("\(name)")]
        )
    }

    /// Writes which properties are counters now, since the configuration may change.
    func saveCounters(_ counters: Set<PropertyName>) throws(SQLiteError) {
        let stored = try connection.rows(
            """
            SELECT p.id, p.counter, c.name, p.name
            FROM _realm_property p JOIN _realm_class c ON c.id = p.class
            """
        )
        for row in stored {
            guard case .integer(let id) = row[0], case .integer(let counter) = row[1],
                case .text(let className) = row[2], case .text(let property) = row[3]
            else { continue }
            let name = PropertyName(className: Text(className), property: Text(property))
            guard counters.contains(name) != (counter != 0) else { continue }
            try connection.run(
                "UPDATE _realm_property SET counter = ?1 WHERE id = ?2",
                [.integer(counter == 0 ? 1 : 0), .integer(id)]
            )
        }
    }

    /// Records that the changeset of that version carries everything declared so far.
    func markAllPublished(_ version: ClientVersion) throws(SQLiteError) {
        for table in ["_realm_class", "_realm_property"] {
            try connection.run(
                "UPDATE \(table) SET published = ?1 WHERE published = 0",
                [.integer(Int64(clamping: version.rawValue))]
            )
        }
    }
}

/// The rows of the catalogue contradict each other, or exceed this program version.
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

extension CollectionType {
    fileprivate init?(storedCode: Int64) {
        guard let code = UInt8(exactly: storedCode) else { return nil }
        self.init(rawValue: code)
    }
}

/// The values of `_realm_class.kind`.
private enum ClassKindCode {
    static let topLevel: Int64 = 0
    static let embedded: Int64 = 1
    static let asymmetric: Int64 = 2

    static func of(_ schema: ClassSchema) -> Int64 {
        switch schema.kind {
        case .topLevel: topLevel
        case .embedded: embedded
        case .asymmetric: asymmetric
        }
    }
}
