import Query
import Testing

@Suite("The parser of queries")
struct QueryParserTests {
    @Test(
        "A mistake is reported with its position and a remedy",
        arguments: [
            ("", 1, "the text ends where a value must follow; complete it"),
            ("age >", 6, "the text ends where a value must follow; complete it"),
            ("age > 3 height", 9, "unexpected height; write AND, OR or the end here"),
            ("age", 4, "the text ends where a comparison must follow; complete it"),
            ("active", 7, "the text ends where a comparison must follow; complete it"),
            ("(age > 3", 9, "the text ends where \")\" must follow; complete it"),
            ("age > 3)", 8, "unexpected ); write AND, OR or the end here"),
            ("1 < age < 3", 9, "unexpected <; write AND, OR or the end here"),
            ("age > 3 AND", 12, "the text ends where a value must follow; complete it"),
            ("age # 3", 5, "unexpected \"#\"; remove it, or put text between quotes"),
            ("name == 'a", 9, "the string is not closed; close it with '"),
            ("age IN {1 2}", 11, "unexpected 2; write \",\" or \"}\" here"),
            ("name CONTAINS ('a')", 15, "unexpected (; write a value here"),
            ("(name) CONTAINS 'a'", 8, "unexpected CONTAINS; write AND, OR or the end here"),
            ("name LIKE 'a' + 'b'", 15, "unexpected +; write AND, OR or the end here"),
            ("age <[c] 3", 6, "unexpected [c]; write a value here"),
            ("ANY scores.@max == 1", 12, "unexpected @max; write a property here"),
            ("scores[-1] == 1", 8, "unexpected -1; write an index, FIRST, LAST, * or a key here"),
            ("größe == 1 ]", 12, "unexpected ]; write AND, OR or the end here"),
            ("age -1", 5, "unexpected -1; write an operator here"),
            (
                "born > T1:-1", 8,
                "seconds and nanoseconds of a date differ in sign; "
                    + "write both positive or both negative"
            ),
            (
                "name == B64\"Y\"", 9,
                "the text after B64 is not base64; "
                    + "write the base64 of the string's bytes"
            ),
            ("age == 1 LIMIT(x)", 16, "unexpected x; write a number here"),
        ]
    )
    func mistakes(_ text: String, _ column: Int, _ message: String) {
        let error = parseError(text)
        #expect(error?.code == .syntax)
        #expect(error?.column == column)
        #expect(error?.description == "column \(column): \(message)")
    }

    @Test(
        "Every form of the grammar parses",
        arguments: [
            "age == 1", "age = 1", "age != 1", "age <> 1", "age =< 1", "age => 1",
            "age == 0x1F", "age == +1", "height == 1.", "height == .5", "height == 1e3f",
            "height == -infinity", "height == NaN", "age IN {1, 2}", "age IN {,1}", "age IN {}",
            "age BETWEEN {1, 2}", "name beginswith[c] 'a'", "name LIKE [c] 'a*'",
            "NOT (age == 1) && !age == 2 || age == 3", "TRUEPREDICATE or falsepredicate",
            "born > T0:-1", "born > 2020-01-31@23:59:59:5", "born > 2020-01-31T23:59:59",
            "ident == oid(0123456789abcdef01234567)",
            "code == uuid(01234567-89AB-cdef-0123-456789abcdef)",
            "photo == binary('a') or photo == bin(B64\"YQ==\")", "name == B64\"YQ==\"",
            "ANY tags == 'a'", "NONE tags IN {'a'}", "'a' IN tags", "tags.@count > 2",
            "tags[FIRST] == 'a'", "tags[2] == 'a'", "tags[SIZE] == 2", "notes['a b'] == 'c'",
            "(age + 2) * 3 - age / 4 > 1", "friend.friend.age > 3", "scores.@max > 3",
            "SUBQUERY(friends, $x, $x.age > 1 && $x.name == 'b').@count > 0",
            "@links.Person.friend.age > 1", "anything.@type == 'int'", "friend == obj('Person', 1)",
            "address geoWithin geoCircle([1, 2.5], 0.1)",
            "address geoWithin geoPolygon({[0,0],[1,0],[1,1],[0,0]})",
            "age > 1 SORT(age DESC, name ascending) DISTINCT(name) LIMIT(3)",
            "like == 1 AND between == 2 AND in == 3 AND first == 4 AND binary == 5",
            "contains\\ text == 'a'", "age == $0", "größe > 1",
        ]
    )
    func forms(_ text: String) {
        #expect(parseError(text) == nil)
    }

    @Test("NOT binds to the next comparison, AND tighter than OR, * tighter than +")
    func precedence() throws {
        #expect(
            try SampleQuery.canonical("!age == 1 && age == 2 || age == 3")
                == "(!(age == 1) and age == 2 or age == 3)"
        )
        #expect(
            try SampleQuery.canonical("age + 2 * 3 - age == 1")
                == "((age + 6) - age) == 1"
        )
    }

    @Test("Bytes that are not UTF-8 are taken in a string and refused elsewhere")
    func invalidUTF8() throws {
        _ = try QueryParser.parse(Array("name == '".utf8) + [0xff, 0x80] + Array("'".utf8))
        #expect(throws: QueryError.self) { try QueryParser.parse(Array("na".utf8) + [0xff]) }
    }

    @Test("A NUL is refused, in a string and elsewhere")
    func nul() {
        #expect(parseError("name == 'a\0b'")?.column == 11)
        #expect(parseError("name\0 == 'a'")?.column == 5)
    }

    private func parseError(_ text: String) -> QueryError? {
        do throws(QueryError) {
            _ = try QueryParser.parse(text)
            return nil
        } catch {
            return error
        }
    }
}
