package import ClientReset
package import Versions

/// What a reset did, or would do.
package struct ResetReport: Hashable, Sendable {
    package let method: ResetMethod
    /// Objects with unsynced changes.
    package let unsynced: [UnsyncedObject]
    /// Changes that could not be recovered.
    package let discarded: [DiscardedChange]
    package let recoveredInstructionCount: Int
    package let recoveredChangesetCount: Int
    /// Rows of the realm that differ from what the reset makes of them.
    package let createdRows: Int
    package let updatedRows: Int
    package let erasedRows: Int
    package let serverVersion: ServerVersion

    /// Whether unsynced changes were recovered rather than thrown away.
    package var didRecover: Bool { method == .recover }
}
