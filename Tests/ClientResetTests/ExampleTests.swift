import Changesets
import ClientReset
import Documents
import Testing

/// Client reset, 7.5: the list of words is [A, B] at the start.
@Suite struct ExampleTests {
    typealias Edit = @Sendable (inout ChangesetWriter) -> Void

    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var start: [Edit] = []
        let local: [Edit]
        let remote: [Edit]
        let property: Text
        let result: Value?
    }

    @Test("The result of recovery", arguments: lists + values)
    func row(_ row: Row) throws {
        var start = Script(try Script.start())
        for edit in row.start { try start.perform(edit) }
        var local = Script(start.realm)
        var remote = Script(start.realm)
        for edit in row.local { try local.perform(edit) }
        for edit in row.remote { try remote.perform(edit) }
        let realm = try Script.recover(local: local, remote: remote).realm
        #expect(realm.value(row.property, of: owner) == row.result)
    }

    static let lists: [Row] = [
        Row("insert at the end", [insert("X", 2, of: 2)], [], ["A", "B", "X"]),
        Row(
            "inserts at different places",
            [insert("X", 1, of: 2)],
            [insert("Y", 0, of: 2)],
            ["Y", "X", "A", "B"]
        ),
        Row("insert into a cleared list", [insert("X", 2, of: 2)], [clear], ["X"]),
        Row("erase", [erase(0, of: 2)], [], ["B"]),
        Row("erase and a remote insert", [erase(0, of: 2)], [insert("Y", 2, of: 2)], ["B"]),
        Row("set an element", [set("Z", 0, of: 2)], [insert("Y", 0, of: 2)], ["Z", "B"]),
        Row(
            "insert, then erase the same",
            [insert("X", 0, of: 2), erase(0, of: 3)],
            [insert("Y", 0, of: 2)],
            ["Y", "A", "B"]
        ),
        Row("clear, then insert", [clear, insert("X", 0, of: 0)], [insert("Y", 2, of: 2)], ["X"]),
        Row("move", [move(0, 1, of: 2)], [], ["B", "A"]),
        Row(
            "insert, then erase another",
            [insert("X", 0, of: 2), erase(1, of: 3)],
            [insert("Y", 0, of: 2)],
            ["X", "B"]
        ),
    ]

    static let values: [Row] = [
        Row(
            testDescription: "a link to what was deleted",
            local: [{ $0.update(owner, "one", to: .scalar(.link(Script.item(4)))) }],
            remote: [{ $0.eraseObject(Script.item(4)) }],
            property: "one",
            result: .null
        ),
        Row(
            testDescription: "delete, and a remote update",
            local: [{ $0.eraseObject(owner) }],
            remote: [{ $0.update(owner, "a", to: int(1)) }],
            property: "a",
            result: nil
        ),
        Row(
            testDescription: "update, and a remote delete",
            local: [{ $0.update(owner, "a", to: int(1)) }],
            remote: [{ $0.eraseObject(owner) }],
            property: "a",
            result: nil
        ),
        Row(
            testDescription: "both create, the client wins",
            start: [{ $0.eraseObject(owner) }],
            local: [{ $0.createObject(owner) }, { $0.update(owner, "a", to: int(5)) }],
            remote: [{ $0.createObject(owner) }, { $0.update(owner, "a", to: int(7)) }],
            property: "a",
            result: .scalar(.int(5))
        ),
        Row(
            testDescription: "both set, the client wins",
            local: [{ $0.update(owner, "a", to: int(5)) }],
            remote: [{ $0.update(owner, "a", to: int(7)) }],
            property: "a",
            result: .scalar(.int(5))
        ),
        Row(
            testDescription: "another property of the server stays",
            local: [{ $0.update(owner, "a", to: int(5)) }],
            remote: [{ $0.update(owner, "b", to: int(7)) }],
            property: "b",
            result: .scalar(.int(7))
        ),
        Row(
            testDescription: "an amount is added to the server's number",
            start: [{ $0.update(owner, "a", to: int(10)) }],
            local: [{ $0.addInteger(owner, "a", amount: 3) }],
            remote: [{ $0.update(owner, "a", to: int(20)) }],
            property: "a",
            result: .scalar(.int(23))
        ),
        Row(
            testDescription: "an amount is not added to null",
            start: [{ $0.update(owner, "a", to: int(10)) }],
            local: [{ $0.addInteger(owner, "a", amount: 3) }],
            remote: [{ $0.update(owner, "a", to: .scalar(.null)) }],
            property: "a",
            result: .null
        ),
        Row(
            testDescription: "both insert into a set",
            local: [{ $0.setInsert(owner, "tags", .string("X")) }],
            remote: [{ $0.setInsert(owner, "tags", .string("X")) }],
            property: "tags",
            result: .set(ValueSet([.string("X")]))
        ),
        Row(
            testDescription: "a key is set, the server erases it",
            start: [{ $0.update(owner, "map", path: [.string("k")], to: int(1)) }],
            local: [{ $0.update(owner, "map", path: [.string("k")], to: int(2)) }],
            remote: [{ $0.update(owner, "map", path: [.string("k")], to: .erased) }],
            property: "map",
            result: .dictionary(["k": .scalar(.int(2))])
        ),
        Row(
            testDescription: "a key is erased, the server sets it",
            start: [{ $0.update(owner, "map", path: [.string("k")], to: int(1)) }],
            local: [{ $0.update(owner, "map", path: [.string("k")], to: .erased) }],
            remote: [{ $0.update(owner, "map", path: [.string("k")], to: int(2)) }],
            property: "map",
            result: .dictionary([:])
        ),
        Row(
            testDescription: "an embedded object is edited, the server removes it",
            start: [{ $0.update(owner, "part", to: .objectValue) }],
            local: [{ $0.update(owner, "part", path: [.string("n")], to: int(1)) }],
            remote: [{ $0.update(owner, "part", to: .scalar(.null)) }],
            property: "part",
            result: .null
        ),
        Row(
            testDescription: "an embedded object is removed, the server edits it",
            start: [{ $0.update(owner, "part", to: .objectValue) }],
            local: [{ $0.update(owner, "part", to: .scalar(.null)) }],
            remote: [{ $0.update(owner, "part", path: [.string("n")], to: int(1)) }],
            property: "part",
            result: .null
        ),
        Row(
            testDescription: "an element of an embedded list is edited",
            start: [
                { $0.arrayInsert(owner, "parts", path: [.index(0)], .objectValue, priorSize: 0) }
            ],
            local: [
                { $0.update(owner, "parts", path: [.index(0), .string("n")], to: int(1)) }
            ],
            remote: [
                { $0.arrayInsert(owner, "parts", path: [.index(0)], .objectValue, priorSize: 1) },
                { $0.update(owner, "parts", path: [.index(0), .string("n")], to: int(9)) },
            ],
            property: "parts",
            result: .list([
                .object(Document(values: [.scalar(.int(1)), .null, .list([])]))
            ])
        ),
    ]
}

