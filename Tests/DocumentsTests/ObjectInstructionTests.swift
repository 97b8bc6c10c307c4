import Changesets
import Documents
import Schemas
import TestSupport
import Testing

/// Instruction semantics, 2, 3.5 and 3.6.
@Suite("Creating, finding and erasing objects")
struct ObjectInstructionTests {
    private let target = ObjectReference(className: "Target", key: .string("t"))

    @Test("A new object has the defaults of its class")
    func defaults() throws {
        let fixture = try Fixture()
        for property in try #require(SampleSchema.everything["Everything"]).properties {
            #expect(fixture.value(property.name) == property.defaultValue)
        }
        #expect(fixture.value("int") == 0)
        #expect(fixture.value("intOptional") == .null)
        #expect(fixture.value("bool") == .scalar(.bool(false)))
        #expect(fixture.value("string") == "")
        #expect(fixture.value("binary") == .scalar(.binary([])))
        #expect(fixture.value("timestamp") == .scalar(.timestamp(.epoch)))
        #expect(fixture.value("float") == .scalar(.float(FloatBits(bitPattern: 0))))
        #expect(fixture.value("double") == .scalar(.double(DoubleBits(bitPattern: 0))))
        #expect(fixture.value("decimal") == .scalar(.decimal(.zero)))
        #expect(fixture.value("objectID") == .scalar(.objectID(.zero)))
        #expect(fixture.value("uuid") == .scalar(.uuid(.zero)))
        #expect(fixture.value("any") == .null)
        #expect(fixture.value("target") == .null)
        #expect(fixture.value("part") == .null)
        #expect(fixture.value("intList") == [])
        #expect(fixture.value("anySet") == .set())
        #expect(fixture.value("targetDictionary") == [:])
    }

    @Test("Creating an object that exists keeps its values")
    func createAgain() throws {
        var fixture = try Fixture()
        try fixture.perform(fixture.update("int", to: .int(5)))
        try fixture.perform(fixture.create(Fixture.object))
        #expect(fixture.value("int") == 5)
    }

    @Test("Null, the empty string and another string are three keys")
    func stringKeys() throws {
        var fixture = try Fixture()
        for key in [.null, .string(""), .string("x")] as [ObjectKey] {
            try fixture.perform(fixture.create(.init(className: "Target", key: key)))
        }
        #expect(fixture.realm.objects["Target"]?.count == 3)
    }

    @Test("Erasing a missing object is a no-op")
    func eraseMissing() throws {
        var fixture = try Fixture()
        let before = fixture.realm
        try fixture.perform(fixture.erase(target))
        #expect(fixture.realm == before)
    }

    @Test("An object that is erased and created again has its defaults")
    func recreate() throws {
        var fixture = try Fixture()
        try fixture.perform(fixture.update("int", to: .int(5)))
        try fixture.perform(fixture.erase(Fixture.object), fixture.create(Fixture.object))
        #expect(fixture.value("int") == 0)
        try fixture.perform(fixture.erase(Fixture.object))
        #expect(fixture.value("int") == nil)
        try fixture.perform(fixture.create(Fixture.object))
        #expect(fixture.value("int") == 0)
    }

    @Test("Links dangle while their target is erased, keep their positions, and become valid again")
    func danglingLinks() throws {
        var fixture = try Fixture()
        let link = fixture.link("Target", .string("t"))
        try fixture.perform(
            fixture.create(target),
            fixture.update("target", to: link),
            fixture.insert(link, "targetList", 0, priorSize: 0),
            fixture.insert(link, "targetList", 1, priorSize: 1),
            fixture.setInsert(link, "targetSet"),
            fixture.update("targetDictionary", "k", to: link),
            fixture.update("any", to: link),
            fixture.insert(link, "anyList", 0, priorSize: 0),
            fixture.update("anyDictionary", "k", to: link)
        )
        let linked = fixture.realm
        #expect(!linked.isDangling(target))
        try fixture.perform(fixture.erase(target))
        #expect(fixture.realm.isDangling(target))
        #expect(fixture.value("target") == .link("Target", .string("t")))
        #expect(
            fixture.value("targetList")
                == [.link("Target", .string("t")), .link("Target", .string("t"))]
        )
        #expect(linked.objects["Everything"] == fixture.realm.objects["Everything"])
        try fixture.perform(fixture.create(target))
        #expect(fixture.realm == linked)
    }

    @Test("Indices and sizes count dangling entries, and entries can be edited while they dangle")
    func danglingEntries() throws {
        var fixture = try Fixture()
        let dangling = fixture.link("Target", .string("gone"))
        let link = fixture.link("Target", .string("t"))
        try fixture.perform(
            fixture.insert(dangling, "targetList", 0, priorSize: 0),
            fixture.insert(link, "targetList", 1, priorSize: 1),
            fixture.insert(dangling, "targetList", 2, priorSize: 2),
            fixture.move("targetList", 2, to: 0, priorSize: 3),
            fixture.update("targetList", 0, to: link),
            fixture.erase("targetList", 1, priorSize: 3),
            fixture.setInsert(dangling, "targetSet"),
            fixture.setInsert(link, "targetSet"),
            fixture.setErase(dangling, "targetSet")
        )
        let kept = Value.link("Target", .string("t"))
        #expect(fixture.value("targetList") == [kept, kept])
        #expect(
            fixture.value("targetSet") == .set(.link(.init(className: "Target", key: .string("t"))))
        )
    }

    @Test("A missing class is refused")
    func unknownClass() throws {
        var fixture = try Fixture()
        let object = ObjectReference(className: "Missing", key: .int(1))
        #expect(fixture.refusal(of: fixture.create(object)) == .unknownClass("Missing"))
        #expect(fixture.refusal(of: fixture.erase(object)) == .unknownClass("Missing"))
        let target = fixture.target("int", [], of: object)
        #expect(
            fixture.refusal(of: .addInteger(target, amount: 1)) == .unknownClass("Missing")
        )
    }

    @Test("Embedded objects cannot be created, erased or addressed")
    func embeddedClass() throws {
        var fixture = try Fixture()
        let object = ObjectReference(className: "Part", key: .int(1))
        #expect(fixture.refusal(of: fixture.create(object)) == .embeddedClass("Part"))
        #expect(fixture.refusal(of: fixture.erase(object)) == .embeddedClass("Part"))
        let target = fixture.target("count", [], of: object)
        #expect(
            fixture.refusal(of: .addInteger(target, amount: 1)) == .embeddedClass("Part")
        )
    }

    @Test(
        "A key of another kind than the class has is refused",
        arguments: [
            ("Everything", .null), ("Everything", .string("1")),
            ("Everything", .globalKey(.init(high: 0, low: 1))), ("Target", .int(1)),
            ("Target", .uuid(.zero)), ("Other", .null), ("Other", .objectID(.zero)),
            ("Keyless", .int(1)), ("Keyless", .null),
        ] as [(Text, ObjectKey)]
    )
    func keyKinds(className: Text, key: ObjectKey) throws {
        var fixture = try Fixture()
        let object = ObjectReference(className: className, key: key)
        #expect(fixture.refusal(of: fixture.create(object)) == .wrongKeyType(className))
        #expect(fixture.refusal(of: fixture.erase(object)) == .wrongKeyType(className))
    }

    @Test("A class without primary key has objects by global key")
    func globalKeys() throws {
        var fixture = try Fixture()
        let object = ObjectReference(className: "Keyless", key: .globalKey(.init(high: 2, low: 0)))
        try fixture.perform(fixture.create(object))
        #expect(!fixture.realm.isDangling(object))
    }

    @Test("A path instruction on a missing object is refused")
    func missingObject() throws {
        var fixture = try Fixture()
        let other = ObjectReference(className: "Everything", key: .int(2))
        let target = fixture.target("int", [], of: other)
        #expect(
            fixture.refusal(of: .addInteger(target, amount: 1)) == .missingObject("Everything")
        )
        #expect(
            fixture.refusal(
                of: fixture.erase(Fixture.object),
                fixture.update("int", to: .int(1))
            ) == .missingObject("Everything")
        )
    }

    @Test("A missing property, or the primary key, is refused")
    func unknownProperty() throws {
        var fixture = try Fixture()
        #expect(
            fixture.refusal(of: fixture.update("nothing", to: .int(1)))
                == .unknownProperty("nothing", in: "Everything")
        )
        #expect(
            fixture.refusal(of: fixture.update("_id", to: .int(1)))
                == .primaryKeyChange("Everything")
        )
    }
}
