import Changesets
import Schemas
import Testing

/// Tables of instruction semantics, 3.1-3.4.
@Suite("Schema instructions")
struct SchemaInstructionTests {
    private static let intKey = PrimaryKeySchema(name: "_id", type: .int, isNullable: false)

    /// Person and Dog are top-level, Address is embedded, Reading is asymmetric.
    private static let schema = RealmSchema([
        ClassSchema(
            name: "Person",
            kind: .topLevel(intKey),
            properties: [
                PropertySchema(name: "name", type: .string, isNullable: false),
                PropertySchema(name: "dog", type: .link(target: "Dog"), isNullable: true),
                PropertySchema(name: "tags", type: .string, isNullable: false, collection: .list),
            ]
        ),
        ClassSchema(name: "Dog", kind: .topLevel(.none)),
        ClassSchema(name: "Address", kind: .embedded),
        ClassSchema(name: "Reading", kind: .asymmetric(intKey)),
    ])

    private func problem(
        _ body: () throws -> SchemaChange?
    ) -> BadInstruction.Problem? {
        #expect(throws: BadInstruction.self) { _ = try body() }?.problem
    }

    // MARK: AddTable

    @Test("AddTable adds a class of any kind")
    func addTable() throws {
        let kinds: [ClassSchema.Kind] = [
            .topLevel(.init(name: "_id", type: .uuid, isNullable: true)), .topLevel(.none),
            .embedded, .asymmetric(Self.intKey),
        ]
        for kind in kinds {
            var schema = Self.schema
            let added = ClassSchema(name: "New", kind: kind)
            #expect(try schema.addClass("New", kind) == .classAdded(added))
            #expect(schema["New"] == added)
            #expect(schema.classes.last == added)
        }
    }

    @Test("AddTable of the same class is a no-op", arguments: schema.classes)
    func addTableAgain(existing: ClassSchema) throws {
        var schema = Self.schema
        #expect(try schema.addClass(existing.name, existing.kind) == nil)
        #expect(schema == Self.schema)
    }

    @Test(
        "AddTable of another kind or with another key is refused",
        arguments: [
            .embedded, .asymmetric(intKey), .topLevel(.none),
            .topLevel(.init(name: "id", type: .int, isNullable: false)),
            .topLevel(.init(name: "_id", type: .string, isNullable: false)),
            .topLevel(.init(name: "_id", type: .int, isNullable: true)),
        ] as [ClassSchema.Kind]
    )
    func addTableConflict(kind: ClassSchema.Kind) {
        var schema = Self.schema
        let problem = problem { try schema.addClass("Person", kind) }
        guard case .conflict(let conflict) = problem else {
            Issue.record("\(String(describing: problem))")
            return
        }
        #expect(conflict.className == "Person")
        #expect(conflict.existing == "a class with primary key _id: int")
        #expect(schema == Self.schema)
    }

