import Changesets
import Testing

@testable import Merge

/// The byte vectors printed in the specification (merge rules, 7.1).
@Suite("Worked bytes")
struct WorkedBytesTests {
    struct Row: CustomTestStringConvertible {
        let name: String
        let ours: String
        let theirs: String
        let ourResult: String
        let theirResult: String
        var times: (UInt64, UInt64) = (10, 20)

        var testDescription: String { name }
    }

    @Test("One against one, from both ends", arguments: rows)
    func oneAgainstOne(_ row: Row) throws {
        let ours = Entry(row.ours, row.times.0, 2)
        let theirs = Entry(row.theirs, row.times.1, 3)
        try check([ours], [theirs], gives: [row.ourResult], [row.theirResult])
        try check([theirs], [ours], gives: [row.theirResult], [row.ourResult])
    }

    static let rows = [
        Row(
            name: "7a",
            ours: "3f0001433f010178040001010100010100",
            theirs: "3f0001433f010178040001010100010200",
            ourResult: "",
            theirResult: "3f0001433f010178040001010100010200"
        ),
        Row(
            name: "8a",
            ours: "3f0001433f010178040001010100010500",
            theirs: "3f0001433f01017805000101010003",
            ourResult: "3f0001433f010178040001010100010800",
            theirResult: "3f0001433f01017805000101010003"
        ),
        Row(
            name: "14a",
            ours: "3f0001433f01016c08000101010100010100",
            theirs: "3f0001433f01016c08000101010100010200",
            ourResult: "3f0001433f01016c08000101010100010101",
            theirResult: "3f0001433f01016c08000101010101010201"
        ),
        Row(
            name: "24",
            ours: "3f0001433f01016c0b00010101000108000101010100010100",
            theirs: "3f0001433f01016c0b00010101000108000101010100010200",
            ourResult: "",
            theirResult: "3f0001433f01016c0b00010101000108000101010100010200"
        ),
        Row(
            name: "27b",
            ours: "3f0001433f0101730d0001010100030161",
            theirs: "3f0001433f0101730d0001010100030162",
            ourResult: "",
            theirResult: "3f0001433f0101730d0001010100030162"
        ),
        Row(
            name: "27c",
            ours: "3f0001433f0101730c000101010003027a7a0d0001010100030161",
            theirs: "3f0001433f0101730d0001010100030161",
            ourResult: "3f0001433f0101730c000101010003027a7a0d0001010100030161",
            theirResult: "3f0001433f0101730d0001010100030161"
        ),
        Row(
            name: "6b",
            ours: "3f00014303000101020001013f010178040001010100010100",
            theirs: "3f00014303000101",
            ourResult: "3f0001433f0101780300010102000101040001010100010100",
            theirResult: "",
            times: (30, 20)
        ),
        Row(
            name: "7e",
            ours: """
                3f0001433f01016504000101010041003f02017804000101010140020101003f030179040001010101\
                4003010200
                """,
            theirs: "3f0001433f01016504000101010041003f0201780400010101014002010500",
            ourResult: "3f0001433f0101653f0201783f0301790400010101014003010200",
            theirResult: "3f0001433f0101653f02017804000101010041000400010101014002010500"
        ),
        Row(
            name: "T1",
            ours: "3f0001433f01035f6964000000010100",
            theirs: "3f0001433f01035f69640000000101003f020178060002010000",
            ourResult: "",
            theirResult: "3f0001433f01035f69643f020178060002010000"
        ),
        Row(
            name: "T6",
            ours: "3f0001440100",
            theirs: "3f0001433f01016b3f020144060001090100023f0302706b0400010101000902030300",
            ourResult: "3f0001443f0101433f02016b0701020100",
            theirResult: ""
        ),
        Row(
            name: "T6, one instruction less",
            ours: "3f0001433f01016b3f02014406000109010002",
            theirs: "3f0001440100",
            ourResult: "",
            theirResult: "3f0001443f0101433f02016b0701020100"
        ),
        Row(
            name: "26, Decimal 1.0 and 1",
            ours: "3f0001433f0101730c0001010100080a4000",
            theirs: "3f0001433f0101730c000101010008010000",
            ourResult: "",
            theirResult: "3f0001433f0101730c000101010008010000"
        ),
    ]

