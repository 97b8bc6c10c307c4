import Changesets
import Documents
import Schemas
import Testing

/// Instruction semantics, 3.8 and 3.11-3.13.
@Suite("Lists")
struct ListInstructionTests {
    /// `intList` holds 1, 2, 3; `anyList` holds 1, [7], {"n": 1}; `partList` two objects.
    private func fixture() throws -> Fixture {
        var fixture = try Fixture()
        try fixture.perform(
            fixture.insert(.int(1), "intList", 0, priorSize: 0),
            fixture.insert(.int(2), "intList", 1, priorSize: 1),
            fixture.insert(.int(3), "intList", 2, priorSize: 2),
            fixture.insert(.int(1), "anyList", 0, priorSize: 0),
            fixture.insert(.list, "anyList", 1, priorSize: 1),
            fixture.insert(.int(7), "anyList", 1, 0, priorSize: 0),
            fixture.insert(.dictionary, "anyList", 2, priorSize: 2),
            fixture.update("anyList", 2, "n", to: .int(1)),
            fixture.insert(.objectValue, "partList", 0, priorSize: 0),
            fixture.insert(.objectValue, "partList", 1, priorSize: 1),
            fixture.update("partList", 0, "count", to: .int(1))
        )
        #expect(fixture.value("intList") == [1, 2, 3])
        #expect(fixture.value("anyList") == [1, [7], ["n": 1]])
        #expect(fixture.value("partList") == [.part(["count": 1]), .part()])
        return fixture
    }

    // MARK: Update

    @Test("Update replaces an element regardless of its prior size")
    func update() throws {
        var fixture = try fixture()
        try fixture.perform(
            fixture.update("intList", 1, to: .int(5)),
            fixture.update("anyList", 1, to: .string("x")),
            fixture.update("anyList", 0, to: .null)
        )
        #expect(fixture.value("intList") == [1, 5, 3])
        #expect(fixture.value("anyList") == [.null, "x", ["n": 1]])
    }

    @Test("Update keeps a collection of the same kind, and replaces anything else by an empty one")
    func updateCollections() throws {
        var fixture = try fixture()
        try fixture.perform(
            fixture.update("anyList", 0, to: .dictionary),
            fixture.update("anyList", 1, to: .list),
            fixture.update("anyList", 2, to: .list)
        )
        #expect(fixture.value("anyList") == [[:], [7], []])
    }

    @Test("ObjectValue on an element changes nothing")
    func updateObject() throws {
        var fixture = try fixture()
        let before = fixture.realm
        try fixture.perform(fixture.update("partList", 0, to: .objectValue))
        #expect(fixture.realm == before)
    }

