import Changesets
import Documents
import Schemas
import Testing

/// Instruction semantics, 3.9.
@Suite("Dictionaries")
struct DictionaryInstructionTests {
    @Test("A key is inserted or overwritten")
    func scalars() throws {
        var fixture = try Fixture()
        let link = fixture.link("Target", .string("x"))
        try fixture.perform(
            fixture.update("intDictionary", "a", to: .int(1)),
            fixture.update("intDictionary", "a", to: .int(2)),
            fixture.update("intDictionary", "", to: .int(3)),
            fixture.update("targetDictionary", "k", to: link),
            fixture.update("anyDictionary", "k", to: link),
            fixture.update("any", to: .dictionary),
            fixture.update("any", "k", to: .string("s"))
        )
        #expect(fixture.value("intDictionary") == ["a": 2, "": 3])
        #expect(fixture.value("targetDictionary") == ["k": .link("Target", .string("x"))])
        #expect(fixture.value("anyDictionary") == ["k": .link("Target", .string("x"))])
        #expect(fixture.value("any") == ["k": "s"])
    }

    @Test("Erased removes a key, and is a no-op without it")
    func erased() throws {
        var fixture = try Fixture()
        try fixture.perform(
            fixture.update("intDictionary", "a", to: .int(1)),
            fixture.update("intDictionary", "b", to: .int(2)),
            fixture.update("intDictionary", "a", to: .erased),
            fixture.update("intDictionary", "gone", to: .erased),
            fixture.update("partDictionary", "k", to: .objectValue),
            fixture.update("partDictionary", "k", to: .erased)
        )
        #expect(fixture.value("intDictionary") == ["b": 2])
        #expect(fixture.value("partDictionary") == [:])
    }

    @Test("Null fits nullable values, links, embedded objects and Mixed")
    func null() throws {
        var fixture = try Fixture()
        try fixture.perform(
            fixture.update("intOptionalDictionary", "k", to: .null),
            fixture.update("targetDictionary", "k", to: .null),
            fixture.update("anyDictionary", "k", to: .null),
            fixture.update("partDictionary", "k", to: .objectValue),
            fixture.update("partDictionary", "k", to: .null)
        )
        for field in [
            "intOptionalDictionary", "targetDictionary", "anyDictionary", "partDictionary",
        ] as [Text] {
            #expect(fixture.value(field) == ["k": .null])
        }
        #expect(
            fixture.refusal(of: fixture.update("intDictionary", "k", to: .null)) == .nullNotAllowed
        )
    }

    @Test("ObjectValue always starts a new object")
    func objectValue() throws {
        var fixture = try Fixture()
        try fixture.perform(
            fixture.update("partDictionary", "k", to: .objectValue),
            fixture.update("partDictionary", "k", "count", to: .int(1)),
            fixture.update("partDictionary", "k", to: .objectValue)
        )
        #expect(fixture.value("partDictionary") == ["k": .part()])
        for field in ["intDictionary", "anyDictionary", "targetDictionary"] as [Text] {
            #expect(
                fixture.refusal(of: fixture.update(field, "k", to: .objectValue))
                    == .wrongPayload(.objectValue)
            )
        }
    }

    @Test("List and Dictionary keep a collection of the same kind, and replace everything else")
    func collections() throws {
        var fixture = try Fixture()
        try fixture.perform(
            fixture.update("anyDictionary", "l", to: .list),
            fixture.insert(.int(1), "anyDictionary", "l", 0, priorSize: 0),
            fixture.update("anyDictionary", "l", to: .list),
            fixture.update("anyDictionary", "d", to: .list),
            fixture.insert(.int(1), "anyDictionary", "d", 0, priorSize: 0),
            fixture.update("anyDictionary", "d", to: .dictionary)
        )
        #expect(fixture.value("anyDictionary") == ["l": [1], "d": [:]])
        #expect(
            fixture.refusal(of: fixture.update("intDictionary", "k", to: .list))
                == .wrongPayload(.list)
        )
    }

    @Test("A payload that does not fit is refused")
    func refusals() throws {
        var fixture = try Fixture()
        let link = fixture.link("Target", .null)
        #expect(
            fixture.refusal(of: fixture.update("anyDictionary", "k", to: .set))
                == .wrongPayload(.set)
        )
        #expect(
            fixture.refusal(of: fixture.update("intDictionary", "k", to: .bool(true)))
                == .wrongPayload(.bool)
        )
        #expect(
            fixture.refusal(of: fixture.update("otherDictionary", "k", to: link))
                == .wrongLinkTarget("Target")
        )
        #expect(
            fixture.refusal(of: fixture.update("partDictionary", "k", to: link))
                == .wrongPayload(.link)
        )
    }

    @Test("A key with a dot or a leading dollar sign is refused, even for an erasure")
    func illegalKeys() throws {
        var fixture = try Fixture()
        for payload in [.int(1), .erased] as [Payload] {
            for key in ["a.b", ".", "$", "$a"] as [Text] {
                let target = fixture.target("intDictionary", [.key(key)])
                let update = Instruction.update(
                    .init(target: target, payload: payload, detail: .isDefault(false))
                )
                #expect(fixture.refusal(of: update) == .illegalKey)
            }
        }
        try fixture.perform(fixture.update("intDictionary", "a$", to: .int(1)))
    }
}
