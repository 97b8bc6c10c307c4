import ServerStore
import Versions

/// The conditions for a snapshot of a file.
package struct SnapshotPolicy: Hashable, Sendable {
    /// The least size of a history for a snapshot.
    package var historySizeInBytes: UInt64
    /// The least ratio of history to objects.
    package var ratio: UInt64
    package var changesetSizeInBytes: Int
    /// Histories of at least this size are compacted in downloads, until a snapshot replaces them
    /// (sync history, 16).
    package var compactionSizeInBytes: UInt64

    package init(
        historySizeInBytes: UInt64 = 4 << 20,
        ratio: UInt64 = 2,
        changesetSizeInBytes: Int = 1 << 20,
        compactionSizeInBytes: UInt64 = 256 << 10
    ) {
        self.historySizeInBytes = historySizeInBytes
        self.ratio = ratio
        self.changesetSizeInBytes = changesetSizeInBytes
        self.compactionSizeInBytes = compactionSizeInBytes
    }

    /// Whether downloads of the file's history are compacted.
    func isWorthCompacting(_ file: ServerFile) -> Bool {
        file.historySizeInBytes >= compactionSizeInBytes
            && file.historySizeInBytes <= historySizeInBytes
    }

    /// Whether the history since the newest snapshot is long enough to measure the objects.
    func isWorthALook(_ file: ServerFile) -> Bool {
        let newBytes = file.bytesSinceSnapshot
        return newBytes >= historySizeInBytes
            && newBytes >= ratio.multiplied(clamping: file.snapshot?.sizeInBytes ?? 0)
    }

    /// Whether a snapshot would be enough shorter than the history.
    func isWorthMaking(_ file: ServerFile, documentSizeInBytes size: UInt64) -> Bool {
        isWorthALook(file) && file.bytesSinceSnapshot >= ratio.multiplied(clamping: size)
    }
}

extension ServerFile {
    /// Bytes of history after the newest snapshot.
    var bytesSinceSnapshot: UInt64 {
        historySizeInBytes.subtracting(clamping: snapshot?.historySizeInBytes ?? 0)
    }
}
