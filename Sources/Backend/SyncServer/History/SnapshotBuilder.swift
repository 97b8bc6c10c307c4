import Coordination
import ServerStore
import Versions

/// Stores the state of a file as changesets once the history is much longer than that. New clients
/// then begin with the state (interfaces, 9; sync history, 16).
///
/// A snapshot replaces the history up to its version. The uploads of a client that downloads it are
/// merged with it, not with the history that the client never saw.
///
/// The builder reads from a held state of the store and writes one changeset at a time. Uploads and
/// downloads do not wait even for a large one.
actor SnapshotBuilder {
    private let store: any Store
    private let policy: SnapshotPolicy
    /// Files in progress: a second request for one of them waits for the end of the first.
    private var atWork: [ServerFileID: Promise<Void>] = [:]
    /// The size of a file's history when its objects were last found too large for a snapshot.
    private var looked: [ServerFileID: UInt64] = [:]

    init(store: any Store, policy: SnapshotPolicy) {
        self.store = store
        self.policy = policy
    }

    /// Makes a new snapshot of a file if that saves enough; `now` in milliseconds since 1970.
    func refresh(_ file: ServerFile, at now: Int64) async throws {
        if let end = atWork[file.id] { return await end.value }
        // Not again before the history has grown by a tenth.
        guard file.bytesSinceSnapshot > (looked[file.id] ?? 0) / 10 * 11 else { return }
        let end = Promise<Void>()
        atWork[file.id] = end
        defer {
            atWork[file.id] = nil
            end.keep()
        }
        let isMade = try await build(file.id, at: now)
        looked[file.id] = isMade ? nil : file.bytesSinceSnapshot
    }

    /// The unfinished snapshot.
    private struct Plan: Sendable {
        let file: ServerFile
        var state: FileState
    }

    private func build(_ id: ServerFileID, at now: Int64) async throws -> Bool {
        try await store.holdingState { [store, policy] held in
            let plan = try await held.read { try Self.plan(id, policy, $0) }
            guard var plan else { return false }
            let version = plan.file.currentVersion
            try await store.write(.file(id), for: .upkeep) {
                try $0.removeUnfinishedSnapshots(of: id)
            }
            // Each changeset gets a version of the history that it replaces, the last one the
            // file's own.
            var position: UInt64 = 0
            var size: UInt64 = 0
            var pending: [UInt8]?
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
            }
            guard let pending, position < version.rawValue else {
                try await store.write(.file(id), for: .upkeep) {
                    try $0.removeSnapshots(of: id, only: version)
                }
                return false
            }
            return try await store.write(.file(id), for: .upkeep) {
                [file = plan.file, size] transaction in
                try Self.finish(file, size, pending, at: now, transaction)
            }
        }
    }

    private static func plan(
        _ id: ServerFileID,
        _ policy: SnapshotPolicy,
        _ snapshot: any StoreReading
    ) throws(StoreError) -> Plan? {
        guard let file = try snapshot.file(id), policy.isWorthALook(file) else { return nil }
        let size = try snapshot.documentSize(in: id)
        guard policy.isWorthMaking(file, documentSizeInBytes: size) else { return nil }
        // Large enough that there are versions for all changesets.
        let limit = max(
            policy.changesetSizeInBytes,
            Int(clamping: size.multiplied(clamping: 2) / max(1, file.currentVersion.rawValue))
        )
        return Plan(file: file, state: FileState(of: id, changesetSizeInBytes: limit))
    }

    /// Publishes the snapshot after its last changeset, unless sync was terminated meanwhile.
    private static func finish(
        _ old: ServerFile,
        _ size: UInt64,
        _ changeset: [UInt8],
        at now: Int64,
        _ transaction: any StoreTransaction
    ) throws(StoreError) -> Bool {
        let version = old.currentVersion
        guard var file = try transaction.file(old.id), file.generation == old.generation,
            file.snapshot == old.snapshot
        else {
            try transaction.removeSnapshots(of: old.id, only: version)
            return false
        }
        try transaction.appendSnapshot(changeset, at: version, of: version, in: file.id, at: now)
        file.snapshot = FileSnapshot(
            version: version,
            sizeInBytes: size,
            historySizeInBytes: old.historySizeInBytes
        )
        try transaction.update(file)
        try transaction.removeSnapshots(of: file.id, only: nil)
        return true
    }
}
