package import Changesets

/// The time and origin of a changeset, which decide the later of two conflicting changes (merge
/// rules, 1).
///
/// The file ident is never 0: the code that builds the operand has replaced "local origin" by the
/// local ident.
package struct Stamp: Hashable, Sendable {
    /// Milliseconds since 2015-01-01T00:00:00Z, at the origin.
    package let timestamp: UInt64
    package let fileIdent: UInt64

    package init(timestamp: UInt64, fileIdent: UInt64) {
        self.timestamp = timestamp
        self.fileIdent = fileIdent
    }
}

extension Stamp: Comparable {
    /// Whether left is older: by time, then by file ident.
    package static func < (left: Stamp, right: Stamp) -> Bool {
        left.timestamp != right.timestamp
            ? left.timestamp < right.timestamp
            : left.fileIdent < right.fileIdent
    }
}

/// A changeset that takes part in a merge.
package struct MergeOperand: Sendable {
    package var changeset: Changeset
    package let stamp: Stamp
    /// Whether a merge changed the instructions. It stays set from one run of a batch to the next,
    /// even if a later step restores the original value; a dirty reciprocal has to be stored again.
    package var isDirty: Bool

    package init(changeset: Changeset, stamp: Stamp, isDirty: Bool = false) {
        self.changeset = changeset
        self.stamp = stamp
        self.isDirty = isDirty
    }
}
