internal import Synchronization

/// Which writes to a realm file need not be looked for: those while this process holds the write lock, since no other
/// program commits then, and those of before it opened the file, if it knows that none waits.
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