private let owner = Script.owner

private func int(_ value: Int64) -> ChangesetWriter.Content { .scalar(.int(value)) }

private let clear: ExampleTests.Edit = { $0.clear(owner, "words", .list) }

private func insert(_ word: Text, _ index: UInt32, of size: UInt32) -> ExampleTests.Edit {
    { writer in
        let content = ChangesetWriter.Content.scalar(.string(word))
        writer.arrayInsert(owner, "words", path: [.index(index)], content, priorSize: size)
    }
}

private func set(_ word: Text, _ index: UInt32, of size: UInt32) -> ExampleTests.Edit {
    { writer in
        let content = ChangesetWriter.Content.scalar(.string(word))
        writer.updateElement(owner, "words", path: [.index(index)], to: content, priorSize: size)
    }
}

private func erase(_ index: UInt32, of size: UInt32) -> ExampleTests.Edit {
    { $0.arrayErase(owner, "words", path: [.index(index)], priorSize: size) }
}

private func move(_ from: UInt32, _ to: UInt32, of size: UInt32) -> ExampleTests.Edit {
    { $0.arrayMove(owner, "words", path: [.index(from)], to: to, priorSize: size) }
}

extension ExampleTests.Row {
    /// About the list of words.
    fileprivate init(
        _ description: String,
        _ local: [ExampleTests.Edit],
        _ remote: [ExampleTests.Edit],
        _ words: [Text]
    ) {
        self.init(
            testDescription: description,
            local: local,
            remote: remote,
            property: "words",
            result: .list(words.map { .scalar(.string($0)) })
        )
    }
}
