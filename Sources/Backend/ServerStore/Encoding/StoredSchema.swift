import Changesets
package import Schemas

/// The stored form of a schema: the changeset that creates it.
package enum StoredSchema {
    package static func encode(_ schema: RealmSchema) -> [UInt8] {
        var writer = ChangesetWriter()
        schema.writeAdditions(to: RealmSchema(), into: &writer)
        return writer.bytes
    }

    /// Nil if `encode` did not write the bytes.
    package static func decode(_ bytes: [UInt8]) -> RealmSchema? {
        var schema = RealmSchema()
        guard let changeset = try? Changeset(decoding: bytes),
            (try? schema.apply(schemaOf: changeset)) != nil
        else { return nil }
        return schema
    }
}
