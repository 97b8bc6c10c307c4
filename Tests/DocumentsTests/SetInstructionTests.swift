import Changesets
import Documents
import Schemas
import Testing

/// Instruction semantics, 3.15.
@Suite("Sets")
struct SetInstructionTests {
    @Test("Inserting an existing value or erasing a missing one changes nothing")
    func insertAndErase() throws {
        var fixture = try Fixture()
        let link = fixture.link("Target", .string("x"))
        try fixture.perform(
            fixture.setInsert(.int(2), "intSet"),
            fixture.setInsert(.int(1), "intSet"),
            fixture.setInsert(.int(2), "intSet"),
            fixture.setErase(.int(7), "intSet"),
            fixture.setInsert(.null, "intOptionalSet"),
            fixture.setInsert(link, "targetSet"),
            fixture.setInsert(.null, "anySet"),
            fixture.setInsert(link, "anySet"),
            fixture.setInsert(.string("a"), "anySet"),
            fixture.setErase(.string("a"), "anySet")
        )
        let target = Scalar.link(.init(className: "Target", key: .string("x")))
        #expect(fixture.value("intSet") == .set(.int(1), .int(2)))
        #expect(fixture.value("intOptionalSet") == .set(.null))
        #expect(fixture.value("targetSet") == .set(target))
        #expect(fixture.value("anySet") == .set(.null, target))
    }

    @Test("In a set of Mixed numbers of any type are one; the first representation stays")
    func numericEquality() throws {
        var fixture = try Fixture()
        try fixture.perform(
            fixture.setInsert(.int(1), "anySet"),
            fixture.setInsert(.double(DoubleBits(1)), "anySet"),
            fixture.setInsert(.string("1"), "anySet"),
            fixture.setInsert(.binary([0x31]), "anySet")
        )
        #expect(fixture.value("anySet") == .set(.int(1), .string("1"), .binary([0x31])))
        try fixture.perform(fixture.setErase(.float(FloatBits(1)), "anySet"))
        #expect(fixture.value("anySet") == .set(.string("1"), .binary([0x31])))
    }

    @Test("A value that does not fit is refused, for an erasure as well")
    func refusals() throws {
        var fixture = try Fixture()
        let link = fixture.link("Target", .null)
        let cases: [(Payload, Text, BadInstruction.Problem)] = [
            (.null, "intSet", .nullNotAllowed), (.null, "targetSet", .nullNotAllowed),
            (.bool(true), "intSet", .wrongPayload(.bool)),
            (link, "otherSet", .wrongLinkTarget("Target")),
            (link, "intSet", .wrongPayload(.link)),
            (.objectValue, "anySet", .wrongPayload(.objectValue)),
            (.list, "anySet", .wrongPayload(.list)),
            (.dictionary, "anySet", .wrongPayload(.dictionary)),
            (.set, "anySet", .wrongPayload(.set)), (.erased, "anySet", .wrongPayload(.erased)),
            // Nested sets are reserved.
            (.int(1), "any", .wrongTarget), (.int(1), "intList", .wrongTarget),
            (.int(1), "intDictionary", .wrongTarget), (.int(1), "int", .wrongTarget),
        ]
        for (payload, field, problem) in cases {
            #expect(fixture.refusal(of: fixture.setInsert(payload, field)) == problem, "\(field)")
            #expect(fixture.refusal(of: fixture.setErase(payload, field)) == problem, "\(field)")
        }
    }

    @Test("Elements and keys cannot be sets")
    func nested() throws {
        var fixture = try Fixture()
        try fixture.perform(
            fixture.insert(.int(1), "anyList", 0, priorSize: 0),
            fixture.update("anyDictionary", "k", to: .list)
        )
        #expect(fixture.refusal(of: fixture.setInsert(.int(1), "anyList", 0)) == .wrongTarget)
        #expect(
            fixture.refusal(of: fixture.setInsert(.int(1), "anyDictionary", "k")) == .wrongTarget
        )
    }
}
