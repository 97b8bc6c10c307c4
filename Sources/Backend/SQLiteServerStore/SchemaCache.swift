import Schemas
import ServerStore

/// The last decoded schemas, by file: every scan for a download needs one, and few change.
///
/// The store is authoritative; a changed schema is decoded again.
struct SchemaCache {
    private var entries: [ServerFileID: (bytes: [UInt8], schema: RealmSchema)] = [:]
    private var sizeInBytes = 0

    /// The size of encoded schemas; decoded ones take some ten times as much.
    private static let limitInBytes = 1 << 20

    /// Nil if the bytes are not a stored schema.
    mutating func decode(_ bytes: [UInt8], of file: ServerFileID) -> RealmSchema? {
        if let entry = entries[file], entry.bytes == bytes { return entry.schema }
        guard let schema = StoredSchema.decode(bytes) else { return nil }
        sizeInBytes -= entries.removeValue(forKey: file)?.bytes.count ?? 0
        guard bytes.count <= Self.limitInBytes / 4 else { return schema }
        if sizeInBytes + bytes.count > Self.limitInBytes {
            entries = [:]
            sizeInBytes = 0
        }
        entries[file] = (bytes, schema)
        sizeInBytes += bytes.count
        return schema
    }
}
