internal import CLinux

/// The heaps of the C library, the source of all memory of the process.
package enum Heaps {
    /// Limits the number of heaps. Call it early, since existing heaps stay.
    ///
    /// By default there are eight for each processor, and each keeps the most its threads once
    /// needed: large changesets go from thread to thread and leave their size behind in every heap.
    package static func limit(to count: Int = 2) {
        linux_limit_heaps(Int32(count))
    }
}
