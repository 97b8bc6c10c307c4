import Changesets

/// Rebases theirs over ours like ``rebase(ours:theirs:pairsLeft:progress:)``, but only the
/// changesets that some rule could pair; the others stay as they are.
///
/// Both arrays, their flags and the error have the same result. Errors refer to the changesets of
/// the whole arrays. A changeset that meets nothing only costs a look at its names.
package func rebaseMeeting(
    ours: inout [MergeOperand],
    theirs: inout [MergeOperand],
    pairsLeft: inout Int,
    progress: (() -> Void)? = nil
) throws(MergeError) {
    guard let meeting = MeetingChangesets(ours, theirs) else { return }
    var ourPart = meeting.ours.map { ours[$0] }
    var theirPart = meeting.theirs.map { theirs[$0] }
    do {
        try rebase(
            ours: &ourPart,
            theirs: &theirPart,
            pairsLeft: &pairsLeft,
            progress: progress
        )
    } catch {
        throw error.renumbered(ours: meeting.ours, theirs: meeting.theirs)
    }
    for (position, operand) in zip(meeting.ours, ourPart) { ours[position] = operand }
    for (position, operand) in zip(meeting.theirs, theirPart) { theirs[position] = operand }
}

/// The changesets of two sides that some merge rule could affect, by position.
private struct MeetingChangesets {
    let ours: [Int]
    let theirs: [Int]

    /// Nil if no changeset of one side can meet one of the other.
    init?(_ ours: [MergeOperand], _ theirs: [MergeOperand]) {
        // QUIRK D-NaN sets flags by objects that links connect, and those may be in any changeset.
        if ours.contains(where: { $0.changeset.containsNaN }) {
            self.init(ours: Array(ours.indices), theirs: Array(theirs.indices))
        } else if theirs.instructionCount <= ours.instructionCount {
            // The smaller side is held in memory.
            let ourPart = Self.positions(in: ours, meeting: theirs)
            let theirPart = Self.positions(in: theirs, meeting: ourPart.map { ours[$0] })
            self.init(ours: ourPart, theirs: theirPart)
        } else {
            let theirPart = Self.positions(in: theirs, meeting: ours)
            let ourPart = Self.positions(in: ours, meeting: theirPart.map { theirs[$0] })
            self.init(ours: ourPart, theirs: theirPart)
        }
    }

    private init?(ours: [Int], theirs: [Int]) {
        guard !ours.isEmpty, !theirs.isEmpty else { return nil }
        self.ours = ours
        self.theirs = theirs
    }

    private static func positions(
        in operands: [MergeOperand],
        meeting others: [MergeOperand]
    ) -> [Int] {
        guard !others.isEmpty else { return [] }
        let places = TouchedPlaces(of: others)
        return operands.indices.filter { places.mayMeet(operands[$0].changeset) }
    }
}

extension Changeset {
    /// Whether QUIRK D-NaN may concern any changeset that this one meets.
    package var containsNaN: Bool {
        instructions.contains { instruction in
            switch instruction {
            case .update(let update): update.payload.isNaN
            case .arrayInsert(_, let payload, _): payload.isNaN
            case .setInsert(_, let payload): payload.isNaN
            case .setErase(let erase): erase.payload.isNaN
            case .addTable, .eraseTable, .createObject, .eraseObject, .addColumn, .eraseColumn,
                .addInteger, .arrayMove, .arrayErase, .clear:
                false
            }
        }
    }
}
