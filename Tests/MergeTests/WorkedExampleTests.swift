import Testing

/// Every row of the specification's worked examples (merge rules, 7), from both ends.
@Suite("Worked examples")
struct WorkedExampleTests {
    private static let same = Example.same

    @Test("Updates", arguments: updates)
    func update(_ example: Example) throws {
        try example.check()
        try example.mirrored.check()
    }

    static let updates = [
        Example("7a", "Update x=1", "Update x=2", gives: "", same),
        Example("7b", "Update x=1", "Update x=2 default", gives: same, ""),
        Example("7c", "Update x=1 default", "Update x=2 default", gives: "", same),
        Example(
            "7d",
            "Update e=ObjectValue; Update e.x=1",
            "Update e=Null",
            gives: "",
            same,
            at: (30, 20)
        ),
        Example(
            "7e",
            "Update e=ObjectValue; Update e.x=1; Update e.y=2",
            "Update e=ObjectValue; Update e.x=5",
            gives: "Update e.y=2",
            same
        ),
        Example(
            "7f",
            "Update e=Null; Update e=ObjectValue; Update e.x=1",
            "Update e.x=5",
            gives: same,
            ""
        ),
        Example(
            "7g",
            "Update m=Dictionary; Update m.a=1",
            "Update m=Dictionary; Update m.a=2",
            gives: "Update m=Dictionary",
            same
        ),
        Example(
            "7h",
            "Update m=Dictionary; Update m.a=1",
            "Update m=List; ArrayInsert m[0]=2 prior 0",
            gives: "",
            same
        ),
        Example(
            "7i",
            "Update m=1",
            "Update m=List; ArrayInsert m[0]=7 prior 0",
            gives: same,
            "",
            at: (10, 5)
        ),
        Example("7j", "Update d.a=Erased", "Update d.a=2", gives: "", same),
        Example("7k", "Update m.a=Erased", "Update m.a.b=1", gives: same, ""),
    ]

    @Test("Increments", arguments: increments)
    func increment(_ example: Example) throws {
        try example.check()
        try example.mirrored.check()
    }

    static let increments = [
        Example("8a", "Update x=5", "AddInteger x+=3", gives: "Update x=8", same),
        Example("8b", "Update x=5", "AddInteger x+=3", gives: same, "", at: (30, 20)),
        Example(
            "8c",
            "Update x=5 default",
            "AddInteger x+=3",
            gives: "Update x=8 default",
            same,
            at: (30, 20)
        ),
        Example("8d", "Update x=Null", "AddInteger x+=3", gives: same, same),
        Example("8e", "Update x=\"s\"", "AddInteger x+=3", gives: same, ""),
        Example(
            "8f",
            "Update x=1; AddInteger x+=10",
            "AddInteger x+=3",
            gives: "Update x=4; AddInteger x+=10",
            same
        ),
        Example(
            "8g",
            "Update x=9223372036854775807",
            "AddInteger x+=1",
            gives: "Update x=-9223372036854775808",
            same
        ),
    ]

    @Test("Creating and erasing objects", arguments: objects)
    func object(_ example: Example) throws {
        try example.check()
        try example.mirrored.check()
    }

    static let objects = [
        Example(
            "5a",
            "CreateObject 7; Update 7.x=1",
            "EraseObject 7",
            gives: "",
            same,
            at: (30, 20)
        ),
        Example("6a", "EraseObject 1", "EraseObject 1", gives: same, "", at: (30, 20)),
        Example(
            "6b",
            "EraseObject 1; CreateObject 1; Update x=1",
            "EraseObject 1",
            gives: same,
            "",
            at: (30, 20)
        ),
        Example(
            "6c",
            "EraseObject 1; CreateObject 1; Update x=1",
            "EraseObject 1",
            gives: "",
            same
        ),
        Example("O6", "Update k=Link:D:pk", "EraseObject D:pk", gives: same, same),
    ]

    @Test("Lists", arguments: lists)
    func list(_ example: Example) throws {
        try example.check()
        try example.mirrored.check()
    }

