import Settings

/// `apps.APP.sql`: typed views of the app's objects in a store on PostgreSQL (server on PostgreSQL, 5).
extension NodeReader {
    func viewPlace() -> ViewPlace? {
        either(
            scalar: { node in node.bool().map { $0 ? .usual : .off } },
            collection: { node in
                node.mapping { keys in
                    keys.optional("schema") { $0.schemaName() }.map { .schema($0) } ?? .usual
                }
            }
        )
    }
}
