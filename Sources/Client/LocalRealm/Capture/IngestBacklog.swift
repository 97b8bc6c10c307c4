internal import Changesets
internal import SQLite
internal import Versions

/// The objects of asymmetric classes that are on their way to the server: they are in no table, only in the
/// history, until the server has integrated them (flexible sync, 14).
package struct IngestBacklog: Hashable, Sendable {
    /// Objects that the server has taken since the file was opened.
    package private(set) var uploadedCount: UInt64 = 0
    /// By ascending version.
    private var entries: [Entry] = []

    private struct Entry: Hashable {
        let version: ClientVersion
        let count: Int
        let stamp: OriginTimestamp
    }

    /// Captured objects that the server has not taken yet.
    package var pendingCount: Int { entries.reduce(0) { $0 + $1.count } }

    /// When the oldest of these was written, in milliseconds since 1970; nil if there is none.
    package var oldestPending: Int64? { entries.first?.stamp.millisecondsSince1970 }

    mutating func add(_ count: Int, in version: ClientVersion, at stamp: OriginTimestamp) {
        guard count > 0 else { return }
        entries.append(Entry(version: version, count: count, stamp: stamp))
    }

    /// The server has integrated everything up to a version.
    mutating func acknowledge(through version: ClientVersion) {
        let rest = entries.drop { $0.version <= version }
        guard rest.count < entries.count else { return }
        uploadedCount += UInt64(entries[..<rest.startIndex].reduce(0) { $0 + $1.count })
        entries = Array(rest)
    }

    /// Counts the objects of the history again.
    mutating func reload(
        _ catalogue: Catalogue,
        after acknowledged: ClientVersion,
        on connection: Connection
    ) throws {
        entries = []
        let names = Set(catalogue.tables.filter(\.isAsymmetric).map(\.name))
        guard !names.isEmpty else { return }
        let statement = try connection.prepare(
            """
            SELECT version, origin_timestamp, changeset FROM _realm_history
            WHERE version > ?1 AND origin_file_ident = 0 AND length(changeset) > 0 ORDER BY version
            """
        )
        try statement.bind(Int64(clamping: acknowledged.rawValue), at: 1)
        while try statement.step() {
            // The upload reports one that cannot be read.
            guard let changeset = try? Changeset(decoding: statement.bytes(at: 2)) else { continue }
            let count = changeset.instructions.count { instruction in
                guard case .createObject(let target) = instruction else { return false }
                return names.contains(changeset.text(target.className))
            }
            add(
                count,
                in: ClientVersion(UInt64(clamping: statement.integer(at: 0))),
                at: OriginTimestamp(stored: statement.integer(at: 1))
            )
        }
    }
}
