internal import Changesets
package import SQLite
package import Schemas
internal import Subscriptions
package import Versions

/// The agent's replica of one realm: a plain SQLite file that any program may read and write.
///
/// It belongs to one actor: its calls block on the disk and on other programs' locks. While it is
/// open no other agent can open the file. After a throw the file is as it was before the call,
/// except for local writes that `integrate` drained first.
package final class RealmFile {
    let configuration: LocalRealmConfiguration
    let connection: Connection
    /// Milliseconds since 1970.
    let clock: () -> Int64
    private var lock: FileLock?
    private let isAdoptedCopy: Bool
    let statements: StatementPool
    let remoteTriggers: RemoteTriggers
    /// Whether the connection is open now.
    package let rest: FileRest
    private let unsubscribedTargets = UnsubscribedTargets()
    package let ownWrites: OwnWrites
    /// Declarations about single properties beyond their type.
    var options: [PropertyName: PropertyOptions]
    /// As committed; a transaction works on a copy.
    var committed: Draft
    /// Whether everything committed so far would survive a power cut.
    package internal(set) var isDurable: Bool
    /// The history is known to have no local changeset: a file that rests need not be asked. Ends with each write.
    var hasEmptyHistory = false

    init(
        configuration: LocalRealmConfiguration,
        connection: Connection,
        lock: FileLock,
        opening: RealmFileSetup,
        isDurable: Bool,
        records: RestRecords?,
        tracesWithoutWrites: FileTraces? = nil,
        clock: @escaping () -> Int64
    ) {
        self.ownWrites = OwnWrites(tracesWithoutWrites: tracesWithoutWrites)
        self.isDurable = isDurable
        self.configuration = configuration
        self.connection = connection
        self.lock = lock
        self.clock = clock
        self.statements = StatementPool(connection)
        self.remoteTriggers = RemoteTriggers(configuration.remoteTriggers, on: connection)
        self.rest = FileRest(
            configuration.path,
            connection,
            statements,
            remoteTriggers,
            recordedBy: records
        )
        self.committed = opening.draft
        self.options = opening.options
        self.isAdoptedCopy = opening.isAdoptedCopy
        rest.readRealm = { [unowned self] in try readRealm() }
        rest.stateWithoutWork = { [unowned self] in try stateWithoutWork() }
    }
}

// MARK: Opening and closing

extension RealmFile {
    /// Opens the realm, and creates the file if there is none.
    ///
    /// One that nothing has touched since this program closed it, and in which nothing waits, is not read before its
    /// first use.
    package static func open(
        _ configuration: LocalRealmConfiguration,
        clock: @escaping () -> Int64,
        random: inout some RandomNumberGenerator
    ) throws(LocalRealmError) -> RealmFile {
        let path = configuration.path
        return try mappingErrors(path) {
            let lock = try FileLock(path: path + ".lock")
            try FileHome.createIfMissing(path: path)
            let records = RestRecords(configuration, lock)
            if let records, let file = unread(configuration, lock, records, clock) { return file }
            let connection = try Connection(path: path, connectionOptions(configuration))
            let opening = try RealmFileSetup(configuration, connection, random: &random)
            let file = RealmFile(
                configuration: configuration,
                connection: connection,
                lock: lock,
                opening: opening,
                // Without a log everything is in the file, where a checkpoint has made it durable.
                isDurable: FileHome.size(of: path + "-wal") == 0,
                records: records,
                clock: clock
            )
            try file.settleBootstrap()
            return file
        }
    }

    static func connectionOptions(
        _ configuration: LocalRealmConfiguration
    ) -> Connection.Options {
        .init(mode: .readWrite, vfs: configuration.vfs, busyTimeout: configuration.busyTimeout)
    }

    /// Closes the file and releases the lock; every later call fails.
    package func close() {
        rest.close()
        lock = nil
    }

    /// Counts progress of long calls on the meter.
    package func countSteps(on meter: WorkMeter) {
        connection.countSteps(on: meter)
    }

    /// The classes that have tables, declared or learned.
    package var schema: RealmSchema {
        get throws(LocalRealmError) { try mappingErrors { committed.catalogue.schema } }
    }

