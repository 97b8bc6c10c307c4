import Changesets
import Documents
import Schemas
import TestSupport
import Testing

/// Instruction semantics, 3.7 and 3.10.
@Suite("Setting a field and adding to it")
struct FieldUpdateTests {
    private static let payloads: [(Text, Payload)] = [
        ("int", .int(5)), ("bool", .bool(true)), ("string", .string("s")),
        ("binary", .binary([1])), ("timestamp", .timestamp(.epoch)),
        ("float", .float(FloatBits(1))), ("double", .double(DoubleBits(1))),
        ("decimal", .decimal(.zero)), ("objectID", .objectID(.zero)), ("uuid", .uuid(.zero)),
    ]

    @Test("A scalar fits a field of its own type, and Mixed", arguments: payloads)
    func scalars(type: Text, payload: Payload) throws {
        var fixture = try Fixture()
        let scalar = Changeset().scalar(payload)
        for (field, _) in Self.payloads + [("any", .null), ("target", .null), ("part", .null)] {
            if field == type || field == "any" {
                try fixture.perform(fixture.update(field, to: payload))
                #expect(fixture.value(field) == scalar.map { .scalar($0) })
            } else {
                #expect(
                    fixture.refusal(of: fixture.update(field, to: payload))
                        == .wrongPayload(payload.typeCode)
                )
            }
        }
    }

    @Test("Null fits what is nullable, links and Mixed")
    func null() throws {
        var fixture = try Fixture()
        let properties = try #require(SampleSchema.everything["Everything"]).properties
        for property in properties where property.collection == .single {
            let update = fixture.update(property.name, to: .null)
            if property.acceptsNull {
                try fixture.perform(update)
                #expect(fixture.value(property.name) == .null)
            } else {
                #expect(fixture.refusal(of: update) == .nullNotAllowed)
            }
        }
    }

    @Test("The reference's null decimal is null")
    func nullDecimal() throws {
        var fixture = try Fixture()
        let payload = Payload.decimal(.referenceNull)
        try fixture.perform(fixture.update("decimalOptional", to: .decimal(.zero)))
        try fixture.perform(fixture.update("decimalOptional", to: payload))
        #expect(fixture.value("decimalOptional") == .null)
        #expect(fixture.refusal(of: fixture.update("decimal", to: payload)) == .nullNotAllowed)
    }

    @Test("Null drops an embedded object, and a collection in Mixed")
    func nullDrops() throws {
        var fixture = try Fixture()
        try fixture.perform(
            fixture.update("part", to: .objectValue),
            fixture.update("part", to: .null),
            fixture.update("any", to: .list),
            fixture.update("any", to: .null)
        )
        #expect(fixture.value("part") == .null)
        #expect(fixture.value("any") == .null)
    }

    @Test("A link fits a property of its class, and Mixed; it may dangle")
    func links() throws {
        var fixture = try Fixture()
        let link = fixture.link("Target", .string("x"))
        try fixture.perform(fixture.update("target", to: link), fixture.update("any", to: link))
        #expect(fixture.value("target") == .link("Target", .string("x")))
        #expect(fixture.value("any") == .link("Target", .string("x")))
        #expect(
            fixture.refusal(of: fixture.update("other", to: link)) == .wrongLinkTarget("Target")
        )
        #expect(fixture.refusal(of: fixture.update("int", to: link)) == .wrongPayload(.link))
        #expect(fixture.refusal(of: fixture.update("part", to: link)) == .wrongPayload(.link))
    }

    @Test("A link to no class, to an embedded class, or with a key of another kind is refused")
    func badLinks() throws {
        var fixture = try Fixture()
        for field in ["target", "any"] as [Text] {
            let unknown = fixture.link("Missing", .int(1))
            #expect(
                fixture.refusal(of: fixture.update(field, to: unknown)) == .unknownClass("Missing")
            )
            let embedded = fixture.link("Part", .int(1))
            #expect(
                fixture.refusal(of: fixture.update(field, to: embedded))
                    == .wrongLinkTarget("Part")
            )
            let wrongKey = fixture.link("Target", .int(1))
            #expect(
                fixture.refusal(of: fixture.update(field, to: wrongKey)) == .wrongKeyType("Target")
            )
        }
    }

    @Test("ObjectValue creates an embedded object, and keeps an existing one")
    func objectValue() throws {
        var fixture = try Fixture()
        try fixture.perform(fixture.update("part", to: .objectValue))
        #expect(fixture.value("part") == .part())
        try fixture.perform(
            fixture.update("part", "count", to: .int(5)),
            fixture.update("part", to: .objectValue)
        )
        #expect(fixture.value("part") == .part(["count": 5]))
        for field in ["target", "int", "any"] as [Text] {
            #expect(
                fixture.refusal(of: fixture.update(field, to: .objectValue))
                    == .wrongPayload(.objectValue)
            )
        }
    }

    @Test("List and Dictionary make Mixed an empty collection, or keep one of the same kind")
    func nestedCollections() throws {
        var fixture = try Fixture()
        try fixture.perform(
            fixture.update("any", to: .int(1)),
            fixture.update("any", to: .list),
            fixture.insert(.int(1), "any", 0, priorSize: 0),
            fixture.update("any", to: .list)
        )
        #expect(fixture.value("any") == [1])
        try fixture.perform(
            fixture.update("any", to: .dictionary),
            fixture.update("any", "k", to: .int(1)),
            fixture.update("any", to: .dictionary)
        )
        #expect(fixture.value("any") == ["k": 1])
        try fixture.perform(fixture.update("any", to: .list))
        #expect(fixture.value("any") == [])
        try fixture.perform(
            fixture.insert(.int(1), "any", 0, priorSize: 0),
            fixture.update("any", to: .string("x"))
        )
        #expect(fixture.value("any") == "x")
        #expect(fixture.refusal(of: fixture.update("int", to: .list)) == .wrongPayload(.list))
    }

    @Test("Set and Erased fit no field")
    func setAndErased() throws {
        var fixture = try Fixture()
        for field in ["any", "int", "part"] as [Text] {
            #expect(fixture.refusal(of: fixture.update(field, to: .set)) == .wrongPayload(.set))
            #expect(
                fixture.refusal(of: fixture.update(field, to: .erased)) == .wrongPayload(.erased)
            )
        }
    }

    @Test("A collection as a whole cannot be set")
    func wholeCollections() throws {
        var fixture = try Fixture()
        for field in ["intList", "intSet", "intDictionary", "partList"] as [Text] {
            for payload in [.null, .int(1), .list, .dictionary, .objectValue] as [Payload] {
                #expect(
                    fixture.refusal(of: fixture.update(field, to: payload)) == .wrongTarget
                )
            }
        }
    }

    @Test("A binary beyond the limit of the format is refused")
    func binaryLimit() throws {
        var fixture = try Fixture()
        let limit = FormatLimits.binarySizeInBytes
        let largest = Payload.binary([UInt8](repeating: 0, count: limit))
        try fixture.perform(fixture.update("binary", to: largest))
        let larger = Payload.binary([UInt8](repeating: 0, count: limit + 1))
        #expect(
            fixture.refusal(of: fixture.update("any", to: larger))
                == .binaryTooLong(sizeInBytes: limit + 1)
        )
    }

    @Test("The effect on a property is known without the object, if the value does not matter")
    func outline() throws {
        var strings = StringTable()
        let object = Instruction.ObjectTarget(
            className: strings.intern("Everything"),
            key: .int(1)
        )
        func effect(
            _ field: Text,
            _ path: [PathElement] = [],
            _ instruction: (Instruction.PathTarget) -> Instruction
        ) throws -> String {
            let target = Instruction.PathTarget(
                object: object,
                field: strings.intern(field),
                path: path
            )
            var editor = InstructionEditor(schema: SampleSchema.everything, strings: strings)
            let change = try editor.outline(of: instruction(target))
            #expect(change.object == object)
            let owner = try #require(SampleSchema.everything["Everything"])
            #expect(owner.properties[change.position].name == field)
            return "\(change.effect)"
        }
        func update(_ field: Text, _ payload: Payload) throws -> String {
            try effect(field) {
                .update(.init(target: $0, payload: payload, detail: .isDefault(false)))
            }
        }
        #expect(try update("int", .int(5)) == "\(PropertyChange.Effect.replace(.int(5)))")
        #expect(try update("any", .string("x")) == "\(PropertyChange.Effect.replace(.string("x")))")
        #expect(try update("part", .null) == "\(PropertyChange.Effect.replace(.null))")
        #expect(try update("part", .objectValue) == "edit")
        #expect(try update("any", .list) == "edit")
        #expect(throws: BadInstruction(.wrongPayload(.bool))) { try update("int", .bool(true)) }
        #expect(throws: BadInstruction(.wrongTarget)) { try update("intList", .int(1)) }

        func add(_ field: Text, _ path: [PathElement] = []) throws -> String {
            try effect(field, path) { .addInteger($0, amount: 3) }
        }
        #expect(try add("int") == "increment(3)")
        #expect(try add("intOptional") == "increment(3)")
        // Whether these hold an integer, or null, only their values tell.
        #expect(try add("any") == "edit")
        #expect(try add("stringOptional") == "edit")
        #expect(try add("intList", [.index(0)]) == "edit")
        #expect(try effect("intList", [.index(0)]) { .arrayErase($0, priorSize: 1) } == "edit")
        #expect(throws: BadInstruction(.unknownProperty("none", in: "Everything"))) {
            try add("none")
        }
    }

    // MARK: AddInteger

    @Test("An amount is added with wrap-around, in Int and in Mixed that holds one")
    func addInteger() throws {
        var fixture = try Fixture()
        try fixture.perform(
            fixture.add(3, "int"),
            fixture.add(-10, "int"),
            fixture.update("any", to: .int(.max)),
            fixture.add(2, "any"),
            fixture.update("part", to: .objectValue),
            fixture.add(4, "part", "count")
        )
        #expect(fixture.value("int") == -7)
        #expect(fixture.value("any") == .scalar(.int(.min + 1)))
        #expect(fixture.value("part") == .part(["count": 4]))
    }

    @Test("Null stays null")
    func addToNull() throws {
        var fixture = try Fixture()
        try fixture.perform(fixture.add(3, "intOptional"), fixture.add(3, "any"))
        #expect(fixture.value("intOptional") == .null)
        #expect(fixture.value("any") == .null)
    }

    @Test("AddInteger is refused for any other type, and for elements, keys and collections")
    func addElsewhere() throws {
        var fixture = try Fixture()
        try fixture.perform(
            fixture.insert(.int(1), "intList", 0, priorSize: 0),
            fixture.update("intDictionary", "k", to: .int(1)),
            fixture.update("any", to: .double(DoubleBits(1))),
            fixture.insert(.int(1), "anyList", 0, priorSize: 0)
        )
        #expect(fixture.refusal(of: fixture.add(1, "double")) == .notAnInteger)
        #expect(fixture.refusal(of: fixture.add(1, "any")) == .notAnInteger)
        #expect(fixture.refusal(of: fixture.add(1, "intList", 0)) == .wrongTarget)
        #expect(fixture.refusal(of: fixture.add(1, "anyList", 0)) == .wrongTarget)
        #expect(fixture.refusal(of: fixture.add(1, "intDictionary", "k")) == .wrongTarget)
        #expect(fixture.refusal(of: fixture.add(1, "intList")) == .wrongTarget)
        #expect(fixture.refusal(of: fixture.add(1, "intSet")) == .wrongTarget)
    }
}
