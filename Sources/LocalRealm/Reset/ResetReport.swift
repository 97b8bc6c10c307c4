package import Changesets
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

/// An object with changes that the server has not acknowledged, and what it is now.
package struct UnsyncedObject: Hashable, Sendable {
    package let className: Text
    /// The primary key as an SQL literal.
    package let key: String
    /// Names of changed properties; empty if the object as a whole was created or deleted.
    package let properties: [Text]
    /// It is not there any more.
    package let isDeleted: Bool
    /// The object as one JSON document; nil if it is deleted.
    package let document: [UInt8]?
    /// A statement that makes the changes again, on any copy of the realm.
    package let sql: String
}
