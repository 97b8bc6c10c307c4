internal import Changesets
internal import Glibc
internal import SQLite
internal import Schemas
import Scopes
internal import Versions

/// Makes a realm file from another one (features, 11).
///
/// The source is read as of one moment, while other programs may use it, and is not written to. The
/// destination appears whole or not at all, and never replaces another file.
package struct RealmCopy: Sendable {
    private let form: Form
    /// Milliseconds since 1970.
    private let now: Int64

    /// The kind of copy.
    package enum Form: Hashable, Sendable {
        /// A client file of its own that continues where the source is (C6, C10), for another user
        /// if one is named. The source must have no pending uploads. Of a non-synced file, another
        /// such file.
        case replica(userID: String?)
        /// The same, as a seed for the realm of that owner (O19); also from a file that was never
        /// synced.
        case seed(RealmOwner)
        /// A non-synced file (C4).
        case local
        /// A client file whose first upload is its whole content (C2).
        case upload(RealmOwner)
    }

    package init(_ form: Form, now: Int64) {
        self.form = form
        self.now = now
    }

    /// The result of a copy.
    package struct Report: Hashable, Sendable {
        package let sizeInBytes: UInt64
        /// Bytes of changesets that the copy will upload.
        package let pendingUploadBytes: UInt64
        /// Values that no other replica could hold, which are defaults in the copy.
        package let rejected: [RejectedValue]
    }

    /// - Throws: `realm.pending_uploads` if the source has pending uploads and the form forbids
    ///   that; `realm.file_exists`; `realm.wrong_owner` if the source does not fit the form; and
    ///   any error of the two files.
    package func make(from source: String, to destination: String) throws(LocalRealmError) -> Report
    {
        try RealmFile.mappingErrors(destination) {
            let place = try CopyDestination(destination)
            defer { place.clear() }
            try RealmFile.reading(source) { connection in
                do throws(SQLiteError) {
                    try connection.run("VACUUM INTO ?1", [.text(place.draft)])
                } catch {
                    throw LocalRealmError(error, path: destination)
                }
            }
            let outcome = try convert(place.draft, source: source)
            try place.publish()
            return Report(
                sizeInBytes: FileHome.size(of: destination),
                pendingUploadBytes: outcome.state.uploadableBytes,
                rejected: outcome.rejected
            )
        }
    }

    /// The file that grows while a copy is made, beside it.
    static func draft(of destination: String) -> String { destination + ".partial" }

    /// The present sizes of an unfinished copy and of its source; 0 for a file that does not exist.
    package static func sizes(
        from source: String,
        to destination: String
    ) -> (copyInBytes: UInt64, sourceInBytes: UInt64) {
        (FileHome.size(of: draft(of: destination)), FileHome.size(of: source))
    }

    private struct Outcome {
        var state: RealmStateRow
        var rejected: [RejectedValue] = []
    }

    private func convert(_ draft: String, source: String) throws -> Outcome {
        let connection = try Connection(path: draft, .init(mode: .readWrite))
        defer { connection.close() }
        try connection.setTriggersEnabled(false)
        // A single file, which can be read in a directory without write permission.
        try connection.execute("PRAGMA journal_mode = DELETE")
        try connection.execute("PRAGMA synchronous = FULL")
        try connection.execute("PRAGMA ignore_check_constraints = ON")
        let outcome = try connection.transaction(.immediate) {
            guard var state = try RealmStateRow(from: connection) else {
                throw LocalRealmError(.corrupt, path: source, "the file has no state row")
            }
            try checkOwner(state.owner, source)
            try BootstrapStore(connection: connection).removeAll()
            try Self.removeTraces(on: connection)
            state.instance = [UInt8](repeating: 0, count: 16)
            state.home = ""
            let outcome = try convert(state, connection, source: source)
            try outcome.state.save(to: connection)
            return outcome
        }
        // Removed data must not stay readable in free pages.
        if try connection.integer("PRAGMA freelist_count") != 0 { try connection.execute("VACUUM") }
        return outcome
    }

    /// Deletes the source's reset attempt and rejected writes, which the copy must not inherit.
    private static func removeTraces(on connection: Connection) throws(SQLiteError) {
        for table in ["_realm_reset", "_realm_issue", "_realm_reject"] {
            try connection.execute("DELETE FROM \(table)")
        }
    }
}

// MARK: The forms

extension RealmCopy {
    private func convert(
        _ state: RealmStateRow,
        _ connection: Connection,
        source: String
    ) throws -> Outcome {
        var state = state
        switch form {
        case .replica where state.owner.scope == .unsynced:
            return Outcome(state: state)
        case .replica(let userID):
            try Self.requireUploaded(on: connection, source)
            if let userID { state.owner = state.owner.belonging(to: userID) }
            try Self.resetIdent(&state, connection)
            return Outcome(state: state)
        case .seed(let owner):
            state.owner = owner
            guard state.progress.latestServerVersion.version != .zero else {
                // Its first upload is still pending.
                state.fileIdent = .none
                return Outcome(state: state)
            }
            try Self.requireUploaded(on: connection, source)
            try Self.resetIdent(&state, connection)
            return Outcome(state: state)
        case .local:
            try Self.leave(connection)
            try connection.execute(Self.uncapturedTrigger)
            return Outcome(state: Self.state(of: .unsynced, state))
        case .upload(let owner):
            try Self.leave(connection)
            return try upload(Self.state(of: owner, state), connection)
        }
    }

