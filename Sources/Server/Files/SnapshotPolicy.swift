import Versions

/// When the state of a file is worth being kept as a snapshot.
package struct SnapshotPolicy: Hashable, Sendable {
    /// Of shorter histories no snapshot is made.
    package var historySizeInBytes: UInt64
    /// How much longer than the objects the history has to be.
    package var ratio: UInt64
    package var changesetSizeInBytes: Int
    /// Histories that are at least as long are sent without what is pointless in them, until a
    /// snapshot takes their place (sync history, 16).
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

    /// Whether what is pointless in the history of a file is looked for.
    func isWorthCompacting(_ file: ServerFile) -> Bool {
        file.historySizeInBytes >= compactionSizeInBytes
            && file.historySizeInBytes <= historySizeInBytes
    }

    /// Whether the history since the newest snapshot is long enough to look at the objects.
    func isWorthALook(_ file: ServerFile) -> Bool {
        let newBytes = file.bytesSinceSnapshot
        return newBytes >= historySizeInBytes
            && newBytes >= ratio.multiplied(clamping: file.snapshot?.sizeInBytes ?? 0)
    }

    /// Whether a snapshot would be so much shorter that it is worth its place.
    func isWorthMaking(_ file: ServerFile, documentSizeInBytes size: UInt64) -> Bool {
        isWorthALook(file) && file.bytesSinceSnapshot >= ratio.multiplied(clamping: size)
    }
}

extension ServerFile {
    /// Bytes of history that the newest snapshot does not stand for.
    var bytesSinceSnapshot: UInt64 {
        historySizeInBytes.subtracting(clamping: snapshot?.historySizeInBytes ?? 0)
    }
}
