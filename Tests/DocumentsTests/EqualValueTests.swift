import Changesets
import Documents
import Schemas
import TestSupport
import Testing

/// Instruction semantics, 3.15 to 3.17.
@Suite("Equal values, and writes that receivers do not apply plainly")
struct EqualValueTests {
    private static let one = decimal("1")
    private static let hundredths = decimal("1.00")

    private static func decimal(_ text: String) -> Payload {
        // 1 is 1 · 10^0, 1.00 is 100 · 10^-2.
        let (coefficient, exponent): (UInt64, Int32) = text == "1" ? (1, 0) : (100, -2)
        guard
            let value = Decimal128(
                coefficientHigh: 0,
                coefficientLow: coefficient,
                exponent: exponent,
                isNegative: false
            )
        else { preconditionFailure("a small decimal") }
        return .decimal(value)
    }

    private static let zeros: [(old: Payload, new: Payload)] = [
        (.double(DoubleBits(0.0)), .double(DoubleBits(-0.0))),
        (.double(DoubleBits(-0.0)), .double(DoubleBits(0.0))),
    ]

    @Test("Of two equal values of one type the old one stays, except in a decimal property")
    func table() throws {
        let zero = Payload.double(DoubleBits(0.0))
        let negative = Payload.double(DoubleBits(-0.0))
        let floats = (Payload.float(FloatBits(0.0)), Payload.float(FloatBits(-0.0)))
        for (old, new) in [(zero, negative), (negative, zero)] {
            #expect(try after(old, new, "doubleOptional") == .scalar(scalar(old)))
            #expect(try after(old, new, "any") == .scalar(scalar(old)))
            #expect(try afterElement(old, new, "doubleList") == .list([.scalar(scalar(old))]))
            #expect(try afterElement(old, new, "anyList") == .list([.scalar(scalar(old))]))
        }
        #expect(try after(floats.0, floats.1, "floatOptional") == .scalar(scalar(floats.0)))
        #expect(try after(Self.one, Self.hundredths, "decimal") == .scalar(scalar(Self.hundredths)))
        #expect(try after(Self.one, Self.hundredths, "any") == .scalar(scalar(Self.one)))
        #expect(
            try afterElement(Self.one, Self.hundredths, "decimalList")
                == .list([.scalar(scalar(Self.one))])
        )
    }

    @Test("Values of different types, and values that differ, are replaced")
    func unequal() throws {
        let one = Payload.double(DoubleBits(1))
        #expect(try after(.int(1), one, "any") == .scalar(.double(DoubleBits(1))))
        #expect(
            try after(one, .double(DoubleBits(-0.0)), "doubleOptional")
                == .scalar(.double(DoubleBits(-0.0)))
        )
    }

    @Test("A dictionary keeps the old representation under its key, in Mixed too")
    func members() throws {
        for field in ["decimalDictionary", "anyDictionary"] as [Text] {
            var fixture = try Fixture()
            try fixture.perform(fixture.update(field, "k", to: Self.one))
            try fixture.perform(fixture.update(field, "k", to: Self.hundredths))
            #expect(
                fixture.value(field) == .dictionary(["k": .scalar(scalar(Self.one))]),
                "\(field)"
            )
        }
    }

    @Test("A payload that does not fit leaves no key behind")
    func failedMember() throws {
        var fixture = try Fixture()
        let bad = fixture.update("intDictionary", "k", to: .string("no"))
        #expect(fixture.refusal(of: bad) == .wrongPayload(.string))
        #expect(fixture.value("intDictionary") == [:])
    }

    // MARK: What is written

    @Test(
        "A change of only the representation reaches receivers",
        arguments: ["doubleOptional", "double", "any"] as [Text]
    )
    func fields(field: Text) throws {
        for (old, new) in Self.zeros where field != "double" || old == .double(DoubleBits(0)) {
            try expectExact(.scalar(scalar(old)), .scalar(scalar(new)), field)
        }
    }

    @Test("A negative zero in a collection is kept at any place")
    func collections() throws {
        let (old, new) = (Value.scalar(scalar(Self.one)), Value.scalar(scalar(Self.hundredths)))
        for field in ["decimalList", "anyList"] as [Text] {
            try expectExact(.list([1, old, 2].asValues), .list([1, new, 2].asValues), field)
        }
        for field in ["decimalDictionary", "anyDictionary"] as [Text] {
            try expectExact(.dictionary(["a": old]), .dictionary(["a": new]), field)
        }
        try expectExact(.list([.list([old])]), .list([.list([new])]), "anyList")
        try expectExact(
            .set(ValueSet([scalar(Self.one)])),
            .set(ValueSet([scalar(Self.hundredths)])),
            "decimalSet"
        )
    }

    @Test("An object is created with its negative zero")
    func newObject() throws {
        let negative = Value.scalar(.double(DoubleBits(-0.0)))
        let schema = SampleSchema.everything
        let owner = try #require(schema["Everything"])
        var document = Document(defaultsOf: owner)
        document.values[try #require(owner.position(of: "double"))] = negative
        let object = ObjectReference(className: "Everything", key: .int(7))
        var writer = ChangesetWriter()
        writer.writeObject(document, as: object, of: owner, in: schema)
        var realm = InMemoryRealm(schema: schema)
        try realm.apply(try Changeset(decoding: writer.bytes))
        #expect(realm.value("double", of: object) == negative)

        var initial = ChangesetWriter()
        initial.createObject(object)
        ValueDiff(schema: schema).writeInitial(
            negative,
            of: try #require(owner.property(named: "double")),
            in: object,
            isDefault: false,
            into: &initial
        )
        realm = InMemoryRealm(schema: schema)
        try realm.apply(try Changeset(decoding: initial.bytes))
        #expect(realm.value("double", of: object) == negative)
    }

    @Test("Null leaves a typed set by Clear and SetInsert, a set of Mixed by SetErase")
    func erasureOfNull() throws {
        let typed = try expectExact(
            .set(.null, .int(1), .int(2)),
            .set(.int(2), .int(3)),
            "intOptionalSet"
        )
        #expect(!typed.contains { $0.isSetErase })
        #expect(typed.count { $0.isClear } == 1)
        let mixed = try expectExact(.set(.null, .int(1)), .set(.int(1)), "anySet")
        #expect(mixed.count { $0.isSetErase } == 1)
    }

    @Test("A nested collection with links is not updated over: it is taken out first")
    func nestedLinks() throws {
        let link = Value.link("Target", .string("x"))
        for (old, new) in [
            (Value.list([link]), Value.scalar(.int(1))), (["k": link], .list([1])),
            (.list([.list([link])]), .null),
        ] {
            let list = try expectExact(.list([old, 2]), .list([new, 2]), "anyList")
            #expect(!list.contains { $0.isUpdate(ofElement: 0) }, "\(list)")
            let dictionary = try expectExact(["a": old], ["a": new], "anyDictionary")
            #expect(dictionary.contains { $0.isErasureOfKey }, "\(dictionary)")
            // In a Mixed property the plain form is safe.
            let field = try expectExact(old, new, "any")
            #expect(!field.contains { $0.isErasureOfKey })
        }
        let plain = try expectExact(.list([.list([1]), 2]), .list([5, 2]), "anyList")
        #expect(plain.contains { $0.isUpdate(ofElement: 0) })
    }

    // MARK: Tools

    private func scalar(_ payload: Payload) -> Scalar {
        Changeset().scalar(payload) ?? .null
    }

    private func after(_ old: Payload, _ new: Payload, _ field: Text) throws -> Value? {
        var fixture = try Fixture()
        try fixture.perform(fixture.update(field, to: old))
        try fixture.perform(fixture.update(field, to: new))
        return fixture.value(field)
    }

    private func afterElement(_ old: Payload, _ new: Payload, _ field: Text) throws -> Value? {
        var fixture = try Fixture()
        try fixture.perform(fixture.insert(old, field, 0, priorSize: 0))
        try fixture.perform(fixture.update(field, 0, to: new))
        return fixture.value(field)
    }

    /// Writes the difference and applies it to the old value: the result must be the new one, bit
    /// for bit.
    @discardableResult
    private func expectExact(
        _ old: Value,
        _ new: Value,
        _ field: Text,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> [Instruction] {
        let schema = SampleSchema.everything
        let owner = try #require(schema["Everything"])
        let property = try #require(owner.property(named: field))
        let position = try #require(owner.position(of: field))
        var document = Document(defaultsOf: owner)
        document.values[position] = old
        var realm = InMemoryRealm(schema: schema)
        realm.setDocument(document, for: Fixture.object)
        var writer = ChangesetWriter()
        ValueDiff(schema: schema).write(
            from: old,
            to: new,
            of: property,
            in: Fixture.object,
            into: &writer
        )
        let changeset = try Changeset(decoding: writer.bytes)
        try realm.apply(changeset)
        #expect(realm.value(field, of: Fixture.object) == new, sourceLocation: sourceLocation)

        // Replacing an unknown value is exact as well.
        var replacement = ChangesetWriter()
        ValueDiff(schema: schema).writeReplacement(
            new,
            of: property,
            in: Fixture.object,
            into: &replacement
        )
        realm.setDocument(document, for: Fixture.object)
        try realm.apply(try Changeset(decoding: replacement.bytes))
        #expect(realm.value(field, of: Fixture.object) == new, sourceLocation: sourceLocation)
        return changeset.instructions
    }
}

extension [Value] {
    fileprivate var asValues: [Value] {
        map {
            if case .scalar(.int(let value)) = $0 { .scalar(.decimal(.whole(value))) } else { $0 }
        }
    }
}

extension Decimal128 {
    fileprivate static func whole(_ value: Int64) -> Decimal128 {
        Decimal128(
            coefficientHigh: 0,
            coefficientLow: UInt64(value),
            exponent: 0,
            isNegative: false
        ) ?? .zero
    }
}

extension Instruction {
    fileprivate var isSetErase: Bool { if case .setErase = self { true } else { false } }
    fileprivate var isClear: Bool { if case .clear = self { true } else { false } }

    fileprivate var isErasureOfKey: Bool {
        guard case .update(let update) = self else { return false }
        return update.payload == .erased
    }

    fileprivate func isUpdate(ofElement index: UInt32) -> Bool {
        guard case .update(let update) = self else { return false }
        return update.target.path == [.index(index)]
    }
}
