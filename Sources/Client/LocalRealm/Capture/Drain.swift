internal import Changesets
internal import Documents
internal import SQLite
internal import Schemas
internal import Versions

/// Turns the capture log into changesets of the history, within the current transaction
/// (local realm, 4).
struct Drain {
    let connection: Connection
    let statements: StatementPool
    /// Milliseconds since 1970.
    let now: Int64
    var draft: Draft
    private let splitGapInMilliseconds: Int64
    private let limits: CaptureLog.Limits
    let backlinks: Backlinks
    /// The piece of the log that is being drained.
    var log: CaptureLog
    /// The references of the log's objects in changesets; nil for invalid keys.
    var references: [ObjectReference?] = []
    var changeset = ChangesetWriter()
    /// The version that publishes the schema; nil if it is published already.
    private(set) var publishedVersion: ClientVersion?
    /// Objects of asymmetric classes in the changeset.
    var ingestedCount = 0
    private var stamp = OriginTimestamp(0)
    private(set) var impossible = ImpossibleValues()
    var report: CaptureReport
    /// The value on other replicas if a group left one that cannot be sent.
    var unsent: [Place: Documents.Value] = [:]
    let diff: ValueDiff
    /// Whether a new link to an object that does not exist is a value that cannot be sent.
    let requiresLinkTargets: Bool
    let hasAsymmetricClasses: Bool
    /// Whether new objects take the direct paths; tests compare both.
    let isDirect: Bool
    /// Nil if changesets go to the history as they are made.
    private(set) var prepared: [PreparedDrain.Changeset]?
    /// The size of these.
    private(set) var preparedBytes = 0

    /// The most rejected values kept in the file.
    private static let keptIssues = 1000

    /// A changeset larger than this, of one statement, is cut at the next object (local realm, 4.2).
    static let changesetLimitInBytes = 15 << 20

    /// This machine's clock is before 2015, so changesets cannot be stamped.
    struct ClockBeforeEpoch: Error {}

    /// More has to be written than a prepared drain may.
    struct NeedsWriteLock: Error {}

    init(
        _ draft: Draft,
        _ connection: Connection,
        _ statements: StatementPool,
        now: Int64,
        splitGap: Duration,
        counters: Set<PropertyName>,
        limits: CaptureLog.Limits,
        requiresLinkTargets: Bool = false,
        isDirect: Bool = true,
        isPrepared: Bool = false
    ) {
        self.prepared = isPrepared ? [] : nil
        self.requiresLinkTargets = requiresLinkTargets
        self.isDirect = isDirect
        self.hasAsymmetricClasses = draft.catalogue.hasAsymmetricClasses
        self.connection = connection
        self.statements = statements
        self.now = now
        self.draft = draft
        self.diff = ValueDiff(schema: draft.catalogue.schema, counters: counters)
        self.report = CaptureReport(localVersion: draft.state.localVersion)
        let (seconds, attoseconds) = splitGap.components
        self.splitGapInMilliseconds = seconds * 1000 + attoseconds / 1_000_000_000_000_000
        self.limits = limits
        self.backlinks = Backlinks(connection: connection, catalogue: draft.catalogue)
        self.log = CaptureLog(tableCount: draft.catalogue.tables.count)
    }

    /// Whether there is anything to do.
    static func isNeeded(on connection: Connection, _ draft: Draft) throws(SQLiteError) -> Bool {
        if isNeeded(by: draft) { return true }
        // An unrelated table, or one whose trigger is missing and logs nothing any more.
        if try !draft.isVerified(on: connection) { return true }
        return try !CaptureLog.isEmpty(on: connection)
    }

    /// The same as far as the file need not be asked: declarations that are in no changeset yet.
    static func isNeeded(by draft: Draft) -> Bool {
        let catalogue = draft.catalogue
        return !draft.notices.isEmpty || catalogue.schema.hasAdditions(to: catalogue.published)
    }

    mutating func run() throws {
        try backlinkRefresh.run()
        try Nullifier(
            connection: connection,
            statements: statements,
            catalogue: draft.catalogue,
            backlinks: backlinks
        ).run()
        publishSchema()
        if let version = publishedVersion {
            try CatalogueStore(connection: connection).markAllPublished(version)
        }
        repeat {
            try readPiece()
            for group in log.groups.indices { try drain(group) }
            if let last = log.lastSequence {
                try CaptureLog.deleteRows(upTo: last, isLast: !log.hasMore, on: connection)
            }
        } while log.hasMore
        // A schema in a changeset without data.
        if !changeset.isEmpty {
            stamp = try stampOfNow()
            try finishChangeset()
        }
        report.localVersion = draft.state.localVersion
    }

    var backlinkRefresh: BacklinkRefresh {
        BacklinkRefresh(
            connection: connection,
            statements: statements,
            catalogue: draft.catalogue,
            backlinks: backlinks
        )
    }

    mutating func drain(_ group: Int) throws {
        stamp = try stamp(of: log.groups[group])
        try write(group)
        try finishChangeset()
    }