    static let lists = [
        Example(
            "13",
            "ArrayInsert l[1]=5 prior 3",
            "Update l[1]=9 prior 3",
            gives: same,
            "Update l[2]=9 prior 4"
        ),
        Example(
            "14a",
            "ArrayInsert l[0]=1 prior 0",
            "ArrayInsert l[0]=2 prior 0",
            gives: "ArrayInsert l[0]=1 prior 1",
            "ArrayInsert l[1]=2 prior 1"
        ),
        Example(
            "14b",
            "ArrayInsert l[0]=1 prior 3",
            "ArrayInsert l[2]=2 prior 3",
            gives: "ArrayInsert l[0]=1 prior 4",
            "ArrayInsert l[3]=2 prior 4"
        ),
        Example(
            "15a",
            "ArrayMove l[0]->2 prior 3",
            "Update l[0]=9 prior 3",
            gives: same,
            "Update l[2]=9 prior 3"
        ),
        Example(
            "15b",
            "ArrayMove l[0]->2 prior 3",
            "Update l[1]=9 prior 3",
            gives: same,
            "Update l[0]=9 prior 3"
        ),
        Example(
            "16a",
            "ArrayMove l[0]->2 prior 3",
            "ArrayInsert l[1]=9 prior 3",
            gives: "ArrayMove l[0]->3 prior 4",
            "ArrayInsert l[0]=9 prior 3"
        ),
        Example(
            "16b",
            "ArrayMove l[0]->2 prior 3",
            "ArrayInsert l[2]=9 prior 3",
            gives: "ArrayMove l[0]->3 prior 4",
            "ArrayInsert l[1]=9 prior 3"
        ),
        Example(
            "16c",
            "ArrayMove l[0]->2 prior 3",
            "ArrayInsert l[3]=9 prior 3",
            gives: "ArrayMove l[0]->3 prior 4",
            "ArrayInsert l[2]=9 prior 3"
        ),
        Example(
            "17a",
            "ArrayMove l[0]->2 prior 3",
            "ArrayMove l[0]->1 prior 3",
            gives: "",
            "ArrayMove l[2]->1 prior 3"
        ),
        Example(
            "17b",
            "ArrayMove l[0]->2 prior 3",
            "ArrayMove l[0]->2 prior 3",
            gives: "",
            ""
        ),
        Example(
            "17c",
            "ArrayMove l[0]->2 prior 4",
            "ArrayMove l[3]->1 prior 4",
            gives: "ArrayMove l[0]->3 prior 4",
            "ArrayMove l[3]->0 prior 4"
        ),
        Example(
            "17d",
            "ArrayMove l[0]->1 prior 3",
            "ArrayMove l[2]->1 prior 3",
            gives: "ArrayMove l[0]->2 prior 3",
            "ArrayMove l[2]->0 prior 3"
        ),
        Example(
            "18a",
            "ArrayErase l[1] prior 3",
            "Update l[1]=9 prior 3",
            gives: same,
            ""
        ),
        Example(
            "18b",
            "ArrayErase l[0] prior 3",
            "Update l[1]=9 prior 3",
            gives: same,
            "Update l[0]=9 prior 2"
        ),
        Example(
            "19a",
            "ArrayInsert l[1]=5 prior 3",
            "ArrayErase l[1] prior 3",
            gives: "ArrayInsert l[1]=5 prior 2",
            "ArrayErase l[2] prior 4"
        ),
        Example(
            "19b",
            "ArrayInsert l[2]=5 prior 3",
            "ArrayErase l[1] prior 3",
            gives: "ArrayInsert l[1]=5 prior 2",
            "ArrayErase l[1] prior 4"
        ),
        Example(
            "20a",
            "ArrayMove l[0]->2 prior 3",
            "ArrayErase l[0] prior 3",
            gives: "",
            "ArrayErase l[2] prior 3"
        ),
        Example(
            "20b",
            "ArrayMove l[0]->2 prior 3",
            "ArrayErase l[1] prior 3",
            gives: "ArrayMove l[0]->1 prior 2",
            "ArrayErase l[0] prior 3"
        ),
        Example(
            "20c",
            "ArrayMove l[0]->1 prior 3",
            "ArrayErase l[1] prior 3",
            gives: "",
            "ArrayErase l[0] prior 3"
        ),
        Example(
            "21a",
            "ArrayErase l[1] prior 3",
            "ArrayErase l[1] prior 3",
            gives: "",
            ""
        ),
        Example(
            "21b",
            "ArrayErase l[0] prior 3",
            "ArrayErase l[2] prior 3",
            gives: "ArrayErase l[0] prior 2",
            "ArrayErase l[1] prior 2"
        ),
    ]

    @Test("Cleared collections and sets", arguments: clears)
    func clear(_ example: Example) throws {
        try example.check()
        try example.mirrored.check()
    }

