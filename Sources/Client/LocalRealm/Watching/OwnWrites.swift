internal import Synchronization

/// Whether this process holds the write lock of a realm file: then no other program commits, and what is
/// written to the log is its own.
package final class OwnWrites: Sendable {
    private let isHeld = Atomic(false)

    package init() {}

    package var isUnderWay: Bool { isHeld.load(ordering: .acquiring) }

    /// To be called once the lock is taken.
    package func begin() {
        isHeld.store(true, ordering: .releasing)
    }

    /// To be called when the transaction has ended, well or not.
    package func end() {
        isHeld.store(false, ordering: .releasing)
    }
}
