import Changesets
import Query
import Testing

@Suite("Names and types of queries")
struct QueryCheckerTests {
    @Test(
        "Mismatches are refused with their position",
        arguments: [
            ("size == 1", QueryError.Code.unknownName, 1, "Person has no property size"),
            ("age == 1 and nam == 'a'", .unknownName, 14, "Person has no property nam"),
            ("friend.nam == 'a'", .unknownName, 1, "Person has no property nam"),
            ("age.x == 1", .unknownName, 1, "age has no property x"),
            ("age[0] == 1", .type, 1, "age has no elements with that index"),
            ("age == true", .type, 5, "int cannot be compared with bool"),
            ("name > 3", .type, 6, "string cannot be compared with int"),
            ("name == binary('a')", .type, 6, "string cannot be compared with binary"),
            ("age == inf", .type, 8, "infinity cannot be compared with int"),
            ("1 == 2", .type, 3, "both sides are constants"),
            (
                "age CONTAINS 3", .type, 5,
                "the operator needs text or binary data on its right, not int"
            ),
            (
                "anything CONTAINS NULL", .type, 10,
                "the operator needs text or binary data on its right, not null"
            ),
            ("name TEXT 'a'", .type, 6, "TEXT needs a full-text index, and there is none"),
            ("age BETWEEN {1}", .type, 5, "BETWEEN needs two limits"),
            ("scores BETWEEN {1, 2}", .type, 8, "BETWEEN applies to a list only with ALL"),
            ("ALL age == 1", .type, 5, "ALL applies to no list here"),
            ("scores == marks", .type, 8, "two lists cannot be compared"),
            ("1 IN age", .argument, 3, "IN needs a list on its right"),
            ("age == $0", .argument, 8, "there is no argument 0"),
            ("age + NULL == 1", .argument, 5, "+ does not apply to int and null"),
            ("name + 1 == 1", .argument, 6, "+ does not apply to string and int"),
            ("friend > obj('Person', 1)", .type, 8, "link has no order"),
            ("friend == obj('Missing', 1)", .unknownName, 11, "there is no class Missing"),
            (
                "friend == obj('Person', 'a')", .type, 11,
                "objects of Person have no such primary key"
            ),
            (
                "friend == O5", .type, 11,
                "object numbers are only valid in their own file"
            ),
            (
                "born > 1800-01-01@00:00:00", .type, 8,
                "the calendar form cannot express a date before 1900"
            ),
            ("address geoWithin geoBox([0,0],[1,1])", .type, 9, "GEOWITHIN is not supported"),
        ]
    )
    func mistakes(_ text: String, _ code: QueryError.Code, _ column: Int, _ message: String) {
        let error = SampleQuery.error(text)
        #expect(error?.code == code)
        #expect(error?.column == column)
        #expect(error?.message == message)
        #expect(error?.remedy.isEmpty == false)
    }

    @Test("A missing class is refused")
    func unknownClass() throws {
        let query = try QueryParser.parse("a == 1")
        #expect(throws: QueryError.self) {
            try QueryChecker.check(query, of: "Missing", in: SampleObject.schema)
        }
    }

    @Test(
        "Constants take the type of the other side",
        arguments: [
            ("age == 2.0", "age == 2"), ("age == '12x'", "age == 12"),
            ("age == 1.5", "age == 1.5"), ("age == 010", "age == 8"),
            ("age == 99999999999999999999", "age == 9223372036854775807"),
            ("money == 1.50", "money == 1.50"), ("money == 3", "money == 3"),
            ("money == '1e2'", "money == 1E2"),
            ("height == '2.5'", "height == 2.5"),
            ("height == 0.1", "height == 0.10000000000000001"),
            ("weight == 0.1", "weight == 0.100000001"), ("anything == 0.1", "anything == 0.1"),
            ("anything == 16777216.0", "anything == 1.67772e+07"),
            ("born == 2038-01-20@00:00:00", "born == T2147558400:0"),
            ("born == 9999-12-31@23:59:59:5", "born == T253402300799:5"),
            ("height == 1e400", "height == inf"),
            ("height == 5e-324", "height == 4.9406564584124654e-324"),
        ]
    )
    func conversions(_ text: String, _ canonical: String) throws {
        #expect(try SampleQuery.canonical(text) == canonical)
    }

    @Test(
        "Canonical text has the recorded forms",
        arguments: [
            ("age <= 5 && age >= 5", "age < 6 and age > 4"),
            ("age <= 9223372036854775807", "age <= 9223372036854775807"),
            ("age between {1, 2}", "age between {1, 2}"),
            ("height between {1, 2}", "height >= 1 and height <= 2"),
            ("age IN {1, 1, 2}", "age IN {1, 2}"),
            ("active IN {true, false}", "(active == true or active == false)"),
            ("height IN {7}", "FALSEPREDICATE"),
            ("name == 'it\\'s'", "name == B64\"aXRcJ3M=\""),
            ("name == \"it's\"", "name == B64\"aXQncw==\""),
            ("photo == bin('a')", "photo == binary(\"a\")"),
            ("SOME tags == 'a'", "ANY tags == \"a\""), ("'a' IN tags", "\"a\" == tags"),
            ("tags.@count == 2", "tags.@size == 2"), ("notes.a == 'b'", "notes['a'] == \"b\""),
            (
                "age == 1 && age == 2 && age == 3 && age == 4",
                "age == 4 and age == 3 and age == 1 and age == 2"
            ),
            ("NOT (age == 1 || age == 2)", "!((age == 1 or age == 2))"),
            ("1 / 0 == age", "9223372036854775807 == age"),
            ("age == NULL && anything == NULL", "age == NULL and anything == null"),
            ("friend == obj('Person', 3)", "friend == obj(\"class_Person\",3)"),
        ]
    )
    func canonicalForms(_ text: String, _ canonical: String) throws {
        #expect(try SampleQuery.canonical(text) == canonical)
    }
}
