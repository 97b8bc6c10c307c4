internal import Synchronization

/// Whether this process holds the write lock of a realm file: then no other program commits, and
/// the writes to the log are its own.
package final class OwnWrites: Sendable {
    private let isHeld = Atomic(false)
    /// The files at a moment at which no write of a program waited in them; nil if no such moment is known.
    let tracesWithoutWrites: FileTraces?

    package init() {
        self.tracesWithoutWrites = nil
    }

    init(tracesWithoutWrites: FileTraces?) {
        self.tracesWithoutWrites = tracesWithoutWrites
    }

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