    /// Reads the next piece of the log: memory must not grow with it.
    mutating func readPiece() throws {
        let last = log.lastSequence
        // Two pieces at once took 20 MiB more of memory.
        log = CaptureLog(tableCount: draft.catalogue.tables.count)
        references = []
        unsent = [:]
        log = try CaptureLog.read(
            from: connection,
            draft.catalogue,
            statements,
            after: last,
            splitGapInMilliseconds: splitGapInMilliseconds,
            limits: limits
        )
        try readKeys()
    }

    private mutating func readKeys() throws {
        references.reserveCapacity(log.objects.count)
        for index in references.count..<log.objects.count {
            let object = log.objects[index]
            let table = draft.catalogue[object.table]
            do {
                let key = try ColumnForm.decodeKey(object.key, as: table.key)
                references.append(ObjectReference(className: table.name, key: key))
            } catch {
                references.append(nil)
                if object.isPresent {
                    try requireWriteLock()
                    _ = try statements.statements(of: table).delete(object.key)
                    try reject(object, column: nil, object.key, error)
                }
                log.drop(index)
            }
        }
    }

    /// Publishes a new class or property ahead of its first data (local realm, 7.2).
    mutating func publishSchema() {
        let catalogue = draft.catalogue
        guard catalogue.schema.hasAdditions(to: catalogue.published) else { return }
        catalogue.schema.writeAdditions(to: catalogue.published, into: &changeset)
        draft.catalogue.published = catalogue.schema
        publishedVersion = ClientVersion(draft.state.localVersion.rawValue + 1)
    }
}

// MARK: Changesets

extension Drain {
    /// Appends the written instructions to the history as a version of their own (sync history,
    /// 3.2).
    mutating func finishChangeset() throws(SQLiteError) {
        guard !changeset.isEmpty else { return }
        let bytes = changeset.bytes
        changeset = ChangesetWriter()
        let version = draft.state.advanceVersion()
        let entry = PreparedDrain.Changeset(
            version: version,
            originTimestamp: stamp,
            remoteVersion: draft.state.progress.download.serverVersion,
            bytes: bytes
        )
        if prepared != nil {
            prepared?.append(entry)
            preparedBytes += bytes.count
        } else {
            try entry.append(to: History(connection: connection))
        }
        draft.ingest.add(ingestedCount, in: version, at: stamp)
        ingestedCount = 0
        draft.state.lastOriginTimestamp = stamp
        draft.state.uploadableBytes = draft.state.uploadableBytes.adding(
            clamping: UInt64(bytes.count)
        )
        report.changesetCount += 1
    }

    mutating func cutIfLarge() throws {
        guard changeset.sizeInBytes > Self.changesetLimitInBytes else { return }
        // Memory holds the prepared ones.
        try requireWriteLock()
        try finishChangeset()
    }

    func requireWriteLock() throws(NeedsWriteLock) {
        if prepared != nil { throw NeedsWriteLock() }
    }

    /// Never earlier than the one before: a clock that steps back must not make a later write lose
    /// to an earlier one of the same file (sync history, 3.3).
    private mutating func stamp(
        of group: CaptureLog.Group
    ) throws(ClockBeforeEpoch) -> OriginTimestamp {
        let previous = draft.state.lastOriginTimestamp
        if OriginTimestamp.plausibleMilliseconds.contains(group.lastAt),
            let stamp = OriginTimestamp(millisecondsSince1970: group.lastAt)
        {
            return max(stamp, previous)
        }
        // The clock was wrong when the write was captured, or a program has written the log itself.
        // If the clock still is wrong, it has to be set first.
        let latest = try stampOfNow()
        impossible.add("_realm_capture", "seq", group.lastSequence, "at", group.lastAt)
        return group.lastAt < OriginTimestamp.epochOffsetInMilliseconds ? previous : latest
    }

    private func stampOfNow() throws(ClockBeforeEpoch) -> OriginTimestamp {
        guard let stamp = OriginTimestamp(millisecondsSince1970: now) else {
            throw ClockBeforeEpoch()
        }
        return max(stamp, draft.state.lastOriginTimestamp)
    }
}

// MARK: What cannot be sent

extension Drain {
    /// Records a value that does not fit its property's type, or a key that is invalid (column
    /// nil).
    mutating func reject(
        _ object: CaptureLog.ObjectTrace,
        column position: Int?,
        _ value: ColumnValue,
        _ error: FormError
    ) throws {
        try requireWriteLock()
        let table = draft.catalogue[object.table]
        let column = position.map { table.columns[$0] }
        let statement = try connection.statement(
            """
            INSERT INTO _realm_issue(at, class, key, prop, value, reason)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6)
            """
        )
        try statement.bind(now, at: 1)
        try statement.bind(table.id, at: 2)
        try statement.bind(object.key, at: 3)
        if let column { try statement.bind(column.id, at: 4) }
        try statement.bind(value, at: 5)
        try statement.bind("\(error)", at: 6)
        try statement.run()
        // The newest are enough to find a program that writes invalid values.
        try connection.run(
            "DELETE FROM _realm_issue WHERE id <= ?1 - \(Self.keptIssues)",
            [.integer(connection.lastInsertedRowID)]
        )
        report.rejected.append(
            RejectedValue(
                className: table.name,
                key: SQLText.literal(object.key),
                property: column?.name,
                reason: "\(error)"
            )
        )
    }
}
