import Schemas
import ServerStore
import Synchronization

/// The last decoded schemas of a process, by file and version: every scan for a download needs one, and
/// few change.
final class SharedSchemas: Sendable {
    struct Entry: Sendable {
        let version: Int64
        let schema: RealmSchema
        /// Of the encoded schema; a decoded one takes some ten times as much.
        let sizeInBytes: Int
    }

    private struct State {
        var entries: [ServerFileID: Entry] = [:]
        var sizeInBytes = 0
    }

    private static let limitInBytes = 1 << 20
    private let state = Mutex(State())

    subscript(file: ServerFileID) -> Entry? {
        state.withLock { $0.entries[file] }
    }

    func removeAll() {
        state.withLock { $0 = State() }
    }

    /// The schema that the rows of `SchemaRows.reading` have; without a row, the known one or none.
    func schema(
        of file: ServerFileID,
        _ rows: StoredRows,
        unless known: Entry?
    ) throws(StoreError) -> RealmSchema {
        guard let (version, bytes) = try SchemaRows.schema(rows) else {
            return known?.schema ?? RealmSchema()
        }
        let schema = try SchemaRows.decode(bytes, of: file)
        let entry = Entry(version: version, schema: schema, sizeInBytes: bytes.count)
        guard bytes.count <= Self.limitInBytes / 4 else { return schema }
        state.withLock { state in
            state.sizeInBytes -= state.entries.removeValue(forKey: file)?.sizeInBytes ?? 0
            if state.sizeInBytes + bytes.count > Self.limitInBytes {
                state = State()
            }
            state.entries[file] = entry
            state.sizeInBytes += bytes.count
        }
        return schema
    }
}
