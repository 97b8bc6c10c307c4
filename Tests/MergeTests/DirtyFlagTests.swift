import Changesets
import Testing

@testable import Merge

/// The changesets that have to be stored again after a merge (merge rules, 3).
@Suite("Dirty flags")
struct DirtyFlagTests {
    @Test("Nothing in common, nothing dirty")
    func untouched() throws {
        try check(["Update x=1"], ["Update y=1"], dirty: [false], [false])
    }

    @Test("The survivor of a conflict is unchanged; its counterpart is dirty")
    func discarded() throws {
        try check(["Update x=1"], ["Update x=2"], dirty: [true], [false])
        try check(["EraseObject 1; CreateObject 1"], ["EraseObject 1"], dirty: [true], [false])
    }

    @Test("Only the changesets that changed are dirty")
    func oneOfTwo() throws {
        try check(
            ["Update x=1", "Update y=1"],
            ["Update z=1", "Update y=2"],
            dirty: [false, true],
            [
                false, false,
            ]
        )
    }

    @Test("A shifted index, a grown prior size and a sum count as changes")
    func changed() throws {
        try check(["Update el[0].x=1"], ["ArrayInsert el[0]=1 prior 1"], dirty: [true], [false])
        try check(["Update l[0]=1 prior 2"], ["ArrayInsert l[1]=1 prior 2"], dirty: [true], [false])
        try check(["Update x=1"], ["AddInteger x+=1"], dirty: [true], [false])
        try check(["Update x=1"], ["AddInteger x+=0"], dirty: [false], [false])
    }

    @Test("A number that a rule changes and changes back is not a change")
    func changedBack() throws {
        // Rule 20 lowers the index of the erase in its first step and raises it in the second.
        try check(
            ["ArrayErase l[2] prior 3"],
            ["ArrayMove l[1]->0 prior 3"],
            dirty: [false],
            [true]
        )
    }

    @Test("A change that a later pair undoes remains a change")
    func undone() throws {
        // Ours becomes l[1] prior 2 and then l[0] prior 1 again.
        try check(
            ["ArrayInsert l[0]=1 prior 1"],
            ["ArrayInsert l[0]=2 prior 1; ArrayErase l[0] prior 2"],
            dirty: [true],
            [true],
            gives: ["ArrayInsert l[0]=1 prior 1"],
            at: (20, 10)
        )
    }

    @Test("A flag from an earlier run of the batch stays")
    func earlierRun() throws {
        var ours = [operand("Update x=1", 10, 2)]
        ours[0].isDirty = true
        var theirs = [operand("Update y=1", 20, 3)]
        try rebase(ours: &ours, theirs: &theirs)
        #expect(ours[0].isDirty)
    }

    @Test("An instruction put before another makes its changeset dirty")
    func prepended() throws {
        try check(["EraseTable D"], ["AddColumn C.k ->D"], dirty: [true], [true])
    }

    @Test("QUIRK D-NaN: a NaN that could have met something makes our changeset dirty")
    func notANumber() throws {
        try check(["Update x=NaN"], ["Update y=1"], dirty: [true], [false])
        try check(["Update x=NaN"], ["Update 2.x=1"], dirty: [false], [false])
        try check(["Update x=NaN"], ["Update 2.k=Link:1"], dirty: [true], [false])
        try check(
            ["Update x=NaN", "Update 3.k=Link:1; Update 3.k=Link:2"],
            ["Update 2.y=1"],
            dirty: [true, false],
            [false]
        )
        try check(["Update x=NaN"], ["EraseColumn C.y"], dirty: [true], [false])
        try check(["Update x=NaN"], ["AddColumn C.y Int"], dirty: [false], [false])
    }

    private func check(
        _ ours: [String],
        _ theirs: [String],
        dirty ourFlags: [Bool],
        _ theirFlags: [Bool],
        gives ourResult: [String]? = nil,
        at times: (UInt64, UInt64) = (10, 20)
    ) throws {
        for engine in [Engine.plain, .indexed] {
            var ours = ours.map { operand($0, times.0, 2) }
            var theirs = theirs.map { operand($0, times.1, 3) }
            try rebase(ours: &ours, theirs: &theirs, engine: engine)
            #expect(ours.map(\.isDirty) == ourFlags)
            #expect(theirs.map(\.isDirty) == theirFlags)
            if let ourResult {
                #expect(ours.map { Notation.text(of: $0.changeset) } == ourResult)
            }
        }
    }

    private func operand(_ text: String, _ time: UInt64, _ ident: UInt64) -> MergeOperand {
        MergeOperand(
            changeset: Notation.changeset(text),
            stamp: Stamp(timestamp: time, fileIdent: ident)
        )
    }
}
