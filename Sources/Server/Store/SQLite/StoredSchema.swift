import Changesets
import Schemas

/// A schema at rest: the changeset that makes it out of nothing.
enum StoredSchema {
    static func encode(_ schema: RealmSchema) -> [UInt8] {
        var writer = ChangesetWriter()
        schema.writeAdditions(to: RealmSchema(), into: &writer)
        return writer.bytes
    }

    /// Nil if the bytes are not what `encode` writes.
    static func decode(_ bytes: [UInt8]) -> RealmSchema? {
        var schema = RealmSchema()
        guard let changeset = try? Changeset(decoding: bytes) else { return nil }
        for instruction in changeset.instructions {
            guard (try? schema.apply(instruction, strings: changeset.strings)) != nil else {
                return nil
            }
        }
        return schema
    }
}
