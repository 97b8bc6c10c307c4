import Changesets
import Testing

@testable import Merge

/// Merges that are refused, with a reason and a location (merge rules, 9).
@Suite("Refused merges")
struct RefusalTests {
    struct Case: CustomTestStringConvertible {
        let reason: MergeError.Reason
        let ours: String
        let theirs: String

        init(_ reason: MergeError.Reason, _ ours: String, _ theirs: String) {
            (self.reason, self.ours, self.theirs) = (reason, ours, theirs)
        }

        var testDescription: String { "\(ours) | \(theirs)" }
    }

    @Test("Whichever side is ours", arguments: cases)
    func refused(_ row: Case) {
        for engine in [Engine.plain, .indexed] {
            for (ours, theirs) in [(row.ours, row.theirs), (row.theirs, row.ours)] {
                let error = #expect(throws: MergeError.self) {
                    try merge([ours], [theirs], engine: engine)
                }
                #expect(error?.reason == row.reason)
            }
        }
    }

    static let cases = [
        Case(.classesDiffer, "AddTable C", "AddTable C Embedded"),
        Case(.columnsDiffer, "AddColumn C.x Int", "AddColumn C.x String"),
        Case(.columnsDiffer, "AddColumn C.x ->D", "AddColumn C.x ->E"),
        Case(.listSizesDiffer, "Update l[0]=1 prior 1", "Update l[0]=1 prior 2"),
        Case(.listSizesDiffer, "ArrayInsert l[0]=1 prior 1", "Update l[0]=1 prior 2"),
        Case(.listSizesDiffer, "ArrayInsert l[0]=1 prior 1", "ArrayInsert l[0]=1 prior 2"),
        Case(.listSizesDiffer, "ArrayMove l[0]->1 prior 2", "ArrayMove l[0]->1 prior 3"),
        Case(.listSizesDiffer, "ArrayErase l[0] prior 1", "Update l[0]=1 prior 2"),
        Case(.listSizesDiffer, "ArrayErase l[0] prior 1", "ArrayInsert l[0]=1 prior 2"),
        Case(.listSizesDiffer, "ArrayErase l[0] prior 2", "ArrayMove l[0]->1 prior 3"),
        Case(.listSizesDiffer, "ArrayErase l[0] prior 1", "ArrayErase l[0] prior 2"),
        Case(.indexOutOfRange, "ArrayInsert l[3]=1 prior 2", "Update l[0]=1 prior 2"),
        Case(.indexOutOfRange, "ArrayInsert l[0]=1 prior 2", "Update l[2]=1 prior 2"),
        Case(.indexOutOfRange, "ArrayMove l[2]->1 prior 2", "Update l[0]=1 prior 2"),
        Case(.indexOutOfRange, "ArrayMove l[0]->1 prior 2", "Update l[5]=1 prior 5"),
        Case(.indexOutOfRange, "ArrayMove l[0]->2 prior 2", "ArrayMove l[0]->1 prior 2"),
        Case(.indexOutOfRange, "ArrayErase l[2] prior 2", "Update l[0]=1 prior 2"),
        Case(.indexOutOfRange, "ArrayErase l[2] prior 2", "ArrayInsert l[0]=1 prior 2"),
        Case(.indexOutOfRange, "ArrayErase l[0] prior 2", "ArrayInsert l[3]=1 prior 2"),
        Case(.indexOutOfRange, "ArrayErase l[0] prior 2", "ArrayMove l[2]->1 prior 2"),
        Case(.indexOutOfRange, "ArrayErase l[0] prior 2", "ArrayErase l[2] prior 2"),
        Case(.listMeetsDictionary, "ArrayInsert m[0]=1 prior 1", "Update m.a=1"),
        Case(.listMeetsDictionary, "ArrayMove m[0]->1 prior 2", "Update m.a=1"),
        Case(.listMeetsDictionary, "ArrayErase m[0] prior 1", "Update m.a=1"),
        Case(.listMeetsDictionary, "ArrayInsert m[0]=1 prior 1", "Update m.a.b=1"),
        Case(.listMeetsDictionary, "ArrayMove m[0]->1 prior 2", "Update m.a.b=1"),
        Case(.listMeetsDictionary, "ArrayErase m[0] prior 1", "Update m.a.b=1"),
        Case(.nestedSet, "Clear m List", "Update m=Set"),
        Case(.nestedSet, "Clear m Set", "Update m=Set"),
    ]

    @Test("Moves do not compare sizes with updates, and nothing with inserts")
    func leniency() throws {
        try merge(["ArrayMove l[0]->1 prior 2"], ["Update l[0]=1 prior 3"])
        try merge(["ArrayMove l[7]->9 prior 2"], ["ArrayInsert l[5]=1 prior 3"])
    }

    @Test("Two long histories of one list stop at the limit", arguments: [Engine.plain, .indexed])
    func pairLimit(_ engine: Engine) throws {
        let history = (0..<4).map { "ArrayInsert l[\($0)]=1 prior \($0)" }.joined(separator: "; ")
        func merge(pairLimit: Int) throws {
            var (ours, theirs) = ([operand(history, 1, 2)], [operand(history, 1, 3)])
            try rebase(ours: &ours, theirs: &theirs, pairLimit: pairLimit, engine: engine)
        }
        try merge(pairLimit: 16)
        let error = #expect(throws: MergeError.self) { try merge(pairLimit: 15) }
        #expect(error?.reason == .tooManyPairs)
        #expect(error?.ours.instruction == 3)
        #expect(error?.theirs.instruction == 3)
    }

    @Test("A merge of very many pairs reports progress")
    func progress() throws {
        let history = (0..<300).map { "ArrayInsert l[\($0)]=1 prior \($0)" }.joined(separator: "; ")
        var (ours, theirs) = ([operand(history, 1, 2)], [operand(history, 1, 3)])
        var (pairsLeft, calls) = (Int.max, 0)
        try rebase(ours: &ours, theirs: &theirs, pairsLeft: &pairsLeft) { calls += 1 }
        #expect(calls == (Int.max - pairsLeft) >> 16)
        #expect(calls > 0)
    }

    @Test("Pairs that take long to compare count several times")
    func comparisons() throws {
        let path = String(repeating: "[0]", count: 40)
        func cost(_ instruction: String) throws -> Int {
            var (ours, theirs) = ([operand(instruction, 1, 2)], [operand(instruction, 1, 3)])
            var left = 1000
            try rebase(ours: &ours, theirs: &theirs, pairsLeft: &left)
            return 1000 - left
        }
        #expect(try cost("ArrayInsert l[0]=1 prior 0") == 1)
        #expect(try cost("ArrayInsert l\(path)=1 prior 0") == 3)
    }

    @Test("The error names both instructions, a stable code and the remedy")
    func description() {
        let error = #expect(throws: MergeError.self) {
            try merge(
                ["Update x=1", "Update y=1; AddColumn C.x Int"],
                ["AddColumn D.x Int; AddColumn C.x String"]
            )
        }
        #expect(error?.ours == .init(changeset: 1, instruction: 1, kind: .addColumn))
        #expect(error?.theirs == .init(changeset: 0, instruction: 1, kind: .addColumn))
        #expect(error?.code == "merge.columns_differ")
        #expect(
            error?.description == """
                cannot merge our addColumn (instruction 1 of changeset 1) with their addColumn \
                (instruction 1 of changeset 0): both add the column, with different types
                """
        )
        #expect(error?.remedy.contains("schema") == true)
        #expect(Set(MergeError.Reason.allCases.map(\.description)).count == 7)
    }

    private func merge(
        _ ours: [String],
        _ theirs: [String],
        engine: Engine = .indexed
    ) throws {
        var ours = ours.enumerated().map { operand($1, UInt64($0), 2) }
        var theirs = theirs.enumerated().map { operand($1, UInt64($0), 3) }
        try rebase(ours: &ours, theirs: &theirs, engine: engine)
    }

    private func operand(_ text: String, _ time: UInt64, _ ident: UInt64) -> MergeOperand {
        MergeOperand(
            changeset: Notation.changeset(text),
            stamp: Stamp(timestamp: time, fileIdent: ident)
        )
    }
}
