import Changesets
import ClientReset
import LocalRealm
import SQLite
import SyncProtocol
import Synchronization
import Versions

/// A realm file behind a queue: the only part of a session that blocks, on disks and on other programs'
/// locks.
///
/// Calls are done one after the other, in the order they come. What the file is like after the last one
/// can be read at any time, also while another one takes minutes.
actor RealmStore {
    private nonisolated let executor: DatabaseExecutor
    private let file: RealmFile
    private nonisolated let published: Mutex<Standing>
    private nonisolated let meter = WorkMeter()
    nonisolated let ownWrites: OwnWrites
    nonisolated let path: String

    /// What the file is like between two calls.
    struct Standing: Sendable {
        var status: LocalRealmStatus
        /// The server has integrated everything up to here.
        var acknowledged: ClientVersion
        /// A reset was carried out and not proven yet.
        var isJustReset: Bool
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    private init(_ file: sending RealmFile, path: String, on executor: DatabaseExecutor) {
        self.published = Mutex(
            Standing(
                status: file.status,
                acknowledged: (try? file.acknowledgedVersion()) ?? .zero,
                isJustReset: Self.isJustReset(file)
            )
        )
        file.countSteps(on: meter)
        self.ownWrites = file.ownWrites
        self.file = file
        self.path = path
        self.executor = executor
    }

    /// Opens the realm file, and creates it if there is none.
    static func open(
        _ configuration: LocalRealmConfiguration,
        on executor: DatabaseExecutor,
        now: @escaping @Sendable () -> Int64,
        random: any RandomNumberGenerator & Sendable
    ) async throws(LocalRealmError) -> RealmStore {
        let result = await executor.perform { () -> Result<RealmStore, LocalRealmError> in
            Result { () throws(LocalRealmError) in
                var random = random
                let file = try RealmFile.open(configuration, clock: now, random: &random)
                return RealmStore(file, path: configuration.path, on: executor)
            }
        }
        return try result.get()
    }

    /// Whether a call is under way, and how it gets on.
    nonisolated var workload: WorkMeter.Reading { meter.reading }

    /// As it was after the last call; does not wait for one that is under way.
    nonisolated var standing: Standing { published.withLock { $0 } }

    /// The same once the calls before this one are done.
    func settled() -> Standing { standing }

    private static func isJustReset(_ file: RealmFile) -> Bool {
        (try? file.resetAttempt())?.isSpent ?? false
    }

    /// Publishes what the file is like now. Of resets only those verbs know that carry them out.
    private func publish() {
        let status = file.status
        let acknowledged = try? file.acknowledgedVersion()
        published.withLock { standing in
            standing.status = status
            if let acknowledged { standing.acknowledged = acknowledged }
        }
    }

    private func publishReset() {
        let isJustReset = Self.isJustReset(file)
        published.withLock { $0.isJustReset = isJustReset }
    }

    /// Does the work, and publishes what the file is like after it.
    private func publishing<Result, Failure: Error>(
        _ work: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        defer { publish() }
        return try meter.measuring(work)
    }

    /// Closes the file; every later call fails.
    func close() {
        file.close()
    }
}

// MARK: Sync

extension RealmStore {
    /// Takes what other programs have written into the history.
    func drain() throws(LocalRealmError) -> CaptureReport {
        let report = try meter.measuring { () throws(LocalRealmError) in try file.drain() }
        if report.changesetCount > 0 { publish() }
        return report
    }

    func storeFileIdent(_ ident: SaltedFileIdent) throws(LocalRealmError) {
        try publishing { () throws(LocalRealmError) in try file.storeFileIdent(ident) }
    }

    func integrate(_ download: ParsedDownload) throws(LocalRealmError) -> IntegrationReport {
        try publishing { () throws(LocalRealmError) in try file.integrate(download) }
    }

    func markFirstDownloadFinished() throws(LocalRealmError) {
        try publishing { () throws(LocalRealmError) in try file.markFirstDownloadFinished() }
    }

    func scanUploads(_ scan: UploadScan) throws(LocalRealmError) -> UploadBatch {
        try meter.measuring { () throws(LocalRealmError) in
            try file.scanUploads(from: scan.cursor, upTo: scan.end)
        }
    }

    /// What the server is told must survive a power cut (local realm, 6).
    func makeDurable() throws(LocalRealmError) {
        try meter.measuring { () throws(LocalRealmError) in try file.makeDurable() }
    }

    /// The newest version of the file, after nothing can take it back, not even a power cut; nil while a
    /// disk or another program is in the way.
    func durableVersion() -> ClientVersion? {
        do throws(LocalRealmError) {
            try makeDurable()
            return file.status.localVersion
        } catch {
            return nil
        }
    }

    /// The rows of rejected writes as they are; nil for what is not there.
    func rows(of objects: [(className: String, key: ObjectKey)?]) -> [String?] {
        objects.map { object in
            object.flatMap { try? file.row(of: $0.className, key: $0.key) }
        }
    }

    func keep(_ writes: [ServerRejection]) throws(LocalRealmError) {
        try meter.measuring { () throws(LocalRealmError) in try file.keep(writes) }
    }
}

// MARK: Resets

extension RealmStore {
    func resetAttempt() throws(LocalRealmError) -> ResetAttempt? {
        try file.resetAttempt()
    }

    func forgetReset() throws(LocalRealmError) {
        defer { publishReset() }
        try publishing { () throws(LocalRealmError) in try file.forgetReset() }
    }

    /// What a reset would do, given the fresh copy; changes nothing.
    func rehearseReset(_ method: ResetMethod) throws -> ResetReport {
        try meter.measuring { try file.rehearseReset(to: RealmFile.freshPath(of: path), method) }
    }

    /// Carries the attempt out with the fresh copy.
    ///
    /// - Throws: a `ResetFailure` if the attempt is spent, everything else if it is not.
    func carryOutReset(
        _ attempt: ResetAttempt,
        beforehand: @Sendable (ResetReport) throws -> Void
    ) throws -> ResetReport {
        defer { publishReset() }
        return try publishing {
            try file.beginReset(attempt)
            do {
                return try file.carryOutReset(
                    to: RealmFile.freshPath(of: path),
                    attempt.method,
                    beforehand: beforehand
                )
            } catch let failure as ResetFailure {
                try file.failReset()
                throw failure
            }
        }
    }
}
