import Changesets
import Schemas
import ServerStore
import Versions

/// Adds the declared schema of an app to one of its files, as history of the server (app services,
/// 12.2).
struct SchemaPublication {
    let transaction: any StoreTransaction
    /// Milliseconds since 1970.
    let now: Int64

    /// Whether the file has all of the declared schema. Throws `IntegrationRefusal` if they contradict each
    /// other.
    static func isComplete(
        _ declared: RealmSchema,
        in id: ServerFileID,
        _ store: any FileReading
    ) throws -> Bool {
        let schema = try store.schema(of: id)
        if let conflict = schema.conflicts(withDeclared: declared).first {
            throw IntegrationRefusal.schemaChange(reason: "\(conflict)")
        }
        return !declared.hasAdditions(to: schema)
    }

    /// Adds missing classes and properties; returns the new version, or nil if none is missing.
    func publish(_ declared: RealmSchema, in id: ServerFileID) throws -> ServerVersion? {
        guard try !Self.isComplete(declared, in: id, transaction),
            let file = try transaction.file(id)
        else { return nil }
        var schema = try transaction.schema(of: id)
        var writer = ChangesetWriter()
        declared.writeAdditions(to: schema, into: &writer)
        try schema.apply(schemaOf: Changeset(decoding: writer.bytes))
        try transaction.putSchema(schema, of: id)
        var history = HistoryAppender(to: file, in: transaction, now: now)
        try history.append(writer.bytes, by: .server)
        try history.flush()
        return history.file.currentVersion
    }
}
