import Versions

/// Keeps the state of a file as changesets once the history has become much longer than that, so that
/// new clients begin with the state (interfaces, 9; sync history, 16).
///
/// A snapshot stands for the history up to its version: whoever downloads it also has its uploads
/// merged with it, and not with the history it never saw.
struct SnapshotMaker {
    let transaction: any StoreTransaction
    /// Milliseconds since 1970.
    let now: Int64
    let policy: SnapshotPolicy

    /// The newest snapshot, a fresh one if that is worth it; nil if the history serves as well.
    func snapshot(of file: inout ServerFile) throws(StoreError) -> FileSnapshot? {
        let newBytes = file.historySizeInBytes - (file.snapshot?.historySizeInBytes ?? 0)
        guard newBytes >= policy.historySizeInBytes,
            newBytes >= policy.ratio * (file.snapshot?.sizeInBytes ?? 0)
        else { return file.snapshot }
        let size = try transaction.documentSize(in: file.id)
        guard newBytes >= policy.ratio * size else { return file.snapshot }
        if let fresh = try make(file, documentSize: size) {
            file.snapshot = fresh
            try transaction.update(file)
            try transaction.removeSnapshots(of: file.id, only: nil)
        }
        return file.snapshot
    }

    /// Each changeset takes a version of the history it stands for, the last one the file's own. Nil if
    /// there are not enough of them.
    private func make(
        _ file: ServerFile,
        documentSize: UInt64
    ) throws(StoreError) -> FileSnapshot? {
        let version = file.currentVersion
        var size: UInt64 = 0
        var next: UInt64 = 1
        var pending: [UInt8]?
        let limit = max(policy.changesetSizeInBytes, Int(documentSize * 2 / version.rawValue))
        try FileState(changesetSizeInBytes: limit).read(file.id, from: transaction) {
            changeset throws(StoreError) in
            if let pending {
                try transaction.appendSnapshot(
                    pending,
                    at: ServerVersion(next),
                    of: version,
                    in: file.id,
                    at: now
                )
                next += 1
            }
            pending = changeset
            size += UInt64(changeset.count)
        }
        guard let pending, next <= version.rawValue else {
            try transaction.removeSnapshots(of: file.id, only: version)
            return nil
        }
        try transaction.appendSnapshot(pending, at: version, of: version, in: file.id, at: now)
        return FileSnapshot(
            version: version,
            sizeInBytes: size,
            historySizeInBytes: file.historySizeInBytes
        )
    }
}

/// When a snapshot is worth its place.
package struct SnapshotPolicy: Hashable, Sendable {
    /// Shorter histories are sent as they are.
    package var historySizeInBytes: UInt64
    /// How much longer than the objects the history has to be.
    package var ratio: UInt64
    package var changesetSizeInBytes: Int

    package init(
        historySizeInBytes: UInt64 = 4 << 20,
        ratio: UInt64 = 2,
        changesetSizeInBytes: Int = 1 << 20
    ) {
        self.historySizeInBytes = historySizeInBytes
        self.ratio = ratio
        self.changesetSizeInBytes = changesetSizeInBytes
    }
}
