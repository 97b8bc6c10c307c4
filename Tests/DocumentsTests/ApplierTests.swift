import Changesets
import Documents
import Schemas
import TestSupport
import Testing

@Suite("Applying changesets to a store")
struct ApplierTests {
    private static let key = PrimaryKeySchema(name: "_id", type: .int, isNullable: false)
    private static let task = ObjectReference(className: "Task", key: .int(1))

    /// Logs the calls, and fails where told to.
    private struct LoggingStore: ObjectStore {
        struct Broken: Error, Equatable {}

        var realm: InMemoryRealm
        var log: [String] = []
        var failsAt: String?

        var schema: RealmSchema { realm.schema }

        private mutating func note(_ line: String) throws(Broken) {
            log.append(line)
            if line == failsAt { throw Broken() }
        }

        mutating func changeSchema(_ changes: [SchemaChange]) throws(Broken) {
            try note("schema \(changes.count)")
            realm.changeSchema(changes)
        }

        mutating func document(for object: ObjectReference) throws(Broken) -> Document? {
            try note("read \(object.className) \(object.key)")
            return realm.document(for: object)
        }

        mutating func setDocument(
            _ document: Document,
            for object: ObjectReference
        ) throws(Broken) {
            try note("write \(object.className) \(object.key)")
            realm.setDocument(document, for: object)
        }

        mutating func removeDocument(for object: ObjectReference) throws(Broken) {
            try note("remove \(object.className) \(object.key)")
            realm.removeDocument(for: object)
        }
    }

    private func changeset(_ body: (inout ChangesetWriter) -> Void) throws -> Changeset {
        var writer = ChangesetWriter()
        body(&writer)
        return try Changeset(decoding: writer.bytes)
    }

    private func schemaChangeset() throws -> Changeset {
        try changeset { writer in
            writer.addTopLevelClass("Task", primaryKey: "_id", type: .int, isNullable: false)
            writer.addEmbeddedClass("Step")
            writer.addColumn("n", to: "Task", type: .int, isNullable: false, collection: .single)
            writer.addColumn(
                "steps",
                to: "Task",
                type: .link,
                isNullable: false,
                collection: .list,
                linkTarget: "Step"
            )
        }
    }