    private func checkOwner(_ owner: RealmOwner, _ source: String) throws(LocalRealmError) {
        let problem: String
        switch form {
        case .local:
            return
        case .upload:
            guard owner.scope == .subscriptions else { return }
            problem =
                "the file uses flexible sync, which has no partitions; copy it as a local one"
        case .replica(let userID):
            guard owner.scope == .unsynced, userID != nil else { return }
            problem = "the file is not synced, so it has no user; copy it with a partition"
        case .seed(let wanted):
            guard owner.appID != wanted.appID || owner.scope != wanted.scope else { return }
            problem = "the seed belongs to \(owner); it is configured for \(wanted)"
        }
        throw LocalRealmError(.wrongOwner, path: source, problem)
    }

    /// Requires that nothing is pending, and nothing could be sent back under the new ident.
    private static func requireUploaded(
        on connection: Connection,
        _ source: String
    ) throws {
        let hasWrites = try !CaptureLog.isEmpty(on: connection)
        guard !hasWrites, try connection.integer(unpassed) == nil else {
            throw LocalRealmError(
                .pendingUploads,
                path: source,
                "the file has writes that are not uploaded"
            )
        }
    }

    private static let unpassed = """
        SELECT 1 FROM _realm_history WHERE origin_file_ident = 0 AND length(changeset) > 0 LIMIT 1
        """

    /// Resets the ident and the counters under it; everything else is kept (sync history, 4).
    private static func resetIdent(
        _ state: inout RealmStateRow,
        _ connection: Connection
    ) throws(SQLiteError) {
        try connection.execute("DELETE FROM _realm_history")
        state.historyBaseVersion = state.localVersion
        state.fileIdent = .none
        state.progress.download = .init(
            serverVersion: state.progress.download.serverVersion,
            lastIntegratedClientVersion: .zero
        )
        state.progress.upload = .init(
            clientVersion: .zero,
            lastIntegratedServerVersion: state.progress.upload.lastIntegratedServerVersion
        )
        state.downloadedBytes = 0
        state.uploadedBytes = 0
        state.uploadableBytes = 0
    }

    /// Removes everything about servers.
    private static func leave(_ connection: Connection) throws(SQLiteError) {
        for table in [
            "_realm_history", "_realm_capture", "_realm_subscription",
            "_realm_subscription_set", "_realm_bootstrap", "_realm_bootstrap_changeset",
            "_realm_migration", "_realm_schema_migration",
        ] {
            try connection.execute("DELETE FROM \(table)")
        }
        for table in ["_realm_class", "_realm_property"] {
            try connection.execute("UPDATE \(table) SET published = 0")
        }
        try connection.execute("DROP TRIGGER IF EXISTS \(uncaptured)")
        try TableDefinition.dropDenyTriggers(on: connection)
    }

    private static func state(of owner: RealmOwner, _ old: RealmStateRow) -> RealmStateRow {
        RealmStateRow(instance: old.instance, home: old.home, owner: owner)
    }

    /// In a non-synced file nothing would empty the log; the other triggers continue to check
    /// values.
    private static let uncaptured = "\(Layout.prefix)uncaptured"
    private static let uncapturedTrigger = """
        CREATE TRIGGER \(uncaptured) BEFORE INSERT ON _realm_capture BEGIN
          SELECT RAISE(IGNORE);
        END
        """

    /// Logs every object as if it had just been inserted, and drains the log into the history.
    private func upload(_ state: RealmStateRow, _ connection: Connection) throws -> Outcome {
        var draft = Draft(
            state: state,
            catalogue: try CatalogueStore(connection: connection).load(options: [:])
        )
        try draft.verify(on: connection)
        for table in draft.catalogue.tables {
            let key = SQLText.name(table.keyColumn)
            try connection.run(
                """
                INSERT INTO _realm_capture(at, class, key, prop)
                SELECT ?1, ?2, \(key), 0 FROM \(SQLText.name(table.tableName))
                """,
                [.integer(now), .integer(table.id)]
            )
        }
        let statements = StatementPool(connection)
        var drain = Drain(
            draft,
            connection,
            statements,
            now: now,
            splitGap: .seconds(10),
            counters: [],
            limits: .init()
        )
        try drain.run()
        statements.removeAll()
        return Outcome(state: drain.draft.state, rejected: drain.report.rejected)
    }
}

extension RealmOwner {
    /// The owner of a non-synced file.
    package static let unsynced = RealmOwner(appID: "", userID: "", scope: .unsynced)

    fileprivate func belonging(to userID: String) -> RealmOwner {
        RealmOwner(appID: appID, userID: userID, scope: scope)
    }
}
