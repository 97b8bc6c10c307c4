import Changesets
import ClientReset
import Coordination
import LocalRealm
import SQLite
import Subscriptions
import SyncProtocol
import Synchronization
import Versions

/// A realm file behind a queue: the only part of a session that blocks, on disks and on other programs'
/// locks.
///
/// Calls run one after the other, in order of arrival. The state of the file after the last one can
/// be read at any time, also while another one takes minutes.
actor RealmStore {
    private nonisolated let executor: DatabaseExecutor
    private let file: RealmFile
    private nonisolated let published: Mutex<Standing>
    private nonisolated let meter = WorkMeter()
    private var random: any RandomNumberGenerator & Sendable
    nonisolated let ownWrites: OwnWrites
    nonisolated let path: String
    /// Raised after work that may have written much.
    nonisolated let hasWorked = Signal()
    /// Raised when the file is in use again after a rest.
    nonisolated let hasWoken = Signal()
    /// Raised after the file's version has changed.
    nonisolated let hasNewVersion = Signal()

    /// The state of the file between two calls.
    struct Standing: Sendable {
        var status: LocalRealmStatus
        /// The server has integrated everything up to here.
        var acknowledged: ClientVersion
        /// A reset was carried out and not proven yet.
        var isJustReset: Bool
        /// Everything that the calls so far have returned survives a power cut.
        var isDurable: Bool
    }

    nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    private init(
        _ file: sending RealmFile,
        path: String,
        on executor: DatabaseExecutor,
        random: any RandomNumberGenerator & Sendable
    ) {
        self.random = random
        self.published = Mutex(
            Standing(
                status: file.status,
                acknowledged: (try? file.acknowledgedVersion()) ?? .zero,
                isJustReset: Self.isJustReset(file),
                isDurable: file.isDurable
            )
        )
        file.countSteps(on: meter)
        file.rest.onWake = { [hasWoken] in hasWoken.raise() }
        if file.isDurable, file.status.fileIdent != .none { file.rest.takeAmongMany() }
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
        try await executor.perform { () throws(LocalRealmError) in
            var random = random
            let file = try RealmFile.open(configuration, clock: now, random: &random)
            _ = try file.followMigration(using: &random)
            return RealmStore(file, path: configuration.path, on: executor, random: random)
        }
    }

    /// Progress of the running call, if there is one.
    nonisolated var workload: WorkMeter.Reading { meter.reading }

    /// The state after the last call; does not wait for a running one.
    nonisolated var standing: Standing { published.withLock { $0 } }

    /// The same once the calls before this one are done.
    func settled() -> Standing { standing }

    private static func isJustReset(_ file: RealmFile) -> Bool {
        (try? file.resetAttempt())?.isSpent ?? false
    }

    /// Publishes the present state of the file. Only the reset operations update its reset state.
    private func publish() {
        let status = file.status
        let acknowledged = try? file.acknowledgedVersion()
        let isDurable = file.isDurable
        let before = published.withLock { standing in
            defer {
                standing.status = status
                standing.isDurable = isDurable
            }
            if let acknowledged { standing.acknowledged = acknowledged }
            return standing.status.localVersion
        }
        if status.localVersion != before { hasNewVersion.raise() }
        if file.rest.isOpen { hasWorked.raise() }
    }

    private func publishReset() {
        let isJustReset = Self.isJustReset(file)
        published.withLock { $0.isJustReset = isJustReset }
    }

    /// Runs the work, and publishes the state of the file afterwards.
    private func publishing<Result, Failure: Error>(
        _ work: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        defer { publish() }
        return try meter.measuring(work)
    }

    func partitionSubscriptions(
        _ record: RealmMigration
    ) throws(LocalRealmError) -> [SubscriptionContent] {
        try file.partitionSubscriptions(record)
    }

    /// Closes the connection of a file that nothing uses (see `FileRest`); returns whether it is closed.
    func restIfSilent() -> Bool { file.rest.takeIfSilent() }

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
        try publishing { () throws(LocalRealmError) in
            try followMigration(after: try file.integrate(download))
        }
    }

    func markDownloadCompleted() throws(LocalRealmError) {
        try publishing { () throws(LocalRealmError) in try file.markDownloadCompleted() }
    }

    /// Stages a message of a bootstrap, and applies the bootstrap if the message is its last.
    ///
    func stage(_ message: BootstrapMessage) throws(LocalRealmError) -> IntegrationReport {
        try publishing { () throws(LocalRealmError) in
            try file.stage(message)
            guard message.isLast, let report = try file.applyBootstrap() else {
                return IntegrationReport(unchanged: file.status.localVersion)
            }
            return try followMigration(after: report)
        }
    }

    /// Classes that the server has added may need a subscription.
    private func followMigration(
        after report: IntegrationReport
    ) throws(LocalRealmError) -> IntegrationReport {
        guard !report.learnedClasses.isEmpty else { return report }
        _ = try file.followMigration(using: &random)
        return report
    }

    func failSubscriptions(_ version: QueryVersion, _ text: String) throws(LocalRealmError) {
        try publishing { () throws(LocalRealmError) in
            try file.failSubscriptions(version, text)
        }
    }

    /// - Throws: a `SubscriptionError`, or a `LocalRealmError` of the file.
    func updateSubscriptions(
        _ operations: [SubscriptionOperation],
        isForced: Bool,
        isChecked: Bool,
        random: any RandomNumberGenerator & Sendable
    ) throws -> SubscriptionUpdate {
        try publishing {
            var random = random
            return try file.updateSubscriptions(
                operations,
                isForced: isForced,
                isChecked: isChecked,
                using: &random
            )
        }
    }

    func scanUploads(_ scan: UploadScan) throws(LocalRealmError) -> UploadBatch {
        try meter.measuring { () throws(LocalRealmError) in
            try file.scanUploads(from: scan.cursor, upTo: scan.end)
        }
    }

    /// Makes what the server will be told survive a power cut (local realm, 6).
    func makeDurable() throws(LocalRealmError) {
        try publishing { () throws(LocalRealmError) in try file.makeDurable() }
    }

    /// The newest version of the file, once it survives a power cut; nil while a full disk or
    /// another program's lock prevents that.
    func durableVersion() -> ClientVersion? {
        do throws(LocalRealmError) {
            try makeDurable()
            return file.status.localVersion
        } catch {
            return nil
        }
    }

    /// Stores rejected writes with their present rows.
    func keep(_ rejections: [ServerRejection]) throws(LocalRealmError) {
        try meter.measuring { () throws(LocalRealmError) in try file.keep(rejections) }
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

    /// Computes what a reset would do, given the fresh copy; changes nothing.
    func rehearseReset(_ method: ResetMethod, _ change: ModeSwitch?) throws -> ResetReport {
        try meter.measuring {
            try file.rehearseReset(to: RealmFile.freshPath(of: path), method, switching: change)
        }
    }

    /// Carries the attempt out with the fresh copy.
    ///
    /// - Throws: a `ResetFailure` if the attempt is spent, everything else if it is not.
    func carryOutReset(
        _ attempt: ResetAttempt,
        switching change: ModeSwitch?,
        beforehand: @Sendable (ResetReport) throws -> Void
    ) throws -> ResetReport {
        defer { publishReset() }
        return try publishing {
            try file.beginReset(attempt)
            do {
                return try file.carryOutReset(
                    to: RealmFile.freshPath(of: path),
                    attempt.method,
                    switching: change,
                    beforehand: beforehand
                )
            } catch let failure as ResetFailure {
                try file.failReset()
                throw failure
            }
        }
    }
}
