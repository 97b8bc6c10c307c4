import Changesets
import Testing

@Suite("Writing a changeset as it happens")
struct ChangesetWriterTests {
    private let person = ObjectReference(className: "Person", key: .int(1))
    private let fido = ObjectReference(className: "Dog", key: .string("fido"))

    private func expect(_ writer: ChangesetWriter, _ hexadecimal: String) throws {
        #expect(Hexadecimal.text(of: writer.bytes) == hexadecimal)
        #expect(writer.sizeInBytes == hexadecimal.utf8.count / 2)
        let changeset = try Changeset(decoding: writer.bytes)
        #expect(writer.isEmpty == changeset.instructions.isEmpty)
    }

    @Test("Creating a person, as a live client emits it (changesets spec, 6.1)")
    func create() throws {
        var writer = ChangesetWriter()
        #expect(writer.isEmpty)
        writer.createObject(person)
        writer.update(person, "age", to: .scalar(.int(0)))
        writer.update(person, "name", to: .scalar(.string("bob")))
        try expect(
            writer,
            "3f0006506572736f6e" + "02000101" + "3f0103616765" + "040001010100010000"
                + "3f02046e616d65" + "0400010102000303626f6200"
        )
    }

    @Test("Deleting a dog that is linked from everywhere (changesets spec, 6.1)")
    func delete() throws {
        var writer = ChangesetWriter()
        writer.update(person, "dog", to: .scalar(.null))
        writer.arrayErase(person, "dogs", path: [.index(0)], priorSize: 2)
        writer.arrayErase(person, "dogs", path: [.index(0)], priorSize: 1)
        writer.setErase(person, "dogset", .link(fido))
        writer.update(person, "dogdict", path: [.string("k")], to: .scalar(.null))
        writer.update(person, "any", to: .scalar(.null))
        writer.eraseObject(fido)
        try expect(
            writer,
            "3f0006506572736f6e3f0103646f6704000101010000003f0204646f67730a000101020100020a"
                + "000101020100013f0306646f677365743f0403446f673f05046669646f0d0001010300090403"
                + "053f0607646f67646963743f07016b040001010601400700003f0803616e7904000101080000"
                + "0003040305"
        )
    }

    @Test("A changeset that was written live re-encodes with all strings in front (spec, 9)")
    func reencoded() throws {
        let live = try #require(
            Hexadecimal.bytes(of: "3f00014303000101020001013f010178040001010100010100")
        )
        let changeset = try Changeset(decoding: live)
        #expect(
            Hexadecimal.text(of: changeset.encoded())
                == "3f0001433f0101780300010102000101040001010100010100"
        )
        var writer = ChangesetWriter()
        let object = ObjectReference(className: "C", key: .int(1))
        writer.eraseObject(object)
        writer.createObject(object)
        writer.update(object, "x", to: .scalar(.int(1)))
        #expect(writer.bytes == live)
    }

    @Test("Strings come in the order of need: class, key, field, path, link class, link key")
    func internOrder() throws {
        var writer = ChangesetWriter()
        let object = ObjectReference(className: "C", key: .string("key"))
        writer.update(
            object,
            "field",
            path: [.string("a"), .index(1), .string("b")],
            to: .scalar(.link(fido))
        )
        let changeset = try Changeset(decoding: writer.bytes)
        #expect(changeset.strings.texts == ["C", "key", "field", "a", "b", "Dog", "fido"])
    }

    @Test("Every kind of instruction is written as requested")
    func everyInstruction() throws {
        var writer = ChangesetWriter()
        writer.addEmbeddedClass("E")
        writer.addTopLevelClass("C", primaryKey: "_id", type: .uuid, isNullable: true)
        writer.addTopLevelClass(
            "A",
            primaryKey: "_id",
            type: .objectID,
            isNullable: false,
            isAsymmetric: true
        )
        writer.addColumn("f", to: "C", type: .null, isNullable: true, collection: .dictionary)
        writer.addColumn(
            "e",
            to: "C",
            type: .link,
            isNullable: false,
            collection: .list,
            linkTarget: "E"
        )
        let object = ObjectReference(className: "C", key: .null)
        writer.update(object, "f", path: [.string("k")], to: .erased)
        writer.update(object, "g", to: .list, isDefault: true)
        writer.updateElement(object, "e", path: [.index(2)], to: .dictionary, priorSize: 3)
        writer.addInteger(object, "n", amount: -4)
        writer.arrayInsert(object, "e", path: [.index(0)], .objectValue, priorSize: 0)
        writer.arrayMove(object, "e", path: [.index(0)], to: 1, priorSize: 2)
        writer.clear(object, "f", .dictionary)
        writer.setInsert(object, "s", .bool(true))

        let changeset = try Changeset(decoding: writer.bytes)
        func index(_ text: Text) throws -> InternIndex {
            try #require(changeset.strings.index(of: text))
        }
        func target(_ field: Text, _ path: [PathElement] = []) throws -> Instruction.PathTarget {
            .init(
                object: .init(className: try index("C"), key: .null),
                field: try index(field),
                path: path
            )
        }
        let id = try index("_id")
        let expected: [Instruction] = [
            .addTable(.init(className: try index("E"), kind: .embedded)),
            .addTable(
                .init(
                    className: try index("C"),
                    kind: .topLevel(.init(field: id, type: .uuid, isNullable: true))
                )
            ),
            .addTable(
                .init(
                    className: try index("A"),
                    kind: .asymmetric(.init(field: id, type: .objectID, isNullable: false))
                )
            ),
            .addColumn(
                .init(
                    className: try index("C"),
                    field: try index("f"),
                    type: .null,
                    isNullable: true,
                    collection: .dictionary,
                    keyType: .string
                )
            ),
            .addColumn(
                .init(
                    className: try index("C"),
                    field: try index("e"),
                    type: .link,
                    isNullable: false,
                    collection: .list,
                    linkTarget: try index("E")
                )
            ),
            .update(
                .init(
                    target: try target("f", [.string(try index("k"))]),
                    payload: .erased,
                    detail: .isDefault(false)
                )
            ),
            .update(.init(target: try target("g"), payload: .list, detail: .isDefault(true))),
            .update(
                .init(
                    target: try target("e", [.index(2)]),
                    payload: .dictionary,
                    detail: .priorSize(3)
                )
            ),
            .addInteger(try target("n"), amount: -4),
            .arrayInsert(try target("e", [.index(0)]), .objectValue, priorSize: 0),
            .arrayMove(try target("e", [.index(0)]), to: 1, priorSize: 2),
            .clear(try target("f"), .dictionary),
            .setInsert(try target("s"), .bool(true)),
        ]
        #expect(changeset.instructions == expected)
    }

    @Test("Without writes there is nothing to upload")
    func empty() {
        let writer = ChangesetWriter()
        #expect(writer.isEmpty)
        #expect(writer.bytes.isEmpty)
    }
}