    @Test("Two changesets against one")
    func twoAgainstOne() throws {
        try check(
            [
                Entry("3f0001433f01016c08000101010100010100", 10, 2),
                Entry("3f0001433f01016c08000101010101010201", 12, 2),
            ],
            [Entry("3f0001433f01016c0800010101010001080008000101010101010901", 11, 3)],
            gives: [
                "3f0001433f01016c08000101010100010102",
                "3f0001433f01016c08000101010103010203",
            ],
            ["3f0001433f01016c0800010101010101080208000101010102010903"]
        )
    }

    @Test("Two changesets against two")
    func twoAgainstTwo() throws {
        try check(
            [
                Entry("3f0001433f01016c04000101010100010102", 10, 2),
                Entry("3f0001433f01016c0a00010101010002", 12, 2),
            ],
            [
                Entry("3f0001433f01016c08000101010100010902", 11, 3),
                Entry("3f0001433f01016c04000101010101010803", 13, 3),
            ],
            gives: ["", "3f0001433f01016c0a00010101010103"],
            ["3f0001433f01016c08000101010100010901", ""]
        )
    }

    /// Two batches of one peer, both made before it saw our entry: the second has to meet our entry
    /// as transformed by the first. The original would fail, for its prior size does not fit.
    @Test("A second batch with the same base meets the reciprocal")
    func reciprocalChain() throws {
        let original = Entry("3f0001433f01016c08000101010100010100", 10, 2)
        let second = Entry("3f0001433f01016c08000101010101010901", 21, 3)

        var ours = [try original.operand()]
        var theirs = [try Entry("3f0001433f01016c08000101010100010800", 20, 3).operand()]
        try rebase(ours: &ours, theirs: &theirs)
        #expect(hex(theirs) == ["3f0001433f01016c08000101010101010801"])
        #expect(hex(ours) == ["3f0001433f01016c08000101010100010101"])

        theirs = [try second.operand()]
        try rebase(ours: &ours, theirs: &theirs)
        #expect(hex(theirs) == ["3f0001433f01016c08000101010102010902"])
        #expect(hex(ours) == ["3f0001433f01016c08000101010100010102"])

        ours = [try original.operand()]
        theirs = [try second.operand()]
        #expect(throws: MergeError.self) { try rebase(ours: &ours, theirs: &theirs) }
    }
}

extension WorkedBytesTests {
    private struct Entry {
        let bytes: String
        let stamp: Stamp

        init(_ bytes: String, _ timestamp: UInt64, _ fileIdent: UInt64) {
            self.bytes = bytes
            self.stamp = Stamp(timestamp: timestamp, fileIdent: fileIdent)
        }

        func operand() throws -> MergeOperand {
            let bytes = try #require(Hexadecimal.bytes(of: bytes))
            return MergeOperand(changeset: try Changeset(decoding: bytes), stamp: stamp)
        }
    }

    private func check(
        _ ours: [Entry],
        _ theirs: [Entry],
        gives ourResult: [String],
        _ theirResult: [String]
    ) throws {
        for engine in [Engine.plain, .indexed] {
            var ourOperands = try ours.map { try $0.operand() }
            var theirOperands = try theirs.map { try $0.operand() }
            try rebase(ours: &ourOperands, theirs: &theirOperands, engine: engine)
            #expect(hex(ourOperands) == ourResult, "ours, \(engine)")
            #expect(hex(theirOperands) == theirResult, "theirs, \(engine)")
        }
    }

    private func hex(_ operands: [MergeOperand]) -> [String] {
        operands.map { Hexadecimal.text(of: $0.changeset.encoded()) }
    }
}
