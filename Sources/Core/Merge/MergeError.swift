package import Changesets

/// A refused merge, with the two instructions that could not be merged (merge rules, 9).
///
/// Except for `tooManyPairs` it means that the peer's history does not fit ours. Nothing of the
/// batch may be stored; a server reports a bad changeset to the client that sent it, a client to
/// its server.
package struct MergeError: Error, Hashable, Sendable {
    package let reason: Reason
    package let ours: Location
    package let theirs: Location

    package enum Reason: Error, Hashable, Sendable, CaseIterable {
        /// Both sides added a class with different definitions (rule 1).
        case classesDiffer
        /// Both sides added a column with different definitions (rule 9).
        case columnsDiffer
        /// Two instructions on one list assume different sizes of it (rules 7, 13, 14, 17 to 21).
        case listSizesDiffer
        /// An instruction names an element outside the list that it assumes (rules 13, 15, 17 to 21).
        case indexOutOfRange
        /// One side has a list where the other has a dictionary (rules 13, 15, 18, and nested list
        /// instructions).
        case listMeetsDictionary
        /// A nested set, which no version of the format has (rule 22).
        case nestedSet
        /// The two histories overlap too much to be merged in reasonable time.
        case tooManyPairs
    }

    /// An instruction among the operands, as they were before the merge.
    package struct Location: Hashable, Sendable {
        /// Position in the array of operands.
        package let changeset: Int
        /// Position in that operand's instructions.
        package let instruction: Int
        package let kind: InstructionCode
    }

    init(_ reason: Reason, ours: Operation, theirs: Operation) {
        self.reason = reason
        self.ours = Location(ours)
        self.theirs = Location(theirs)
    }

    private init(_ reason: Reason, ours: Location, theirs: Location) {
        self.reason = reason
        self.ours = ours
        self.theirs = theirs
    }

    /// The same error after a merge of some of the operands, in terms of all: the arguments are the
    /// positions of those operands.
    func renumbered(ours: [Int], theirs: [Int]) -> MergeError {
        MergeError(
            reason,
            ours: self.ours.renumbered(ours),
            theirs: self.theirs.renumbered(theirs)
        )
    }

    /// A stable code for logs and for `docs/errors.md`.
    package var code: String {
        switch reason {
        case .classesDiffer: "merge.classes_differ"
        case .columnsDiffer: "merge.columns_differ"
        case .listSizesDiffer: "merge.list_sizes_differ"
        case .indexOutOfRange: "merge.index_out_of_range"
        case .listMeetsDictionary: "merge.list_meets_dictionary"
        case .nestedSet: "merge.nested_set"
        case .tooManyPairs: "merge.too_many_pairs"
        }
    }

    /// The remedy for the owner of the data.
    package var remedy: String {
        switch reason {
        case .classesDiffer, .columnsDiffer:
            "make both schemas declare it alike; a different definition needs a different name"
        case .listSizesDiffer, .indexOutOfRange, .listMeetsDictionary, .nestedSet:
            "reset the client: the histories of the two sides do not match"
        case .tooManyPairs:
            "reset the client: it starts again from the server's state"
        }
    }
}

extension MergeError.Location {
    fileprivate init(_ operation: Operation) {
        self.changeset = operation.origin.changeset
        self.instruction = operation.origin.instruction
        self.kind = operation.kind
    }

    fileprivate func renumbered(_ positions: [Int]) -> Self {
        Self(changeset: positions[changeset], instruction: instruction, kind: kind)
    }
}

extension MergeError: CustomStringConvertible {
    package var description: String {
        "cannot merge our \(ours) with their \(theirs): \(reason)"
    }
}

extension MergeError.Location: CustomStringConvertible {
    package var description: String {
        "\(kind) (instruction \(instruction) of changeset \(changeset))"
    }
}

extension MergeError.Reason: CustomStringConvertible {
    package var description: String {
        switch self {
        case .classesDiffer: "both add the class, with different kinds or primary keys"
        case .columnsDiffer: "both add the column, with different types"
        case .listSizesDiffer: "they assume different sizes of one list"
        case .indexOutOfRange: "one of them names an element outside its list"
        case .listMeetsDictionary: "one has a list where the other has a dictionary"
        case .nestedSet: "a set inside a value is not part of the format"
        case .tooManyPairs: "there are more pairs of instructions than the limit allows"
        }
    }
}

/// Throws unless a requirement of a rule holds.
func require(
    _ condition: Bool,
    else reason: MergeError.Reason
) throws(MergeError.Reason) {
    guard condition else { throw reason }
}
