package import ClientReset
package import Versions

/// The result of a reset, or the expected one.
package struct ResetReport: Hashable, Sendable {
    package let method: ResetMethod
    /// Objects with unsynced changes.
    package let unsynced: [UnsyncedObject]
    /// Changes that could not be recovered.
    package let discarded: [DiscardedChange]
    package let recoveredInstructionCount: Int
    package let recoveredChangesetCount: Int
    /// Rows of the realm that differ from the result of the reset.
    package let createdRows: Int
    package let updatedRows: Int
    package let erasedRows: Int
    package let serverVersion: ServerVersion

    /// Whether unsynced changes were recovered rather than discarded.
    package var didRecover: Bool { method == .recover }
}
