/// The limits on the work for one comparison of a client's realm with the server's.
package struct ComparisonLimits: Hashable, Sendable {
    /// Objects listed one by one in a response.
    package var listedObjects: Int
    /// Objects that may change between the client's version and the state that is read.
    package var changedObjects: Int
    /// Bytes of history between the two.
    package var changedSizeInBytes: Int
    /// Documents are read in parts of this size: memory is bounded, and the state's reader is free in
    /// between.
    package var partSizeInBytes: Int

    package init(
        listedObjects: Int = 1000,
        changedObjects: Int = 1000,
        changedSizeInBytes: Int = 4 << 20,
        partSizeInBytes: Int = 1 << 20
    ) {
        self.listedObjects = listedObjects
        self.changedObjects = changedObjects
        self.changedSizeInBytes = changedSizeInBytes
        self.partSizeInBytes = partSizeInBytes
    }
}

/// The reason for which a comparison is refused.
package enum ComparisonRefusal: Error, Hashable, Sendable {
    /// Another comparison is running in this process.
    case busy
    /// Transient: an operator has paused or terminated sync of the app.
    case paused
    /// The client file is unknown, of another user, or void; or the user may not read the partition.
    case notAllowed
    /// The request names no partition, or an invalid one.
    case badPartition
}
