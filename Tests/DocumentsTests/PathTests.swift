import Changesets
import Documents
import Schemas
import Testing

/// Instruction semantics, 2, step 5.
@Suite("Paths into an object")
struct PathTests {
    /// An embedded object in a field, in a list and in a dictionary, and collections in Mixed.
    private func fixture() throws -> Fixture {
        var fixture = try Fixture()
        try fixture.perform(
            fixture.update("part", to: .objectValue),
            fixture.insert(.objectValue, "partList", 0, priorSize: 0),
            fixture.update("partDictionary", "k", to: .objectValue),
            fixture.update("any", to: .list),
            fixture.insert(.dictionary, "any", 0, priorSize: 0),
            fixture.insert(.int(1), "anyList", 0, priorSize: 0),
            fixture.insert(.list, "anyList", 1, priorSize: 1),
            fixture.update("anyDictionary", "k", to: .dictionary),
            fixture.insert(.int(1), "intList", 0, priorSize: 0),
            fixture.update("intDictionary", "k", to: .int(1)),
            fixture.update("target", to: fixture.link("Target", .null)),
            fixture.setInsert(.int(1), "intSet")
        )
        return fixture
    }

    @Test("Every valid path leads to its place")
    func everyWay() throws {
        var fixture = try fixture()
        try fixture.perform(
            fixture.update("part", "count", to: .int(1)),
            fixture.update("part", "part", to: .objectValue),
            fixture.update("part", "part", "count", to: .int(2)),
            fixture.insert(.objectValue, "part", "parts", 0, priorSize: 0),
            fixture.update("part", "parts", 0, "note", to: .string("n")),
            fixture.update("partList", 0, "count", to: .int(3)),
            fixture.update("partDictionary", "k", "count", to: .int(4)),
            fixture.update("any", 0, "a", to: .list),
            fixture.insert(.int(5), "any", 0, "a", 0, priorSize: 0),
            fixture.insert(.int(6), "anyList", 1, 0, priorSize: 0),
            fixture.update("anyDictionary", "k", "b", to: .int(7)),
            fixture.update("part", "any", to: .dictionary),
            fixture.update("part", "any", "c", to: .int(8))
        )
        #expect(
            fixture.value("part")
                == .part([
                    "count": 1, "part": .part(["count": 2]), "parts": [.part(["note": "n"])],
                    "any": ["c": 8],
                ])
        )
        #expect(fixture.value("partList") == [.part(["count": 3])])
        #expect(fixture.value("partDictionary") == ["k": .part(["count": 4])])
        #expect(fixture.value("any") == [["a": [5]]])
        #expect(fixture.value("anyList") == [1, [6]])
        #expect(fixture.value("anyDictionary") == ["k": ["b": 7]])
    }

    @Test(
        "A step that does not fit the value is refused",
        arguments: [
            // A typed list needs an index, and for a longer path an element with content.
            ("intList", ["k"], .expectedIndex), ("partList", ["k", "count"], .expectedIndex),
            ("partList", [1, "count"], .indexOutOfRange(index: 1, size: 1)),
            ("intList", [0, "k"], .deadEnd), ("anyList", [0, 0], .deadEnd),
            ("anyList", [2, 0], .indexOutOfRange(index: 2, size: 2)),
            // A typed dictionary needs a string, and for a longer path an existing key.
            ("intDictionary", [0], .expectedKey), ("partDictionary", [0, "count"], .expectedKey),
            ("partDictionary", ["gone", "count"], .missingKey),
            ("intDictionary", ["k", "x"], .deadEnd), ("anyDictionary", ["gone", "x"], .missingKey),
            // In Mixed the step must fit its content.
            ("any", ["k"], .expectedIndex), ("any", [0, 0], .expectedKey),
            ("any", [1, "x"], .indexOutOfRange(index: 1, size: 1)),
            ("anyDictionary", ["k", 0], .expectedKey), ("anyList", [1, "x"], .expectedIndex),
            // An embedded object needs the name of a property.
            ("part", [0], .expectedKey),
            ("part", ["nothing"], .unknownProperty("nothing", in: "Part")),
            // No path continues behind links, scalars and sets.
            ("part", ["part", "count"], .deadEnd), ("target", ["name"], .deadEnd),
            ("int", ["x"], .deadEnd), ("int", [0], .deadEnd), ("intSet", [0], .deadEnd),
            ("part", ["count", "x"], .deadEnd), ("part", ["target", "name"], .deadEnd),
        ] as [(Text, [Fixture.Step], BadInstruction.Problem)]
    )
    func refusals(field: Text, path: [Fixture.Step], problem: BadInstruction.Problem) throws {
        var fixture = try fixture()
        let target = fixture.target(field, path)
        let update = Instruction.update(
            .init(target: target, payload: .int(1), detail: .isDefault(false))
        )
        #expect(fixture.refusal(of: update) == problem)
    }

    @Test("A path through a dictionary key without an object is refused")
    func nullMember() throws {
        var fixture = try fixture()
        try fixture.perform(fixture.update("partDictionary", "k", to: .null))
        #expect(
            fixture.refusal(of: fixture.update("partDictionary", "k", "count", to: .int(1)))
                == .deadEnd
        )
    }

    @Test("A path of more than 500 steps is refused before it is walked")
    func longPaths() throws {
        var fixture = try fixture()
        let path = [Fixture.Step](repeating: "part", count: 501)
        let target = fixture.target("part", path)
        #expect(
            fixture.refusal(of: .addInteger(target, amount: 1)) == .nestedTooDeeply
        )
    }

    @Test("Mixed nests to 100 collections, outer ones included")
    func nesting() throws {
        var fixture = try fixture()
        var steps: [Fixture.Step] = []
        try fixture.perform(fixture.update("any", to: .null), fixture.update("any", to: .list))
        for _ in 2...100 {
            steps.append(0)
            let target = fixture.target("any", steps)
            try fixture.perform(.arrayInsert(target, .list, priorSize: 0))
        }
        steps.append(0)
        let target = fixture.target("any", steps)
        #expect(
            fixture.refusal(of: .arrayInsert(target, .list, priorSize: 0)) == .nestedTooDeeply
        )
        try fixture.perform(.arrayInsert(target, .int(1), priorSize: 0))
        #expect(fixture.refusal(of: .clear(target, .list)) == .nestedTooDeeply)
        let update = Instruction.update(
            .init(target: target, payload: .dictionary, detail: .priorSize(1))
        )
        #expect(fixture.refusal(of: update) == .nestedTooDeeply)
    }
}