    @Test("Update beyond the end, or with a payload that does not fit, is refused")
    func updateRefusals() throws {
        var fixture = try fixture()
        let link = fixture.link("Target", .null)
        try fixture.perform(fixture.insert(link, "targetList", 0, priorSize: 0))
        #expect(
            fixture.refusal(of: fixture.update("intList", 3, to: .int(1)))
                == .indexOutOfRange(index: 3, size: 3)
        )
        #expect(fixture.refusal(of: fixture.update("intList", 0, to: .null)) == .nullNotAllowed)
        #expect(fixture.refusal(of: fixture.update("targetList", 0, to: .null)) == .nullNotAllowed)
        #expect(fixture.refusal(of: fixture.update("partList", 0, to: .null)) == .nullNotAllowed)
        #expect(
            fixture.refusal(of: fixture.update("intList", 0, to: .bool(true)))
                == .wrongPayload(.bool)
        )
        for payload in [.erased, .set] as [Payload] {
            #expect(
                fixture.refusal(of: fixture.update("anyList", 0, to: payload))
                    == .wrongPayload(payload.typeCode)
            )
        }
        for payload in [.list, .dictionary, .objectValue] as [Payload] {
            #expect(
                fixture.refusal(of: fixture.update("intList", 0, to: payload))
                    == .wrongPayload(payload.typeCode)
            )
        }
        #expect(
            fixture.refusal(of: fixture.update("partList", 0, to: .int(1))) == .wrongPayload(.int)
        )
    }

    @Test("Elements of a list of nullable scalars can be null")
    func nullElements() throws {
        var fixture = try Fixture()
        try fixture.perform(
            fixture.insert(.null, "intOptionalList", 0, priorSize: 0),
            fixture.insert(.int(1), "intOptionalList", 1, priorSize: 1),
            fixture.update("intOptionalList", 1, to: .null)
        )
        #expect(fixture.value("intOptionalList") == [.null, .null])
    }

    // MARK: ArrayInsert

    @Test("Insert puts an element at any index from start to end")
    func insert() throws {
        var fixture = try fixture()
        try fixture.perform(
            fixture.insert(.int(0), "intList", 0, priorSize: 3),
            fixture.insert(.int(9), "intList", 4, priorSize: 4),
            fixture.insert(.int(5), "intList", 2, priorSize: 5)
        )
        #expect(fixture.value("intList") == [0, 1, 5, 2, 3, 9])
        try fixture.perform(
            fixture.insert(.dictionary, "anyList", 0, priorSize: 3),
            fixture.insert(.int(8), "anyList", 2, 1, priorSize: 1)
        )
        #expect(fixture.value("anyList") == [[:], 1, [7, 8], ["n": 1]])
    }

    @Test("Insert beyond the end, or with another size than the list has, is refused")
    func insertPlaces() throws {
        var fixture = try fixture()
        #expect(
            fixture.refusal(of: fixture.insert(.int(1), "intList", 4, priorSize: 3))
                == .indexOutOfRange(index: 4, size: 4)
        )
        #expect(
            fixture.refusal(of: fixture.insert(.int(1), "intList", 3, priorSize: 4))
                == .wrongPriorSize(4, size: 3)
        )
        #expect(
            fixture.refusal(of: fixture.insert(.int(1), "intList", 0, priorSize: 2))
                == .wrongPriorSize(2, size: 3)
        )
    }

    @Test("Insert of a payload that does not fit is refused")
    func insertRefusals() throws {
        var fixture = try fixture()
        let link = fixture.link("Target", .null)
        let cases: [(Payload, Text, BadInstruction.Problem)] = [
            (.null, "intList", .nullNotAllowed), (.null, "targetList", .nullNotAllowed),
            (.null, "partList", .nullNotAllowed), (.bool(true), "intList", .wrongPayload(.bool)),
            (.objectValue, "intList", .wrongPayload(.objectValue)),
            (.objectValue, "targetList", .wrongPayload(.objectValue)),
            (.objectValue, "anyList", .wrongPayload(.objectValue)),
            (.list, "intList", .wrongPayload(.list)),
            (.dictionary, "partList", .wrongPayload(.dictionary)),
            (.erased, "anyList", .wrongPayload(.erased)), (.set, "anyList", .wrongPayload(.set)),
            (link, "otherList", .wrongLinkTarget("Target")),
            (link, "partList", .wrongPayload(.link)), (link, "intList", .wrongPayload(.link)),
        ]
        for (payload, field, problem) in cases {
            let size = UInt32(
                field == "intList" || field == "anyList" ? 3 : field == "partList" ? 2 : 0
            )
            #expect(
                fixture.refusal(of: fixture.insert(payload, field, 0, priorSize: size)) == problem,
                "\(field)"
            )
        }
    }

    // MARK: ArrayMove

    @Test("Move takes an element to its resulting index")
    func move() throws {
        var fixture = try fixture()
        try fixture.perform(fixture.move("intList", 0, to: 2, priorSize: 3))
        #expect(fixture.value("intList") == [2, 3, 1])
        try fixture.perform(fixture.move("intList", 2, to: 1, priorSize: 3))
        #expect(fixture.value("intList") == [2, 1, 3])
        try fixture.perform(fixture.move("partList", 1, to: 0, priorSize: 2))
        #expect(fixture.value("partList") == [.part(), .part(["count": 1])])
    }

    @Test("Move beyond the end, to the same place, or with another size is refused")
    func moveRefusals() throws {
        var fixture = try fixture()
        #expect(
            fixture.refusal(of: fixture.move("intList", 3, to: 0, priorSize: 3))
                == .indexOutOfRange(index: 3, size: 3)
        )
        #expect(
            fixture.refusal(of: fixture.move("intList", 0, to: 3, priorSize: 3))
                == .indexOutOfRange(index: 3, size: 3)
        )
        #expect(
            fixture.refusal(of: fixture.move("intList", 1, to: 1, priorSize: 3)) == .moveToSamePlace
        )
        #expect(
            fixture.refusal(of: fixture.move("intList", 0, to: 1, priorSize: 2))
                == .wrongPriorSize(2, size: 3)
        )
    }

    // MARK: ArrayErase

    @Test("Erase removes an element, and an object with its content")
    func erase() throws {
        var fixture = try fixture()
        try fixture.perform(
            fixture.erase("intList", 1, priorSize: 3),
            fixture.erase("partList", 0, priorSize: 2),
            fixture.erase("anyList", 1, 0, priorSize: 1)
        )
        #expect(fixture.value("intList") == [1, 3])
        #expect(fixture.value("partList") == [.part()])
        #expect(fixture.value("anyList") == [1, [], ["n": 1]])
    }

    @Test("Erase beyond the end or with another size is refused")
    func eraseRefusals() throws {
        var fixture = try fixture()
        #expect(
            fixture.refusal(of: fixture.erase("intList", 3, priorSize: 3))
                == .indexOutOfRange(index: 3, size: 3)
        )
        #expect(
            fixture.refusal(of: fixture.erase("intList", 0, priorSize: 4))
                == .wrongPriorSize(4, size: 3)
        )
    }

    @Test("List instructions need a list")
    func elsewhere() throws {
        var fixture = try fixture()
        try fixture.perform(
            fixture.update("anyDictionary", "k", to: .int(1)),
            fixture.setInsert(.int(1), "intSet")
        )
        #expect(
            fixture.refusal(of: fixture.insert(.int(1), "intDictionary", 0, priorSize: 0))
                == .expectedKey
        )
        #expect(
            fixture.refusal(of: fixture.insert(.int(1), "intSet", 0, priorSize: 1)) == .deadEnd
        )
        #expect(fixture.refusal(of: fixture.insert(.int(1), "int", 0, priorSize: 0)) == .deadEnd)
        #expect(fixture.refusal(of: fixture.insert(.int(1), "any", 0, priorSize: 0)) == .deadEnd)
        #expect(
            fixture.refusal(of: fixture.erase("anyDictionary", "k", 0, priorSize: 0)) == .deadEnd
        )
    }
}
