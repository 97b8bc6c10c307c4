/// The limits on the work for one client's view; bytes.
package struct ViewLimits: Hashable, Sendable {
    /// Images of touched objects in memory for one range; a client that needs more starts over.
    package var touchedSizeInBytes: Int
    /// History that is sent as a unit; a client that needs more starts over.
    package var rangeSizeInBytes: Int
    /// Uncompressed changesets of one message of a bootstrap.
    package var messageSizeInBytes: Int
    /// A changeset of a bootstrap ends behind the object that exceeds this.
    package var changesetSizeInBytes: Int

    package init(
        touchedSizeInBytes: Int = 64 << 20,
        rangeSizeInBytes: Int = 16 << 20,
        messageSizeInBytes: Int = 4 << 20,
        changesetSizeInBytes: Int = 512 << 10
    ) {
        self.touchedSizeInBytes = touchedSizeInBytes
        self.rangeSizeInBytes = rangeSizeInBytes
        self.messageSizeInBytes = messageSizeInBytes
        self.changesetSizeInBytes = changesetSizeInBytes
    }
}

/// The work for a client's view would exceed a limit: a fresh copy costs less.
struct ViewTooLarge: Error {}