    package var status: LocalRealmStatus {
        let state = committed.state
        return LocalRealmStatus(
            instance: Hexadecimal.text(of: state.instance),
            home: state.home,
            isAdoptedCopy: isAdoptedCopy,
            localVersion: state.localVersion,
            historyBaseVersion: state.historyBaseVersion,
            fileIdent: state.fileIdent,
            progress: state.progress,
            downloadedBytes: state.downloadedBytes,
            downloadableBytes: state.downloadableBytes,
            uploadedBytes: state.uploadedBytes,
            uploadableBytes: state.uploadableBytes,
            isFirstDownloadFinished: state.isFirstDownloadFinished,
            subscriptions: committed.subscriptions,
            scope: state.owner.scope,
            migration: committed.migration,
            ingest: committed.catalogue.hasAsymmetricClasses ? committed.ingest : nil,
            unsubscribedTargets: unsubscribedTargets.value(committed)
        )
    }
}

// MARK: What the session reads and writes

extension RealmFile {
    /// Stores the ident that the server has assigned; durable when the call returns (sync history,
    /// 4).
    package func storeFileIdent(_ ident: SaltedFileIdent) throws(LocalRealmError) {
        try mappingErrors {
            let known = committed.state.fileIdent
            guard known == .none else {
                throw LocalRealmError(
                    .identAlreadySet,
                    path: configuration.path,
                    "the file already has ident \(known.ident.rawValue)"
                )
            }
            try write(.full) { draft in
                var state = draft.state
                defer { draft.state = state }
                state.fileIdent = ident
                state.progress.download = DownloadCursor(
                    serverVersion: state.progress.download.serverVersion,
                    lastIntegratedClientVersion: .zero
                )
                state.progress.upload = UploadCursor(
                    clientVersion: .zero,
                    lastIntegratedServerVersion: state.progress.upload.lastIntegratedServerVersion
                )
                _ = state.advanceVersion()
            }
        }
    }

    /// The next local changesets to send: those above the cursor, up to a version (sync history, 6.1).
    package func scanUploads(
        from cursor: UploadCursor,
        upTo end: ClientVersion
    ) throws(LocalRealmError) -> UploadBatch {
        func scan(_ history: History?) throws(SQLiteError) -> UploadBatch {
            let state = committed.state
            return try History.scanUploads(
                history,
                from: cursor,
                through: end,
                base: state.historyBaseVersion,
                newest: state.localVersion,
                integrated: state.progress.download.serverVersion
            )
        }
        return hasEmptyHistory
            ? try mappingErrorsAtRest { try scan(nil) }
            : try mappingErrors { try scan(History(connection: connection)) }
    }

    /// Makes everything committed so far survive a power cut. Call it before reporting any of that
    /// to the server, which would otherwise know more than the file (local realm, 6).
    package func makeDurable() throws(LocalRealmError) {
        guard !isDurable else { return }
        try mappingErrors {
            try write(.full) { _ in }
        }
    }

    /// Everything that the server had at some moment is in the file, and so is the view of the active
    /// subscription set.
    ///
    /// The first download of flexible sync is finished when the latest set is complete.
    package func markDownloadCompleted() throws(LocalRealmError) {
        let sets = committed.subscriptions
        guard
            !committed.state.isFirstDownloadFinished || sets?.isAwaitingMark == true
                || committed.migration?.isUnsettled(sets) == true
        else { return }
        try mappingErrors {
            try write(.normal) { draft in
                try draft.changeSubscriptions(on: connection) { $0.markAnswered() }
                try draft.advanceMigration(on: connection, now: clock())
                if draft.subscriptions.map({ $0.latest.state == .complete }) ?? true {
                    draft.state.isFirstDownloadFinished = true
                }
            }
        }
    }

    /// Everything up to this version has been integrated by the server, or needs no upload
    /// (sync history, 9.3).
    package func acknowledgedVersion() throws(LocalRealmError) -> ClientVersion {
        let state = committed.state
        let passed = max(state.progress.upload.clientVersion, state.historyBaseVersion)
        guard !hasEmptyHistory else { return max(state.localVersion, passed) }
        return try mappingErrors {
            let history = History(connection: connection)
            let first = try history.firstLocalVersion(after: .zero)
            hasEmptyHistory = first == nil
            let isPassed = first.map { $0 <= passed } ?? false
            let next = isPassed ? try history.firstLocalVersion(after: passed) : first
            return next.map { ClientVersion($0.rawValue.subtracting(clamping: 1)) }
                ?? max(state.localVersion, passed)
        }
    }
}
