import Query
import Testing

@Suite("Canonical text, written again")
struct CanonicalTextTests {
    /// Found by fuzzing, which took the text for a fixed point.
    @Test("Three operands change their order each time, and none is lost (query as recorded, 4)")
    func order() throws {
        let first = try SampleQuery.canonical("age == 1 and age == 2 and age == 3")
        #expect(first == "age == 3 and age == 1 and age == 2")
        let second = try SampleQuery.canonical(first)
        #expect(second == "age == 2 and age == 3 and age == 1")
        #expect(try SampleQuery.canonical(second) == "age == 1 and age == 2 and age == 3")
        #expect(try SampleQuery.canonical("age == 1 or age == 2") == "(age == 1 or age == 2)")
        #expect(try SampleQuery.canonical("(age == 1 or age == 2)") == "(age == 1 or age == 2)")
    }

    @Test("A key of a dictionary is written without escapes, also with a quote (51)")
    func key() throws {
        let text = try SampleQuery.canonical("notes[\"x'y\"] == 'b'")
        #expect(text == "notes['x'y'] == \"b\"")
        #expect(throws: QueryError.self) { try SampleQuery.canonical(text) }
    }
}
