internal import Changesets
internal import SQLite
package import Versions

/// The agent's replica of one realm: a plain SQLite file that any program may read and write.
///
/// It belongs to one actor: its calls block on the disk and on other programs' locks. While it is
/// open no other agent can open the file. After a throw the file is as it was before the call, but
/// for local writes that `integrate` took into the history first.
package final class LocalRealm {
    let configuration: LocalRealmConfiguration
    let connection: Connection
    /// Milliseconds since 1970.
    let clock: () -> Int64
    private let lock: FileLock
    private let isAdoptedCopy: Bool
    /// As committed; a transaction works on a copy.
    var state: RealmState
    private var synchronous: Durability?
    /// Whether everything committed so far would survive a power cut.
    private var isDurable = false

    private init(
        configuration: LocalRealmConfiguration,
        connection: Connection,
        lock: FileLock,
        opening: Opening,
        clock: @escaping () -> Int64
    ) {
        self.configuration = configuration
        self.connection = connection
        self.lock = lock
        self.clock = clock
        self.state = opening.state
        self.isAdoptedCopy = opening.isAdoptedCopy
    }

    /// How much a commit is protected against a power cut (local realm, 6).
    enum Durability: String {
        /// Made durable with the next `full` commit, in order.
        case normal = "PRAGMA synchronous = NORMAL"
        /// Durable when the call returns.
        case full = "PRAGMA synchronous = FULL"
    }
}

// MARK: Opening and closing

extension LocalRealm {
    /// Opens the realm, and creates the file if there is none.
    package static func open(
        _ configuration: LocalRealmConfiguration,
        clock: @escaping () -> Int64,
        random: inout some RandomNumberGenerator
    ) throws(LocalRealmError) -> LocalRealm {
        let path = configuration.path
        return try mappingErrors(path) {
            let lock = try FileLock(path: path + ".lock")
            try FileHome.createIfMissing(path: path)
            let connection = try Connection(
                path: path,
                .init(
                    mode: .readWrite,
                    vfs: configuration.vfs,
                    busyTimeout: configuration.busyTimeout
                )
            )
            let opening = try Opening(configuration, connection, random: &random)
            return LocalRealm(
                configuration: configuration,
                connection: connection,
                lock: lock,
                opening: opening,
                clock: clock
            )
        }
    }

    /// Closes the file; it is an ordinary SQLite file again.
    package func close() {
        connection.close()
    }

    package var status: LocalRealmStatus {
        LocalRealmStatus(
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
            isFirstDownloadFinished: state.isFirstDownloadFinished
        )
    }
}

// MARK: What the session tells and asks

extension LocalRealm {
    /// Takes the local writes that other programs made into the history.
    package func drain() throws(LocalRealmError) -> DrainReport {
        DrainReport(localVersion: state.localVersion)
    }

    /// Keeps the ident that the server has assigned; durable when the call returns (sync history, 4).
    package func storeFileIdent(_ ident: SaltedFileIdent) throws(LocalRealmError) {
        try mappingErrors {
            guard state.fileIdent == .none else {
                throw LocalRealmError(
                    .identAlreadySet,
                    path: configuration.path,
                    "the file already has ident \(state.fileIdent.ident.rawValue)"
                )
            }
            try write(.full) { state in
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
        try mappingErrors {
            try History(connection: connection).scanUploads(
                from: cursor,
                through: end,
                base: state.historyBaseVersion,
                newest: state.localVersion,
                integrated: state.progress.download.serverVersion
            )
        }
    }

    /// Applies what the server sent, in one transaction with the new cursors (sync history, 7).
    package func integrate(
        _ changesets: [DownloadChangeset],
        progress: SyncProgress,
        downloadableBytes: UInt64
    ) throws(LocalRealmError) -> IntegrationReport {
        try mappingErrors {
            try write(.normal) { state in
                try state.adopt(
                    progress,
                    downloadableBytes: downloadableBytes,
                    history: History(connection: connection)
                )
                _ = state.advanceVersion()
            }
            return IntegrationReport(
                drained: DrainReport(localVersion: state.localVersion),
                localVersion: state.localVersion,
                integratedChangesetCount: changesets.count,
                learnedClasses: []
            )
        }
    }

    /// Makes everything committed so far survive a power cut; to be called before any of it is
    /// reported to the server, which would otherwise know more than the file (local realm, 6).
    package func makeDurable() throws(LocalRealmError) {
        guard !isDurable else { return }
        try mappingErrors {
            try write(.full) { _ in }
        }
    }

    package func markFirstDownloadFinished() throws(LocalRealmError) {
        guard !state.isFirstDownloadFinished else { return }
        try mappingErrors {
            try write(.normal) { $0.isFirstDownloadFinished = true }
        }
    }

    /// Everything up to this version has been integrated by the server, or needs no upload
    /// (sync history, 9.3).
    package func acknowledgedVersion() throws(LocalRealmError) -> ClientVersion {
        try mappingErrors {
            let passed = max(state.progress.upload.clientVersion, state.historyBaseVersion)
            let next = try History(connection: connection).firstLocalVersion(after: passed)
            return next.map { ClientVersion($0.rawValue - 1) } ?? max(state.localVersion, passed)
        }
    }
}

// MARK: Transactions

extension LocalRealm {
    /// Runs the body in one write transaction with the state row, which is saved at its end.
    func write<Result>(
        _ durability: Durability,
        _ body: (inout RealmState) throws -> Result
    ) throws -> Result {
        try set(durability)
        var next = state
        let result = try connection.transaction(.immediate) {
            let result = try body(&next)
            try next.save(to: connection)
            return result
        }
        state = next
        isDurable = durability == .full
        return result
    }

    /// SQLite takes a change of this setting between transactions only.
    private func set(_ durability: Durability) throws(SQLiteError) {
        guard synchronous != durability else { return }
        try connection.execute(durability.rawValue)
        synchronous = durability
    }

    func mappingErrors<Result>(
        _ body: () throws -> Result
    ) throws(LocalRealmError) -> Result {
        try Self.mappingErrors(configuration.path, body)
    }

    /// Gives every error of the modules below the form that callers choose by.
    static func mappingErrors<Result>(
        _ path: String,
        _ body: () throws -> Result
    ) throws(LocalRealmError) -> Result {
        do {
            return try body()
        } catch let error as LocalRealmError {
            throw error
        } catch let error as SQLiteError {
            throw LocalRealmError(error, path: path)
        } catch FileLock.Failure.held {
            throw LocalRealmError(.locked, path: path, "another agent has the realm open")
        } catch FileLock.Failure.system(let problem) {
            throw LocalRealmError(.cannotOpen, path: path, problem)
        } catch let decrease as ProgressDecrease {
            throw LocalRealmError(
                .badProgress,
                path: path,
                """
                the server moved the \(decrease.name) back from \(decrease.stored) to \
                \(decrease.offered)
                """
            )
        } catch {
            throw LocalRealmError(.database, path: path, "\(error)")
        }
    }
}
