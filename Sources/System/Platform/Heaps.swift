internal import CLinux

/// The heaps of the C library, which all memory of the process comes from.
package enum Heaps {
    /// Bounds their number; to be called early, since heaps that exist stay.
    ///
    /// By default there are eight for each processor, and each keeps what its threads once needed: large
    /// changesets go from thread to thread and leave their size behind in every one of them.
    package static func limit(to count: Int = 2) {
        linux_limit_heaps(Int32(count))
    }
}