    @Test("An object is read once and written once, however often it is changed")
    func batching() throws {
        var store = LoggingStore(realm: InMemoryRealm())
        try store.apply([try schemaChangeset()])
        #expect(store.log == ["schema 4"])
        store.log = []
        let other = ObjectReference(className: "Task", key: .int(0))
        let first = try changeset { writer in
            writer.createObject(Self.task)
            writer.update(Self.task, "n", to: .scalar(.int(1)))
            writer.createObject(other)
        }
        let second = try changeset { writer in
            writer.addInteger(Self.task, "n", amount: 1)
            writer.eraseObject(ObjectReference(className: "Task", key: .int(5)))
        }
        try store.apply([first, second])
        #expect(
            store.log == [
                "read Task int(1)", "read Task int(0)",
                "write Task int(0)", "write Task int(1)", "remove Task int(5)",
            ]
        )
        #expect(store.realm.value("n", of: Self.task) == .scalar(.int(2)))
    }

    @Test("An object that is only read is not written")
    func reading() throws {
        var store = LoggingStore(realm: InMemoryRealm())
        try store.apply([try schemaChangeset(), try changeset { $0.createObject(Self.task) }])
        store.log = []
        try store.apply([try changeset { $0.createObject(Self.task) }])
        #expect(store.log == ["read Task int(1)"])
    }

    @Test("Objects are written before the schema changes under them, and read again after")
    func barriers() throws {
        var store = LoggingStore(realm: InMemoryRealm())
        let mixed = try changeset { writer in
            writer.addTopLevelClass("Task", primaryKey: "_id", type: .int, isNullable: false)
            writer.createObject(Self.task)
            writer.addColumn("n", to: "Task", type: .int, isNullable: false, collection: .single)
            writer.addColumn("n", to: "Task", type: .int, isNullable: false, collection: .single)
            writer.update(Self.task, "n", to: .scalar(.int(4)))
        }
        try store.apply([mixed])
        #expect(
            store.log == [
                "schema 1", "read Task int(1)", "write Task int(1)", "schema 1",
                "read Task int(1)", "write Task int(1)",
            ]
        )
        #expect(store.realm.value("n", of: Self.task) == .scalar(.int(4)))
    }

    @Test("A schema that already exists is not a barrier")
    func repeatedSchema() throws {
        var store = LoggingStore(realm: InMemoryRealm())
        try store.apply([try schemaChangeset()])
        store.log = []
        try store.apply([
            try changeset { $0.createObject(Self.task) }, try schemaChangeset(),
            try changeset { $0.addInteger(Self.task, "n", amount: 1) },
        ])
        #expect(store.log == ["read Task int(1)", "write Task int(1)"])
    }

    @Test(
        "A failure of the store ends the batch",
        arguments: ["schema 4", "read Task int(1)", "write Task int(1)"]
    )
    func storeFailure(failsAt: String) throws {
        var store = LoggingStore(realm: InMemoryRealm(), failsAt: failsAt)
        let changesets = [try schemaChangeset(), try changeset { $0.createObject(Self.task) }]
        #expect(throws: ApplyError<LoggingStore.Broken>.store(LoggingStore.Broken())) {
            try store.apply(changesets)
        }
        #expect(store.log.last == failsAt)
    }

    @Test("An error names the instruction in its changeset")
    func position() throws {
        var store = LoggingStore(realm: InMemoryRealm())
        try store.apply([try schemaChangeset()])
        let bad = try changeset { writer in
            writer.createObject(Self.task)
            writer.update(Self.task, "n", to: .scalar(.int(4)))
            writer.update(Self.task, "n", to: .scalar(.null))
        }
        let expected = BadInstruction(.nullNotAllowed, at: 2)
        #expect(throws: ApplyError<LoggingStore.Broken>.badInstruction(expected)) {
            try store.apply([bad])
        }
        #expect(expected.description == "instruction 2: null is not allowed here")
        let again = try changeset { writer in
            writer.addEmbeddedClass("Step")
            writer.addTopLevelClass("Step", primaryKey: "_id", type: .int, isNullable: false)
        }
        let error = #expect(throws: ApplyError<LoggingStore.Broken>.self) {
            try store.apply([again])
        }
        guard case .badInstruction(let second) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(second.position == 1)
    }

    @Test("A realm in memory is as before when a changeset is refused, its schema too")
    func rollback() throws {
        var realm = InMemoryRealm()
        try realm.apply(try schemaChangeset())
        try realm.apply(try changeset { $0.createObject(Self.task) })
        let before = realm
        let bad = try changeset { writer in
            writer.update(Self.task, "n", to: .scalar(.int(4)))
            writer.addTopLevelClass("Late", primaryKey: "_id", type: .int, isNullable: false)
            writer.addColumn("m", to: "Task", type: .int, isNullable: false, collection: .single)
            writer.update(Self.task, "gone", to: .scalar(.int(4)))
        }
        #expect(throws: BadInstruction(.unknownProperty("gone", in: "Task"), at: 3)) {
            try realm.apply(bad)
        }
        #expect(realm == before)
        #expect(realm.schema == before.schema)
    }

    @Test("A property is added to every embedded object, and erased from each")
    func embeddedSchemaChanges() throws {
        var realm = InMemoryRealm()
        try realm.apply(try schemaChangeset())
        try realm.apply(
            try changeset { writer in
                writer.createObject(Self.task)
                writer.update(Self.task, "n", to: .scalar(.int(3)))
                writer.arrayInsert(
                    Self.task,
                    "steps",
                    path: [.index(0)],
                    .objectValue,
                    priorSize: 0
                )
            }
        )
        try realm.apply(
            try changeset { writer in
                for (name, type) in [("a", .int), ("b", .string)] as [(Text, TypeCode)] {
                    writer.addColumn(
                        name,
                        to: "Step",
                        type: type,
                        isNullable: false,
                        collection: .single
                    )
                }
                writer.update(
                    Self.task,
                    "steps",
                    path: [.index(0), .string("b")],
                    to: .scalar(.string("x"))
                )
            }
        )
        #expect(
            realm.value("steps", of: Self.task)
                == .list([.object(Document(values: [.scalar(.int(0)), .scalar(.string("x"))]))])
        )
        try realm.apply(erase("a", of: "Step"))
        #expect(
            realm.value("steps", of: Self.task)
                == .list([.object(Document(values: [.scalar(.string("x"))]))])
        )
        try realm.apply(erase("n", of: "Task"))
        #expect(realm.value("n", of: Self.task) == nil)
        #expect(realm.objects["Task"]?[.int(1)]?.values.count == 1)
    }

    @Test("Erasing a class erases its objects, and a new one of its name is empty")
    func erasedClass() throws {
        var realm = InMemoryRealm()
        try realm.apply(try schemaChangeset())
        try realm.apply(try changeset { $0.createObject(Self.task) })
        var strings = StringTable()
        let erase = Instruction.eraseTable(className: strings.intern("Task"))
        try realm.apply(Changeset(strings: strings, instructions: [erase]))
        #expect(realm.isDangling(Self.task))
        try realm.apply(try schemaChangeset())
        #expect(realm.isDangling(Self.task))
    }

    private func erase(_ property: Text, of className: Text) -> Changeset {
        var strings = StringTable()
        let erase = Instruction.eraseColumn(
            className: strings.intern(className),
            field: strings.intern(property)
        )
        return Changeset(strings: strings, instructions: [erase])
    }

    @Test("Two realms that learned their schema in another order are equal if their values are")
    func equality() throws {
        let properties: [(Text, TypeCode)] = [("a", .int), ("b", .string)]
        func realm(_ properties: [(Text, TypeCode)], _ value: Int64) throws -> InMemoryRealm {
            var realm = InMemoryRealm()
            try realm.apply(
                try changeset { writer in
                    writer.addTopLevelClass(
                        "Task",
                        primaryKey: "_id",
                        type: .int,
                        isNullable: false
                    )
                    for (name, type) in properties {
                        writer.addColumn(
                            name,
                            to: "Task",
                            type: type,
                            isNullable: false,
                            collection: .single
                        )
                    }
                    writer.createObject(Self.task)
                    writer.update(Self.task, "a", to: .scalar(.int(value)))
                }
            )
            return realm
        }
        let one = try realm(properties, 1)
        #expect(one == one)
        #expect(one == (try realm(properties.reversed(), 1)))
        #expect(one != (try realm(properties.reversed(), 2)))
        #expect(one != (try realm([properties[0]], 1)))
    }
}
