internal import Synchronization

/// The connections to realm files that this process has open. While there are many, silent ones close sooner.
///
/// Each takes some 300 KiB, and leaves holes in the heap: 500 realms that opened within three seconds took 145 MiB
/// instead of 255, and 105 instead of 140 once they were silent (`Benchmarks/many.py`).
package enum OpenConnections {
    private static let count = Atomic(0)

    /// Above it there are many.
    private static let many = 64

    /// Above it no file should be opened at once.
    private static let veryMany = 256

    package static var areMany: Bool { count.load(ordering: .relaxed) > many }
    package static var areVeryMany: Bool { count.load(ordering: .relaxed) > veryMany }

    /// Counts one connection while it exists.
    final class Ticket {
        init() { OpenConnections.count.add(1, ordering: .relaxed) }
        deinit { OpenConnections.count.subtract(1, ordering: .relaxed) }
    }
}