    static let clears = [
        Example(
            "22a",
            "Clear m List",
            "Update m=List; ArrayInsert m[0]=1 prior 0",
            gives: same,
            "Update m=List"
        ),
        Example(
            "22b",
            "Clear m Dictionary",
            "Update m=List; ArrayInsert m[0]=1 prior 0",
            gives: "",
            same
        ),
        Example("22c", "Clear m List", "Update m=1", gives: same, "", at: (30, 20)),
        Example("23", "Clear m List", "AddInteger m+=1", gives: same, ""),
        Example(
            "24",
            "Clear l List; ArrayInsert l[0]=1 prior 0",
            "Clear l List; ArrayInsert l[0]=2 prior 0",
            gives: "",
            same
        ),
        Example("25", "Clear s Set", "SetInsert s \"a\"", gives: same, ""),
        Example("25, erase", "Clear s Set", "SetErase s \"a\"", gives: same, ""),
        Example("26a", "SetInsert s \"a\"", "SetInsert s \"a\"", gives: "", same),
        Example("26b", "SetInsert s \"a\"", "SetErase s \"a\"", gives: same, "", at: (30, 20)),
        Example("27a", "SetErase s 4", "SetErase s 4", gives: "", same),
    ]

    @Test("QUIRK S-RAW: erased strings are compared by their offset", arguments: rawErasures)
    func rawErasure(_ example: Example) throws {
        try example.check()
        try example.mirrored.check()
    }

    static let rawErasures = [
        Example("27b", "SetErase s \"a\"", "SetErase s \"b\"", gives: "", same),
        Example(
            "27c",
            "SetInsert s \"zz\"; SetErase s \"a\"",
            "SetErase s \"a\"",
            gives: same,
            same
        ),
    ]

    @Test("Paths through lists", arguments: nested)
    func nestedList(_ example: Example) throws {
        try example.check()
        try example.mirrored.check()
    }

    static let nested = [
        Example(
            "N1",
            "ArrayInsert el[0]=ObjectValue prior 2",
            "Update el[1].x=1",
            gives: same,
            "Update el[2].x=1"
        ),
        Example(
            "N2",
            "ArrayErase el[0] prior 2",
            "Update el[1].x=1",
            gives: same,
            "Update el[0].x=1"
        ),
        Example(
            "N3",
            "ArrayErase el[1] prior 2",
            "Update el[1].x=1; ArrayInsert el[1].xl[0]=5 prior 0",
            gives: same,
            ""
        ),
        Example(
            "N8",
            "ArrayInsert ml[0]=List prior 1; ArrayInsert ml[0][0]=5 prior 0",
            "ArrayInsert ml[0]=List prior 1; ArrayInsert ml[0][0]=7 prior 0",
            gives: "ArrayInsert ml[0]=List prior 2; ArrayInsert ml[0][0]=5 prior 0",
            "ArrayInsert ml[1]=List prior 2; ArrayInsert ml[1][0]=7 prior 0"
        ),
    ]

    @Test("QUIRK N-MOVE: the move changes its source, not the path", arguments: moves)
    func move(_ example: Example) throws {
        try example.check()
        try example.mirrored.check()
    }

    static let moves = [
        Example(
            "N4",
            "ArrayMove el[0]->1 prior 2",
            "Update el[0].x=1",
            gives: "ArrayMove el[1]->1 prior 2",
            same
        ),
        Example(
            "N5",
            "ArrayMove el[1]->2 prior 3",
            "Update el[0].x=1",
            gives: "ArrayMove el[0]->2 prior 3",
            same
        ),
        Example("N6", "ArrayMove el[0]->2 prior 3", "Update el[1].x=1", gives: same, same),
    ]

    @Test("QUIRK N-CLEAR: a cleared element is not followed", arguments: clearedElements)
    func clearedElement(_ example: Example) throws {
        try example.check()
        try example.mirrored.check()
    }

    static let clearedElements = [
        Example("N7", "ArrayInsert ml[0]=1 prior 1", "Clear ml[0] List", gives: same, same)
    ]

    @Test("Schema", arguments: schema)
    func schemaChange(_ example: Example) throws {
        try example.check()
        try example.mirrored.check()
    }

    static let schema = [
        Example(
            "T1",
            "AddTable C",
            "AddTable C; AddColumn C.x Int",
            gives: "",
            "AddColumn C.x Int"
        ),
        Example(
            "T3",
            "AddTable C; AddColumn C.x Int; AddColumn C.y Int",
            "AddTable C; AddColumn C.y Int; AddColumn C.z Int",
            gives: "AddColumn C.x Int",
            "AddColumn C.z Int"
        ),
        Example(
            "T5",
            "EraseTable C",
            "AddColumn C.x Int; CreateObject 1; Update x=1; Update D:1.x=1",
            gives: same,
            "Update D:1.x=1"
        ),
        Example(
            "T6",
            "EraseTable D",
            "AddColumn C.k ->D; Update k=Link:D:pk",
            gives: "EraseColumn C.k; EraseTable D",
            ""
        ),
        Example(
            "T7",
            "EraseColumn C.x",
            "AddColumn C.x Int; Update x=1; AddInteger x+=1; ArrayInsert x[0]=1 prior 0",
            gives: same,
            "AddInteger x+=1; ArrayInsert x[0]=1 prior 0"
        ),
    ]
}
