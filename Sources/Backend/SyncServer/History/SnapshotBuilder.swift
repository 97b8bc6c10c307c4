import Coordination
import Logging
import ServerStore
import Versions

/// Stores the state of a file as changesets once the history is much longer than that. New clients
/// then begin with the state (interfaces, 9; sync history, 16).
///
/// A snapshot replaces the history up to its version. The uploads of a client that downloads it are
/// merged with it, not with the history that the client never saw.
///
/// The builder reads from a held state of the store and writes one changeset at a time. Uploads and
/// downloads do not wait even for a large one. Of several processes one builds (server on PostgreSQL,
/// 6.5).
actor SnapshotBuilder {
    private let store: any Store
    private let policy: SnapshotPolicy
    private let timer: any Clock<Duration>
    private let logger: Logger
    /// Files in progress: a second request for one of them waits for the end of the first.
    private var atWork: [ServerFileID: Promise<Void>] = [:]
    /// The size of a file's history when its objects were last found too large for a snapshot.
    private var looked: [ServerFileID: UInt64] = [:]

    /// The longest wait for a snapshot that another process builds, in steps.
    private static let waitingSteps = 120
    private static let waitingStep = Duration.milliseconds(250)

    init(
        store: any Store,
        policy: SnapshotPolicy,
        timer: any Clock<Duration>,
        logger: Logger
    ) {
        self.store = store
        self.policy = policy
        self.timer = timer
        self.logger = logger
    }

    /// Makes a new snapshot of a file if that saves enough, or if new clients cannot begin without;
    /// `now` in milliseconds since 1970.
    ///
    /// - Parameter waitsForOthers: whether to wait for one that another process builds.
    func refresh(_ file: ServerFile, at now: Int64, waitsForOthers: Bool = false) async throws {
        if let end = atWork[file.id] { return await end.value }
        // Not again before the history has grown by a tenth.
        let isLonger = file.bytesSinceSnapshot > (looked[file.id] ?? 0) / 10 * 11
        guard file.lacksState || isLonger else { return }
        let end = Promise<Void>()
        atWork[file.id] = end
        defer {
            atWork[file.id] = nil
            end.keep()
        }
        switch try await build(file.id, at: now) {
        case .made: looked[file.id] = nil
        case .notWorthIt: looked[file.id] = file.bytesSinceSnapshot
        case .elsewhere:
            if waitsForOthers { try await wait(forSnapshotAfter: file) }
        }
    }

    private enum Outcome: Sendable {
        case made
        case notWorthIt
        /// Another process builds it.
        case elsewhere
    }

    /// If it takes longer, clients begin with the history.
    private func wait(forSnapshotAfter file: ServerFile) async throws {
        for _ in 0..<Self.waitingSteps {
            try await timer.sleep(for: Self.waitingStep)
            let current = try await store.read { try $0.file(file.id) }
            guard current?.snapshot == file.snapshot, current?.generation == file.generation else {
                return
            }
        }
    }

    /// The unfinished snapshot.
    private struct Plan: Sendable {
        let file: ServerFile
        /// Of the objects, which a snapshot's own size is roughly.
        let documentSizeInBytes: UInt64
        var state: FileState
    }

    private func build(_ id: ServerFileID, at now: Int64) async throws -> Outcome {
        try await store.holdingState { [store, policy, timer, logger] held -> Outcome in
            let plan = try await held.read { try Self.plan(id, policy, $0) }
            guard var plan else { return .notWorthIt }
            guard try await held.claimSnapshot(of: id) else { return .elsewhere }
            let version = plan.file.currentVersion
            try await store.write(.file(id), for: .upkeep) {
                try $0.removeUnfinishedSnapshots(of: id)
            }
            // Each changeset gets a version of the history that it replaces, the last one the
            // file's own.
            var position: UInt64 = 0
            var size: UInt64 = 0
            var pending: [UInt8]?
            var interval = ReportInterval(of: Self.reportInterval, on: timer)
            while true {
                let (changeset, state) = try await held.read { [state = plan.state] snapshot in
                    var state = state
                    return (try state.next(from: snapshot), state)
                }
                plan.state = state
                guard let changeset else { break }
                if let pending {
                    position += 1
                    try await store.write(.file(id), for: .upkeep) { [position] transaction in
                        try transaction.appendSnapshot(
                            pending,
                            at: ServerVersion(position),
                            of: version,
                            in: id,
                            at: now
                        )
                    }
                }
                pending = changeset
                size += UInt64(changeset.count)
                if interval.isDue() { Self.report(size, of: plan, logger) }
            }
            // A file that starts over may be empty, and its snapshot, too.
            guard pending != nil || plan.file.lacksState, position < version.rawValue else {
                try await store.write(.file(id), for: .upkeep) {
                    try $0.removeSnapshots(of: id, only: version)
                }
                return .notWorthIt
            }
            return try await store.write(.file(id), for: .upkeep) {
                [file = plan.file, size, pending] transaction in
                try Self.finish(file, size, pending, at: now, transaction)
            }
        }
    }

    private static let reportInterval = Duration.seconds(10)

    private static func report(_ size: UInt64, of plan: Plan, _ logger: Logger) {
        logger.info(
            "building a snapshot",
            metadata: [
                "app": "\(plan.file.app)", "file": "\(plan.file.id.rawValue)",
                "written": "\(size) bytes", "objects": "\(plan.documentSizeInBytes) bytes",
            ]
        )
    }

    private static func plan(
        _ id: ServerFileID,
        _ policy: SnapshotPolicy,
        _ snapshot: any StoreReading
    ) throws(StoreError) -> Plan? {
        guard let file = try snapshot.file(id), file.lacksState || policy.isWorthALook(file) else {
            return nil
        }
        let size = try snapshot.documentSize(in: id)
        guard file.lacksState || policy.isWorthMaking(file, documentSizeInBytes: size) else {
            return nil
        }
        // Large enough that there are versions for all changesets.
        let limit = max(
            policy.changesetSizeInBytes,
            Int(clamping: size.multiplied(clamping: 2) / max(1, file.currentVersion.rawValue))
        )
        return Plan(
            file: file,
            documentSizeInBytes: size,
            state: FileState(of: id, changesetSizeInBytes: limit)
        )
    }

    /// Publishes the snapshot after its last changeset, unless sync was terminated meanwhile.
    private static func finish(
        _ old: ServerFile,
        _ size: UInt64,
        _ changeset: [UInt8]?,
        at now: Int64,
        _ transaction: any StoreTransaction
    ) throws(StoreError) -> Outcome {
        let version = old.currentVersion
        guard var file = try transaction.file(old.id), file.generation == old.generation,
            file.snapshot == old.snapshot
        else {
            try transaction.removeSnapshots(of: old.id, only: version)
            return .notWorthIt
        }
        if let changeset {
            try transaction.appendSnapshot(
                changeset,
                at: version,
                of: version,
                in: file.id,
                at: now
            )
        }
        file.snapshot = FileSnapshot(
            version: version,
            sizeInBytes: size,
            historySizeInBytes: old.historySizeInBytes
        )
        try transaction.update(file)
        try transaction.removeSnapshots(of: file.id, only: nil)
        return .made
    }
}