    @Test("Class names have at most 57 bytes of UTF-8, names of keys 63")
    func classNames() throws {
        var schema = Self.schema
        let longest = Text(String(repeating: "x", count: 57))
        _ = try schema.addClass(longest, .embedded)
        let tooLong = Text(String(repeating: "x", count: 58))
        #expect(
            problem { try schema.addClass(tooLong, .embedded) }
                == .badName(tooLong, .tooLong(limit: 57))
        )
        let invalid = Text(bytes: [0xff])
        #expect(problem { try schema.addClass(invalid, .embedded) } == .badName(invalid, .notUTF8))
        #expect(
            problem { try schema.addClass("a\0b", .embedded) } == .badName("a\0b", .holdsNull)
        )
        let key = Text(String(repeating: "k", count: 64))
        #expect(
            problem {
                try schema.addClass("A", .topLevel(.init(name: key, type: .int, isNullable: false)))
            } == .badName(key, .tooLong(limit: 63))
        )
    }

    // MARK: EraseTable

    @Test("EraseTable removes the class and its properties")
    func eraseTable() throws {
        var schema = Self.schema
        let person = try #require(schema["Person"])
        #expect(try schema.eraseClass("Person") == .classErased(person))
        #expect(schema["Person"] == nil)
        #expect(schema.classes.map(\.name) == ["Dog", "Address", "Reading"])
        #expect(schema["Reading"]?.name == "Reading")
    }

    @Test("EraseTable of a missing class is refused")
    func eraseMissingTable() {
        var schema = Self.schema
        #expect(problem { try schema.eraseClass("Cat") } == .unknownClass("Cat"))
    }

    @Test("EraseTable of a class with links from others is refused; links to itself do not count")
    func eraseLinkedTable() throws {
        var schema = Self.schema
        #expect(
            problem { try schema.eraseClass("Dog") } == .classIsLinked("Dog", from: "Person")
        )
        let friend = PropertySchema(
            name: "friend",
            type: .link(target: "Person"),
            isNullable: true
        )
        _ = try schema.addProperty(friend, to: "Person")
        _ = try schema.eraseClass("Person")
        _ = try schema.eraseClass("Dog")
    }

    // MARK: AddColumn

    @Test(
        "AddColumn adds every type in every collection",
        arguments: [
            (.mixed, .single), (.mixed, .set), (.int, .single), (.string, .list), (.uuid, .set),
            (.decimal, .dictionary), (.link(target: "Dog"), .single),
            (.link(target: "Dog"), .set), (.link(target: "Person"), .dictionary),
            (.link(target: "Address"), .single), (.link(target: "Address"), .list),
            (.link(target: "Address"), .dictionary),
        ] as [(PropertyType, CollectionType)]
    )
    func addColumn(type: PropertyType, collection: CollectionType) throws {
        for className in ["Person", "Address", "Reading"] as [Text] {
            var schema = Self.schema
            let property = PropertySchema(
                name: "new",
                type: type,
                isNullable: true,
                collection: collection
            )
            #expect(
                try schema.addProperty(property, to: className)
                    == .propertyAdded(property, className: className)
            )
            #expect(schema[className]?.properties.last == property)
        }
    }

    @Test("AddColumn of the same property is a no-op, regardless of nullability")
    func addColumnAgain() throws {
        var schema = Self.schema
        let property = PropertySchema(name: "name", type: .string, isNullable: true)
        #expect(try schema.addProperty(property, to: "Person") == nil)
        #expect(schema == Self.schema)
    }

    @Test("The primary key counts as an existing column")
    func addKeyColumn() throws {
        var schema = Self.schema
        let same = PropertySchema(name: "_id", type: .int, isNullable: false)
        #expect(try schema.addProperty(same, to: "Person") == nil)
        let other = PropertySchema(name: "_id", type: .string, isNullable: false)
        guard case .conflict = problem({ try schema.addProperty(other, to: "Person") }) else {
            Issue.record("a second column of the name of the key")
            return
        }
        #expect(schema == Self.schema)
    }

    @Test(
        "AddColumn with another type, collection or target is refused",
        arguments: [
            PropertySchema(name: "name", type: .int, isNullable: false),
            PropertySchema(name: "name", type: .string, isNullable: false, collection: .list),
            PropertySchema(name: "dog", type: .link(target: "Person"), isNullable: true),
            PropertySchema(name: "tags", type: .string, isNullable: false, collection: .set),
        ]
    )
    func addColumnConflict(property: PropertySchema) {
        var schema = Self.schema
        let problem = problem { try schema.addProperty(property, to: "Person") }
        guard case .conflict(let conflict) = problem else {
            Issue.record("\(String(describing: problem))")
            return
        }
        #expect(conflict.property == property.name)
        #expect(conflict.declared == schema.definition(of: property))
        #expect(schema == Self.schema)
    }

    @Test("Impossible properties are refused")
    func impossibleColumns() {
        var schema = Self.schema
        func reason(
            _ type: PropertyType,
            _ collection: CollectionType = .single
        ) -> BadInstruction.Problem? {
            let property = PropertySchema(
                name: "new",
                type: type,
                isNullable: true,
                collection: collection
            )
            return problem { try schema.addProperty(property, to: "Person") }
        }
        #expect(
            reason(.link(target: "Cat"))
                == .impossibleProperty("new", in: "Person", reason: .unknownTarget("Cat"))
        )
        #expect(
            reason(.link(target: ""))
                == .impossibleProperty("new", in: "Person", reason: .unknownTarget(""))
        )
        #expect(
            reason(.link(target: "Reading"))
                == .impossibleProperty("new", in: "Person", reason: .asymmetricTarget("Reading"))
        )
        #expect(
            reason(.link(target: "Address"), .set)
                == .impossibleProperty("new", in: "Person", reason: .setOfEmbedded)
        )
        let property = PropertySchema(name: "new", type: .int, isNullable: true)
        #expect(problem { try schema.addProperty(property, to: "Cat") } == .unknownClass("Cat"))
        #expect(schema == Self.schema)
    }

    @Test("Property names have at most 63 bytes of UTF-8")
    func propertyNames() throws {
        var schema = Self.schema
        func property(_ name: Text) -> PropertySchema {
            PropertySchema(name: name, type: .int, isNullable: true)
        }
        let longest = Text(String(repeating: "x", count: 63))
        _ = try schema.addProperty(property(longest), to: "Person")
        let tooLong = Text(String(repeating: "x", count: 64))
        #expect(
            problem { try schema.addProperty(property(tooLong), to: "Person") }
                == .badName(tooLong, .tooLong(limit: 63))
        )
        let invalid = Text(bytes: [0x61, 0xc3])
        #expect(
            problem { try schema.addProperty(property(invalid), to: "Person") }
                == .badName(invalid, .notUTF8)
        )
    }

    // MARK: EraseColumn

    @Test("EraseColumn removes the property and returns its position")
    func eraseColumn() throws {
        var schema = Self.schema
        let dog = try #require(schema["Person"]?.property(named: "dog"))
        #expect(
            try schema.eraseProperty("dog", of: "Person")
                == .propertyErased(dog, className: "Person", position: 1)
        )
        #expect(schema["Person"]?.properties.map(\.name) == ["name", "tags"])
        #expect(schema["Person"]?.position(of: "tags") == 1)
        #expect(schema["Person"]?.position(of: "dog") == nil)
    }

    @Test("EraseColumn of a missing property, or of the primary key, is refused")
    func eraseMissingColumn() {
        var schema = Self.schema
        #expect(
            problem { try schema.eraseProperty("age", of: "Person") }
                == .unknownProperty("age", in: "Person")
        )
        #expect(problem { try schema.eraseProperty("age", of: "Cat") } == .unknownClass("Cat"))
        #expect(
            problem { try schema.eraseProperty("_id", of: "Person") } == .primaryKeyChange("Person")
        )
    }

    // MARK: From a changeset

    @Test("Instructions on objects change no schema")
    func objectInstructions() throws {
        var writer = ChangesetWriter()
        let object = ObjectReference(className: "Person", key: .int(1))
        writer.createObject(object)
        writer.update(object, "name", to: .scalar(.string("Kim")))
        let changeset = try Changeset(decoding: writer.bytes)
        var schema = Self.schema
        for instruction in changeset.instructions {
            #expect(!instruction.changesSchema)
            #expect(try schema.apply(instruction, strings: changeset.strings) == nil)
        }
        #expect(schema == Self.schema)
    }

    @Test(
        "Type codes that no property can have are refused",
        arguments: [.set, .list, .erased, .dictionary, .objectValue, .globalKey] as [TypeCode]
    )
    func impossibleTypeCodes(code: TypeCode) {
        var schema = Self.schema
        #expect(
            problem { try schema.apply(addColumn(type: code)) }
                == .impossibleProperty("new", in: "Person", reason: .typeCode(code))
        )
    }

    @Test("Keys of a dictionary are strings")
    func dictionaryKeys() throws {
        var schema = Self.schema
        #expect(
            problem { try schema.apply(addColumn(type: .int, collection: .dictionary, key: .int)) }
                == .impossibleProperty("new", in: "Person", reason: .keyType(.int))
        )
        let change = try schema.apply(
            addColumn(type: .int, collection: .dictionary, key: .string)
        )
        #expect(change != nil)
    }

    private func addColumn(
        type: TypeCode,
        collection: CollectionType = .single,
        key: TypeCode? = nil
    ) -> Changeset {
        var strings = StringTable()
        let column = Instruction.AddColumn(
            className: strings.intern("Person"),
            field: strings.intern("new"),
            type: type,
            isNullable: true,
            collection: collection,
            keyType: key
        )
        return Changeset(strings: strings, instructions: [.addColumn(column)])
    }
}

extension RealmSchema {
    /// Applies a changeset of one instruction.
    fileprivate mutating func apply(_ changeset: Changeset) throws -> SchemaChange? {
        let instruction = try #require(changeset.instructions.first)
        return try apply(instruction, strings: changeset.strings)
    }
}
