internal import Changesets
internal import Documents
internal import Query
internal import SQLite
internal import Schemas
package import Subscriptions

/// The subscriptions of the active set that select no object of the file, read beside a running agent and
/// without writing.
///
/// Everything that matched at the server when the set became active is in the file. So such a query selects
/// nothing there either, or the user may not read what it selects.
package enum SubscriptionExamination {
    /// Empty for a realm of a partition, and until the first set is complete.
    package static func subscriptionsWithoutObjects(
        path: String
    ) throws(LocalRealmError) -> [Subscription] {
        try RealmFile.reading(path) { connection in
            try connection.transaction(.deferred) {
                guard let active = try SubscriptionStore(connection: connection).load()?.active,
                    active.state == .complete
                else { return [] }
                let catalogue = try CatalogueStore(connection: connection).load(options: [:])
                let tables = RealmTables(connection, catalogue, StatementPool(connection))
                return try active.subscriptions.filter { try !hasObjects($0, tables) }
            }
        }
    }

    /// Reads up to the first match.
    private static func hasObjects(
        _ subscription: Subscription,
        _ tables: RealmTables
    ) throws -> Bool {
        guard let plan = tables.plan(of: subscription.className), let table = plan.table,
            let owner = tables.schema[subscription.className],
            let parsed = try? QueryParser.parse(subscription.query.bytes),
            let query = try? QueryChecker.check(parsed, of: owner.name, in: tables.schema)
        else { return false }
        let evaluator = QueryEvaluator(query)
        let columns =
            [table.keyColumn] + plan.properties.map { table.columns[$0.column].columnName }
        let list = columns.map { SQLText.name($0) }.joined(separator: ", ")
        let statement = try tables.connection.prepare(
            "SELECT \(list) FROM \(SQLText.name(table.tableName))"
        )
        defer { statement.reset() }
        while try statement.step() {
            let key = try ColumnForm.decodeKey(statement.columnValue(at: 0), as: table.key)
            let values = try plan.properties.enumerated().map { position, property in
                try tables.decode(statement.columnValue(at: position + 1), property, of: plan.name)
            }
            let object = DocumentObject(key: key, Document(values: values), of: owner)
            if evaluator.matches(object) { return true }
        }
        return false
    }
}
