import Changesets
import Schemas
import Versions

/// Brings the schema that is declared for an app into one of its files, as history that the server
/// makes itself (app services, 12.2).
struct SchemaPublication {
    let transaction: any StoreTransaction
    let versionSalts: VersionSalts
    /// Milliseconds since 1970.
    let now: Int64

    /// Adds what the file lacks; returns the new version, or nil if it lacks nothing.
    func publish(_ declared: RealmSchema, in id: ServerFileID) throws -> ServerVersion? {
        var schema = try transaction.schema(of: id)
        if let conflict = schema.conflicts(withDeclared: declared).first {
            throw IntegrationRefusal.schemaChange(reason: "\(conflict)")
        }
        guard declared.hasAdditions(to: schema), var file = try transaction.file(id) else {
            return nil
        }
        var writer = ChangesetWriter()
        declared.writeAdditions(to: schema, into: &writer)
        let changeset = try Changeset(decoding: writer.bytes)
        for instruction in changeset.instructions {
            _ = try schema.apply(instruction, strings: changeset.strings)
        }
        try transaction.putSchema(schema, of: id)
        file.currentVersion = ServerVersion(file.currentVersion.rawValue + 1)
        file.historySizeInBytes += UInt64(writer.sizeInBytes)
        try transaction.append(
            HistoryEntry(
                version: SaltedServerVersion(
                    version: file.currentVersion,
                    salt: versionSalts.salt(of: file)
                ),
                origin: .none,
                clientVersion: .zero,
                timestamp: OriginTimestamp(millisecondsSince1970: now) ?? OriginTimestamp(0),
                changeset: writer.bytes,
                cumulativeSizeInBytes: file.historySizeInBytes
            ),
            to: id
        )
        return file.currentVersion
    }
}
