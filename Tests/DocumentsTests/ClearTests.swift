import Changesets
import Documents
import Schemas
import Testing

/// Instruction semantics, 3.14.
@Suite("Clearing collections")
struct ClearTests {
    @Test("A typed collection is emptied by its own type, or by Single", arguments: [false, true])
    func typed(asOldClients: Bool) throws {
        var fixture = try Fixture()
        try fixture.perform(
            fixture.insert(.int(1), "intList", 0, priorSize: 0),
            fixture.setInsert(.int(1), "intSet"),
            fixture.update("intDictionary", "k", to: .int(1)),
            fixture.insert(.objectValue, "partList", 0, priorSize: 0)
        )
        try fixture.perform(
            fixture.clear(asOldClients ? .single : .list, "intList"),
            fixture.clear(asOldClients ? .single : .set, "intSet"),
            fixture.clear(asOldClients ? .single : .dictionary, "intDictionary"),
            fixture.clear(asOldClients ? .single : .list, "partList")
        )
        #expect(fixture.value("intList") == [])
        #expect(fixture.value("intSet") == .set())
        #expect(fixture.value("intDictionary") == [:])
        #expect(fixture.value("partList") == [])
    }

    @Test("An empty collection stays empty")
    func empty() throws {
        var fixture = try Fixture()
        let before = fixture.realm
        try fixture.perform(fixture.clear(.list, "intList"), fixture.clear(.set, "intSet"))
        #expect(fixture.realm == before)
    }

    @Test("A typed collection of another type is refused")
    func otherType() throws {
        var fixture = try Fixture()
        for (field, type) in [
            ("intList", .set), ("intList", .dictionary), ("intSet", .list),
            ("intDictionary", .list),
        ] as [(Text, CollectionType)] {
            #expect(fixture.refusal(of: fixture.clear(type, field)) == .wrongCollectionType(type))
        }
    }

    @Test("Mixed of any content becomes an empty collection")
    func mixed() throws {
        var fixture = try Fixture()
        for payload in [.null, .int(1), .list, .dictionary] as [Payload] {
            for (type, empty) in [(.list, []), (.dictionary, [:])] as [(CollectionType, Value)] {
                try fixture.perform(fixture.update("any", to: payload), fixture.clear(type, "any"))
                #expect(fixture.value("any") == empty)
            }
        }
        try fixture.perform(
            fixture.clear(.list, "any"),
            fixture.insert(.int(1), "any", 0, priorSize: 0),
            fixture.clear(.list, "any")
        )
        #expect(fixture.value("any") == [])
    }

    @Test("Elements of a list of Mixed, and values of a dictionary of Mixed, too")
    func nested() throws {
        var fixture = try Fixture()
        try fixture.perform(
            fixture.insert(.int(1), "anyList", 0, priorSize: 0),
            fixture.clear(.dictionary, "anyList", 0),
            fixture.update("anyDictionary", "k", to: .list),
            fixture.insert(.int(1), "anyDictionary", "k", 0, priorSize: 0),
            fixture.clear(.list, "anyDictionary", "k"),
            fixture.update("any", to: .dictionary),
            fixture.update("any", "a", to: .int(1)),
            fixture.clear(.list, "any", "a")
        )
        #expect(fixture.value("anyList") == [[:]])
        #expect(fixture.value("anyDictionary") == ["k": []])
        #expect(fixture.value("any") == ["a": []])
    }

    @Test("A missing element or key is refused")
    func missing() throws {
        var fixture = try Fixture()
        #expect(
            fixture.refusal(of: fixture.clear(.list, "anyList", 0))
                == .indexOutOfRange(index: 0, size: 0)
        )
        #expect(fixture.refusal(of: fixture.clear(.list, "anyDictionary", "k")) == .missingKey)
    }

    @Test("Mixed is cleared as a list or dictionary only")
    func mixedTypes() throws {
        var fixture = try Fixture()
        for type in [.single, .set] as [CollectionType] {
            #expect(fixture.refusal(of: fixture.clear(type, "any")) == .wrongCollectionType(type))
        }
    }

    @Test("Nothing else can be cleared")
    func elsewhere() throws {
        var fixture = try Fixture()
        try fixture.perform(
            fixture.update("part", to: .objectValue),
            fixture.insert(.int(1), "intList", 0, priorSize: 0),
            fixture.update("intDictionary", "k", to: .int(1))
        )
        #expect(fixture.refusal(of: fixture.clear(.list, "int")) == .wrongTarget)
        #expect(fixture.refusal(of: fixture.clear(.list, "part")) == .wrongTarget)
        #expect(fixture.refusal(of: fixture.clear(.list, "target")) == .wrongTarget)
        #expect(fixture.refusal(of: fixture.clear(.list, "intList", 0)) == .wrongTarget)
        #expect(fixture.refusal(of: fixture.clear(.list, "intDictionary", "k")) == .wrongTarget)
    }
}
