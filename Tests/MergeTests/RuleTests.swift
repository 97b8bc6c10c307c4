import Changesets
import Merge
import Testing

/// Cases beyond the worked examples: the branches, absences and equalities of single rules.
@Suite("Rules")
struct RuleTests {
    private static let same = Example.same

    @Test("No rule, no effect", arguments: absent)
    func absentRule(_ example: Example) throws {
        try example.check()
        try example.mirrored.check()
    }

    static let absent = [
        Example("increments add up", "AddInteger x+=1", "AddInteger x+=2", gives: same, same),
        Example("both create", "CreateObject 1", "CreateObject 1", gives: same, same),
        Example(
            "an increment at an index is not shifted",
            "ArrayInsert l[0]=1 prior 1",
            "AddInteger l[0]+=1",
            gives: same,
            same
        ),
        Example(
            "a set at an index is not shifted",
            "ArrayErase l[0] prior 2",
            "SetInsert l[1] 5; SetErase l[1] 6",
            gives: same,
            same
        ),
        Example("Update leaves sets alone", "Update x=1", "SetInsert x 5", gives: same, same),
        Example(
            "EraseColumn leaves sets, lists, Clear and increments alone",
            "EraseColumn C.x",
            "SetInsert x 5; SetErase x 5; ArrayErase x[0] prior 1; Clear x Set; AddInteger x+=1",
            gives: same,
            same
        ),
        Example(
            "another column",
            "EraseColumn C.x",
            "AddColumn C.y Int; Update y=1; AddColumn D.x Int; Update D:1.x=1",
            gives: same,
            same
        ),
        Example(
            "another object",
            "EraseObject 1",
            "Update 2.x=1; Update D:1.x=1",
            gives: same,
            same
        ),
        Example("Int 1 is not String 1", "SetInsert s 1", "SetInsert s \"1\"", gives: same, same),
        Example("Int 1 is not Double 1", "SetInsert s 1", "SetInsert s 1.0", gives: same, same),
        Example(
            "the target of a link is not its name",
            "SetInsert s Link:D:a",
            "SetInsert s Link:D:b",
            gives: same,
            same
        ),
        Example(
            "a string never equals an index",
            "Update d.a=1",
            "Update d[0]=1 prior 1",
            gives: same,
            same
        ),
    ]

    @Test("Rule 2: EraseTable discards a concurrent AddTable")
    func eraseTableMeetsAddTable() throws {
        let example = Example(
            "2",
            "EraseTable C",
            "AddTable C; AddTable D",
            gives: "EraseTable C",
            "AddTable D"
        )
        try example.check()
        try example.mirrored.check()
    }

    @Test("Rules 3 and 12: an erasure on both sides is discarded on both")
    func bothErase() throws {
        let example = Example(
            "3, 12",
            "EraseColumn C.x; EraseTable D",
            "EraseTable D; EraseColumn C.x",
            gives: "",
            ""
        )
        try example.check()
        try example.mirrored.check()
    }

    @Test("Rule 4: an erased column is erased before its target, and meets later instructions")
    func erasedTarget() throws {
        let example = Example(
            "4",
            "Update y=1; EraseTable D; Update y=2",
            "Update k=Null; AddColumn C.k ->D; Update k=Link:D:pk; AddColumn C.k2 ->D; Update z=1",
            gives: "Update y=1; EraseColumn C.k; EraseColumn C.k2; EraseTable D; Update y=2",
            "Update k=Null; Update z=1"
        )
        try example.check()
    }

    @Test("Rule 4 from the other end: the new EraseColumn meets only later instructions of ours")
    func erasedTargetOfOurs() throws {
        let example = Example(
            "4",
            "Update k=Null; AddColumn C.k ->D; Update k=Link:D:pk",
            "EraseTable D; Update y=2",
            gives: "Update k=Null",
            "EraseColumn C.k; EraseTable D; Update y=2"
        )
        try example.check()
    }

    @Test("Rule 4: names are interned when needed, and stay")
    func namesOfErasedColumns() throws {
        let table = try stringsOfTheirs(
            "AddColumn A.k ->D; AddColumn B.l ->E",
            "EraseTable E; EraseTable D",
            gives: "EraseColumn B.l; EraseTable E; EraseColumn A.k; EraseTable D"
        )
        #expect(table == ["E", "D", "A", "k", "B", "l"])
        // The new EraseColumn and a later one of the other side cancel each other.
        let other = try stringsOfTheirs(
            "AddColumn C.k ->D; EraseColumn C.k",
            "EraseTable D",
            gives: "EraseTable D"
        )
        #expect(other == ["D", "C", "k"])
    }

    private func stringsOfTheirs(
        _ ours: String,
        _ theirs: String,
        gives result: String
    ) throws -> [Text] {
        var ours = [operand(ours, 10, 2)]
        var theirs = [operand(theirs, 20, 3)]
        try rebase(ours: &ours, theirs: &theirs)
        #expect(Notation.text(of: theirs[0].changeset) == result)
        return theirs[0].changeset.strings.texts
    }

    private func operand(_ text: String, _ time: UInt64, _ ident: UInt64) -> MergeOperand {
        MergeOperand(
            changeset: Notation.changeset(text),
            stamp: Stamp(timestamp: time, fileIdent: ident)
        )
    }

    @Test("Rule 10: EraseColumn discards updates at any path and in any object")
    func eraseColumn() throws {
        let example = Example(
            "10",
            "EraseColumn C.x",
            "Update x.a=1; Update 2.x[0]=1 prior 1; Update y=1",
            gives: "EraseColumn C.x",
            "Update y=1"
        )
        try example.check()
        try example.mirrored.check()
    }

