import Coordination
import Versions

/// Keeps the state of a file as changesets once the history has become much longer than that, so that
/// new clients begin with the state (interfaces, 9; sync history, 16).
///
/// A snapshot stands for the history up to its version: whoever downloads it also has its uploads
/// merged with it, and not with the history it never saw.
///
/// It is read from a state that is held, and stored one changeset at a time: however large it is,
/// nobody else's uploads and downloads wait for it.
package actor SnapshotBuilder {
    private let store: any ServerStore
    private let policy: SnapshotPolicy
    /// The files at work: a second request for one of them waits for the end of the first.
    private var atWork: [ServerFileID: Promise<Void>] = [:]
    /// How long the history of a file was when its objects turned out to be as long.
    private var looked: [ServerFileID: UInt64] = [:]

    init(store: any ServerStore, policy: SnapshotPolicy) {
        self.store = store
        self.policy = policy
    }

    /// Makes a fresh snapshot of a file if that is worth it; `now` in milliseconds since 1970.
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

    /// The snapshot in the making.
    private struct Plan: Sendable {
        let file: ServerFile
        var state: FileState
    }

    private func build(_ id: ServerFileID, at now: Int64) async throws -> Bool {
        try await store.holdingState { [store, policy] held in
            let plan = try await held.read { try Self.plan(id, policy, $0) }
            guard var plan else { return false }
            let version = plan.file.currentVersion
            try await store.write(for: .upkeep) { try $0.removeUnfinishedSnapshots(of: id) }
            // Each changeset takes a version of the history it stands for, the last one the file's own.
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
                    try await store.write(for: .upkeep) { [position] transaction in
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
                try await store.write(for: .upkeep) {
                    try $0.removeSnapshots(of: id, only: version)
                }
                return false
            }
            return try await store.write(for: .upkeep) { [file = plan.file, size] transaction in
                try Self.finish(file, size, pending, at: now, transaction)
            }
        }
    }

    private static func plan(
        _ id: ServerFileID,
        _ policy: SnapshotPolicy,
        _ snapshot: any StoreSnapshot
    ) throws(StoreError) -> Plan? {
        guard let file = try snapshot.file(id), policy.isWorthALook(file) else { return nil }
        let size = try snapshot.documentSize(in: id)
        guard policy.isWorthMaking(file, documentSizeInBytes: size) else { return nil }
        // So large that there are enough versions for all changesets.
        let limit = max(
            policy.changesetSizeInBytes,
            Int(clamping: size.multiplied(clamping: 2) / max(1, file.currentVersion.rawValue))
        )
        return Plan(file: file, state: FileState(of: id, changesetSizeInBytes: limit))
    }

    /// The last changeset makes the snapshot count, unless sync was terminated in the meantime.
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
