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

    /// Adds missing classes and properties; returns the new version, or nil if none is missing.
    func publish(_ declared: RealmSchema, in id: ServerFileID) throws -> ServerVersion? {
        var schema = try transaction.schema(of: id)
        if let conflict = schema.conflicts(withDeclared: declared).first {
            throw IntegrationRefusal.schemaChange(reason: "\(conflict)")
        }
        guard declared.hasAdditions(to: schema), let file = try transaction.file(id) else {
            return nil
        }
        var writer = ChangesetWriter()
        declared.writeAdditions(to: schema, into: &writer)
        let changeset = try Changeset(decoding: writer.bytes)
        for instruction in changeset.instructions {
            _ = try schema.apply(instruction, strings: changeset.strings)
        }
        try transaction.putSchema(schema, of: id)
        var history = HistoryAppender(to: file, in: transaction, now: now)
        try history.append(writer.bytes, by: .server)
        try history.flush()
        return history.file.currentVersion
    }
}