    @Test("Rule 7: list elements compare their sizes, then their stamps")
    func listElements() throws {
        let example = Example(
            "7",
            "Update l[1]=1 prior 2",
            "Update l[1]=2 prior 2",
            gives: "",
            "Update l[1]=2 prior 2"
        )
        try example.check()
        try example.mirrored.check()
    }

    @Test("Rule 8: a newer value replaces the sum, unless it is only a default")
    func newerValue() throws {
        try Example("8", "AddInteger x+=3", "Update x=5", gives: "", "Update x=5").check()
        try Example(
            "8, default",
            "AddInteger x+=3",
            "Update x=5 default",
            gives: "AddInteger x+=3",
            "Update x=8 default"
        ).check()
    }

    @Test("Rule 17: a move that has become a move onto itself is discarded", arguments: moves)
    func movesToSameElement(_ example: Example) throws {
        try example.check()
        try example.mirrored.check()
    }

    static let moves = [
        Example(
            "one of two",
            "ArrayMove l[0]->1 prior 3",
            "ArrayMove l[1]->2 prior 3",
            gives: "",
            "ArrayMove l[0]->2 prior 3"
        ),
        Example(
            "both",
            "ArrayMove l[0]->1 prior 2",
            "ArrayMove l[1]->0 prior 2",
            gives: "",
            "",
            at: (20, 10)
        ),
        Example(
            "neither",
            "ArrayMove l[0]->1 prior 2",
            "ArrayMove l[1]->0 prior 2",
            gives: "ArrayMove l[1]->0 prior 2",
            "ArrayMove l[0]->1 prior 2"
        ),
    ]

    @Test("Rule 26: 0.0 and -0.0, 1.0 and 1.00 are one element; NaN never is", arguments: elements)
    func element(_ example: Example) throws {
        try example.check()
    }

    static let elements = [
        Example("zero", "SetInsert s 0.0", "SetInsert s -0.0", gives: "", same),
        Example(
            "decimals",
            "SetInsert s Decimal:10E-1",
            "SetInsert s Decimal:100E-2",
            gives: "",
            same
        ),
        Example("NaN", "SetInsert s NaN", "SetInsert s NaN", gives: same, same),
        Example("links", "SetInsert s Link:D:a", "SetInsert s Link:D:a", gives: "", same),
    ]

    @Test("QUIRK S-RAW: links are compared by their index in the string table")
    func rawLinks() throws {
        try Example("same", "SetErase s Link:D:a", "SetErase s Link:D:a", gives: "", Self.same)
            .check()
        try Example(
            "same link, another table",
            "SetInsert t 1; SetErase s Link:D:a",
            "SetErase s Link:D:a",
            gives: Self.same,
            Self.same
        ).check()
        try Example(
            "another link, same table",
            "SetErase s Link:D:a",
            "SetErase s Link:D:b",
            gives: "",
            Self.same
        ).check()
    }

    @Test("Nested: a collection of the expected kind keeps its content", arguments: nested)
    func nestedUpdate(_ example: Example) throws {
        try example.check()
        try example.mirrored.check()
    }

    static let nested = [
        Example("list", "Update m=List", "ArrayInsert m[0]=1 prior 0", gives: same, same),
        Example("list, key", "Update m=List", "Update m.a=1", gives: same, ""),
        Example("dictionary", "Update m=Dictionary", "Update m.a.b=1", gives: same, same),
        Example(
            "dictionary, index",
            "Update m=Dictionary",
            "ArrayErase m[0] prior 1",
            gives: same,
            ""
        ),
        Example("deeper", "Update m.a=1", "Update m.a.b.c=1", gives: same, ""),
        Example("beside", "Update m.a=1", "Update m.b.c=1", gives: same, same),
        Example("increment", "AddInteger m+=1", "Update m.a=1", gives: same, ""),
        Example("clear", "Clear m List", "ArrayInsert m[0][1]=1 prior 1", gives: same, ""),
        Example(
            "clear beside",
            "Clear m.a List",
            "ArrayInsert m.b[1]=1 prior 1",
            gives: same,
            same
        ),
        Example("default", "Update m=1 default", "Update m.a=1", gives: same, ""),
    ]

    @Test("Equal stamps: ours is newer where it is A, and a twofold erase keeps theirs")
    func equalStamps() throws {
        try Example("update", "Update x=1", "Update x=2", gives: Self.same, "", at: (5, 5))
            .checkTie()
        try Example("erase", "EraseObject 1", "EraseObject 1", gives: "", Self.same, at: (5, 5))
            .checkTie()
        try Example(
            "insert",
            "ArrayInsert l[0]=1 prior 0",
            "ArrayInsert l[0]=2 prior 0",
            gives: "ArrayInsert l[1]=1 prior 1",
            "ArrayInsert l[0]=2 prior 1",
            at: (5, 5)
        ).checkTie()
    }

    @Test("Equal times: the larger file ident is newer")
    func equalTimes() throws {
        try Example("update", "Update x=1", "Update x=2", gives: "", Self.same, at: (5, 5)).check()
    }

    @Test("Numbers beyond any list wrap instead of crashing the process")
    func absurdNumbers() throws {
        try Example(
            "14",
            "ArrayInsert l[4294967295]=1 prior 4294967295",
            "ArrayInsert l[4294967295]=2 prior 4294967295",
            gives: "ArrayInsert l[4294967295]=1 prior 0",
            "ArrayInsert l[0]=2 prior 0"
        ).check()
    }
}
