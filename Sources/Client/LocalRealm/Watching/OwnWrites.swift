internal import Synchronization

/// Whether this process holds the write lock of a realm file: then no other program commits, and
/// the writes to the log are its own.
package final class OwnWrites: Sendable {
    private let isHeld = Atomic(false)

    package init() {}

    package var isUnderWay: Bool { isHeld.load(ordering: .acquiring) }

    /// Call it once the lock is taken.
    package func begin() {
        isHeld.store(true, ordering: .releasing)
    }

    /// Call it when the transaction has ended, successfully or not.
    package func end() {
        isHeld.store(false, ordering: .releasing)
    }
}
