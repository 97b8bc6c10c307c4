import PostgreSQL
import ServerStore
import Versions

/// The reciprocals of one client that a transaction has read and written.
struct ReciprocalBuffer: Sendable {
    /// Not sent yet: those up to this version are removed.
    private(set) var removedUpTo: ServerVersion?
    /// Not sent yet.
    private(set) var written: [ServerVersion: [UInt8]] = [:]
    private var loaded: Page?

    /// Reciprocals of the database that were read together.
    struct Page: Sendable {
        /// They begin after it.
        let start: ServerVersion
        /// The last one that was looked at; nil: there are no more.
        let end: ServerVersion?
        let changesets: [ServerVersion: [UInt8]]

        /// Reads the rows of `ReciprocalRows.readingPage`.
        init(_ rows: StoredRows, after start: ServerVersion) throws(StoreError) {
            var changesets: [ServerVersion: [UInt8]] = [:]
            var last: ServerVersion?
            var size = 0
            for row in 0..<rows.count {
                let version = ServerVersion(try rows.number(row, 0))
                let changeset = try rows.bytes(row, 1)
                changesets[version] = changeset
                size += changeset.count
                last = version
            }
            self.start = start
            self.end = ReciprocalRows.isFull(rows: rows.count, bytes: size) ? last : nil
            self.changesets = changesets
        }
    }

    enum Content: Hashable {
        case changeset([UInt8])
        case absent
        /// The database must be asked.
        case unknown
    }

    func content(of version: ServerVersion) -> Content {
        if let changeset = written[version] { return .changeset(changeset) }
        if let removedUpTo, version <= removedUpTo { return .absent }
        guard let loaded, version > loaded.start, loaded.end.map({ version <= $0 }) ?? true else {
            return .unknown
        }
        return loaded.changesets[version].map { .changeset($0) } ?? .absent
    }

    /// The database's reciprocals after a version, as the transaction sees them.
    func overlaid(
        on stored: [ServerVersion: [UInt8]],
        after version: ServerVersion
    ) -> [ServerVersion: [UInt8]] {
        var result = stored
        if let removedUpTo { result = result.filter { $0.key > removedUpTo } }
        return result.merging(written.filter { $0.key > version }) { _, newer in newer }
    }

    mutating func note(_ page: Page) {
        loaded = page
    }

    mutating func write(_ changeset: [UInt8], of version: ServerVersion) {
        written[version] = changeset
    }

    mutating func remove(upTo version: ServerVersion) {
        written = written.filter { $0.key > version }
        removedUpTo = max(removedUpTo ?? version, version)
    }

    /// The statements for the changes, which the database then has.
    mutating func takeSteps(for ident: FileIdent, in file: ServerFileID) -> [Step] {
        var steps: [Step] = []
        if let removedUpTo {
            steps.append(ReciprocalRows.removal(for: ident, in: file, upTo: removedUpTo))
        }
        if !written.isEmpty {
            steps.append(ReciprocalRows.putting(written, for: ident, in: file))
        }
        self = ReciprocalBuffer()
        return steps
    }
}
