internal import Changesets
internal import SQLite
internal import Versions

/// A drain in two steps: the changesets are made in a read transaction, and the write lock is only taken to store them.
///
/// Programs can write meanwhile: the rows that they log later have higher numbers, and stay in the log. Only a drain
/// that writes nothing but changesets and the list of links is prepared: none with deleted objects, objects of
/// asymmetric classes, or values to repair or reject.
struct PreparedDrain {
    private let draft: Draft
    private(set) var report: CaptureReport
    private let changesets: [Changeset]
    private let links: [BacklinkRefresh.Change]
    private let publishedVersion: ClientVersion?
    /// The last row of the log that is in them; nil if the log is empty.
    private let lastSequence: Int64?
    /// The rows up to that one.
    private let rowCount: Int
    /// Whether the log had more rows at the time.
    let leavesRows: Bool

    /// A changeset with its place in the history.
    struct Changeset {
        let version: ClientVersion
        let originTimestamp: OriginTimestamp
        let remoteVersion: ServerVersion
        let bytes: [UInt8]

        func append(to history: History) throws(SQLiteError) {
            try history.append(
                version,
                originTimestamp: originTimestamp,
                remoteVersion: remoteVersion,
                changeset: bytes
            )
        }
    }

    /// The file is not as it was prepared for.
    struct Outdated: Error {}

    /// The changesets that are in memory at once; the rest of the log waits for the next drain.
    private static let limitInBytes = 8 << 20
    private static let limitInLinkChanges = 20_000

    /// Nil if the drain has to write more than changesets and links. Call it in a read transaction.
    init?(_ drain: consuming Drain) throws {
        var groups = 0
        let links: [BacklinkRefresh.Change]
        do {
            try drain.readPiece()
            guard !drain.log.hasMore,
                let changes = try drain.backlinkRefresh.changes(atMost: Self.limitInLinkChanges)
            else { return nil }
            links = changes
            drain.publishSchema()
            while groups < drain.log.groups.count, drain.preparedBytes < Self.limitInBytes {
                try drain.drain(groups)
                groups += 1
            }
        } catch is Drain.NeedsWriteLock {
            return nil
        }
        // A schema without data.
        guard drain.changeset.isEmpty else { return nil }
        leavesRows = groups < drain.log.groups.count
        lastSequence =
            leavesRows ? drain.log.groups[groups - 1].lastSequence : drain.log.lastSequence
        rowCount = try Self.rows(upTo: lastSequence, on: drain.connection)
        changesets = drain.prepared ?? []
        self.links = links
        publishedVersion = drain.publishedVersion
        draft = drain.draft
        report = drain.report
        report.localVersion = draft.state.localVersion
        report.notices = drain.impossible.notice.map { [$0] } ?? []
    }

    private static func rows(
        upTo sequence: Int64?,
        on connection: Connection
    ) throws(SQLiteError) -> Int {
        guard let sequence else { return 0 }
        let count = try connection.integer(
            "SELECT count(*) FROM _realm_capture WHERE seq <= ?1",
            [.integer(sequence)]
        )
        return Int(count ?? 0)
    }

    /// Whether a log of the size is worth two transactions, and deletes no object.
    static func isWorthwhile(
        on connection: Connection,
        rows: ClosedRange<Int>
    ) throws(SQLiteError) -> Bool {
        let first = try connection.integer("SELECT min(seq) FROM _realm_capture")
        let last = try connection.integer("SELECT max(seq) FROM _realm_capture")
        guard let first, let last,
            case let span = last.subtracting(clamping: first).adding(clamping: 1),
            rows.contains(Int(span))
        else { return false }
        return try !CaptureLog.hasDeletions(on: connection)
    }

    /// Call it in a write transaction with a copy of the draft that the drain was prepared with.
    func store(on connection: Connection, _ draft: inout Draft) throws {
        guard try draft.isVerified(on: connection) else { throw Outdated() }
        if let publishedVersion {
            try CatalogueStore(connection: connection).markAllPublished(publishedVersion)
        }
        let backlinks = Backlinks(connection: connection, catalogue: draft.catalogue)
        for change in links { try change.store(in: backlinks) }
        let history = History(connection: connection)
        for changeset in changesets { try changeset.append(to: history) }
        try deleteRows(on: connection)
        draft = self.draft
    }

    private func deleteRows(on connection: Connection) throws {
        guard let lastSequence else { return }
        let newest = try connection.integer("SELECT max(seq) FROM _realm_capture")
        try CaptureLog.deleteRows(
            upTo: lastSequence,
            isLast: newest == lastSequence,
            on: connection
        )
        // A program has written to the log itself.
        guard connection.changes == rowCount else { throw Outdated() }
    }
}
