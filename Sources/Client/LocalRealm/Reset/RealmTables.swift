internal import Changesets
internal import ClientReset
internal import Documents
internal import SQLite
internal import Schemas

/// Reads the objects of a realm file over any connection to it.
final class RealmTables: RealmReader {
    let connection: Connection
    let catalogue: Catalogue
    private let statements: StatementPool
    private var plans: [Text: ClassPlan] = [:]

    init(_ connection: Connection, _ catalogue: Catalogue, _ statements: StatementPool) {
        self.connection = connection
        self.catalogue = catalogue
        self.statements = statements
    }

    var schema: RealmSchema { catalogue.schema }

    func plan(of className: Text) -> ClassPlan? {
        if let known = plans[className] { return known }
        guard let owner = schema[className] else { return nil }
        let plan = ClassPlan(owner, catalogue)
        plans[className] = plan
        return plan
    }

    func document(for object: ObjectReference) throws -> Document? {
        guard let plan = plan(of: object.className), let table = plan.table else { return nil }
        return try statements.statements(of: table).withRow(of: ColumnForm.encodeKey(object.key)) {
            row in
            Document(
                values: try plan.properties.map { property in
                    try decode(row.columnValue(at: property.column), property, of: plan.name)
                }
            )
        }
    }

    func decode(
        _ column: ColumnValue,
        _ property: ClassPlan.Property,
        of className: Text
    ) throws(DamagedValue) -> Documents.Value {
        do throws(FormError) {
            return try ColumnForm.decode(column, of: property.schema, in: schema)
        } catch {
            throw DamagedValue(className: className, property: property.schema.name, cause: error)
        }
    }

    func referrers(to object: ObjectReference) throws -> [ObjectReference] {
        guard let target = catalogue.position(of: object.className) else { return [] }
        var result: [ObjectReference] = []
        let link = ColumnForm.encodeLinkKey(object.key)
        for owner in schema.classes {
            guard let plan = plan(of: owner.name), let table = plan.table else { continue }
            for property in plan.properties where property.links(to: object.className, schema) {
                let column = SQLText.name(table.columns[property.column].columnName)
                result += try read(
                    """
                    SELECT \(SQLText.name(table.keyColumn)) FROM \(SQLText.name(table.tableName))
                    WHERE \(column) = ?1 AND \(column) IS NOT NULL
                    """,
                    table,
                    [link]
                )
            }
            result += try read(
                """
                SELECT DISTINCT key FROM _realm_backlink
                WHERE target_class = ?1 AND target_key = ?2 AND class = ?3
                """,
                table,
                [.integer(catalogue[target].id), link, .integer(table.id)],
                nullKey: .blob([])
            )
        }
        return result
    }

    private func read(
        _ sql: String,
        _ table: ClassTable,
        _ values: [ColumnValue],
        nullKey: ColumnValue = .null
    ) throws -> [ObjectReference] {
        let statement = try connection.statement(sql)
        defer { statement.reset() }
        for (index, value) in values.enumerated() { try statement.bind(value, at: index + 1) }
        var result: [ObjectReference] = []
        while try statement.step() {
            let stored = statement.columnValue(at: 0)
            let column = stored == nullKey ? .null : stored
            let key = try ColumnForm.decodeKey(column, as: table.key)
            result.append(ObjectReference(className: table.name, key: key))
        }
        return result
    }
}

extension ClassPlan.Property {
    /// Whether the property is a single link to that class, which has a column and an index.
    fileprivate func links(to className: Text, _ realm: RealmSchema) -> Bool {
        guard schema.collection == .single, case .link(let target) = realm.elementType(of: schema)
        else { return false }
        return target.className == className
    }
}
