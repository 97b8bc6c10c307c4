import JSON
import Query
import Testing

@Suite("Rules")
struct RuleConditionTests {
    /// Every word is a name except `unknown`; its value is the word.
    private func holds(_ text: String) throws -> Bool {
        try rule(text).holds { .string($0) }
    }

    private func rule(_ text: String) throws(QueryError) -> RuleCondition<String> {
        try RuleCondition(text, known: "a word") { $0 == "unknown" ? nil : $0 }
    }

    @Test(
        "Words contain dots, digits and keywords of queries",
        arguments: [
            "user.data.2fa", "user.data.or", "a.in.b", "user.data.first", "size", "a-b", "a.b-1",
            "$x", "größe.ß", "B64", "beginswith", "truepredicate", "T1", "O5", "nan", "-", "1x",
            "99999999999999999999", "1.5",
        ]
    )
    func words(_ word: String) throws {
        #expect(try holds("\(word) == '\(word)'"))
        #expect(try !holds("\(word) != '\(word)'"))
        #expect(try !holds(word))
    }

    @Test(
        "Strings have no escapes, constants any case, numbers no radix",
        arguments: [
            (#"a == 'CORP\bob'"#, #"CORP\bob"#), (#"a == 'x\'"#, #"x\"#),
            (#"a == "it's""#, "it's"), ("a == ''", ""), ("a == '== OR ('", "== OR ("),
        ]
    )
    func strings(_ text: String, _ value: String) throws {
        #expect(try rule(text).holds { _ in .string(value) })
    }

    @Test(
        "Numbers",
        arguments: [("010", 10), ("08", 8), ("-5", -5), ("-9223372036854775808", Int64.min)]
    )
    func numbers(_ text: String, _ value: Int64) throws {
        #expect(try rule("a == \(text)").holds { _ in .integer(value) })
        #expect(try !rule("a == \(text)").holds { _ in .string(text) })
    }

    @Test("IN looks for a value in a list of the user")
    func membership() throws {
        func holds(_ text: String, _ value: JSONValue?) throws -> Bool {
            try rule(text).holds { $0 == "list" ? value : .string($0) }
        }
        let list = JSONValue.array([.string("a"), .integer(5), .bool(true)])
        #expect(try holds("'a' IN list", list))
        #expect(try holds("a in list AND 5 In list AND true IN list", list))
        #expect(try !holds("'b' IN list", list))
        #expect(try !holds("'5' IN list OR false IN list OR null IN list", list))
        #expect(try !holds("'a' IN list", nil))
        #expect(try !holds("'a' IN list", .string("a")))
        #expect(try holds("NOT 'b' IN list", list))
    }

    @Test(
        "AND binds tighter than OR, NOT tightest",
        arguments: [
            ("True", true), ("FALSE", false), ("not FALSE", true), ("Not false And False", false),
            ("true or true and false", true), ("(true or true) and false", false),
            ("not (true or true)", false), ("NOT NOT true", true), ("((true))", true),
            ("Null == null", true), ("1 == 1 AND 1 != 2", true), ("true == true", true),
            ("'true'", false), ("1", false), ("\u{a0}true\u{2028}or\u{b}false\u{c}", true),
        ]
    )
    func precedence(_ text: String, _ result: Bool) throws {
        #expect(try holds(text) == result)
    }

    @Test(
        "Operators and constants of queries are refused, where they are",
        arguments: [
            ("a = 1", 3), ("a < 1", 3), ("a <> 1", 3), ("a && b", 3), ("!a", 1), ("a + 1 == 2", 3),
            ("a == +1", 6), ("a == {1}", 6), ("a IN {1}", 6), ("a IN", 5), ("a BEGINSWITH 'x'", 3),
            ("a ==[c] 'x'", 5), ("a == ('x')", 6), ("(a) == 'x'", 5), ("a == NOT b", 6),
            ("a == b == c", 8), ("a b", 3), ("a OR", 5), ("and", 1), ("a == (b", 6), ("a)", 2),
            ("a == binary('x')", 12), ("é == unknown", 6),
        ]
    )
    func refusals(_ text: String, _ column: Int) {
        let error = #expect(throws: QueryError.self) { try rule(text) }
        #expect(error?.column == column)
    }

    @Test("Depth costs no stack, and has a limit")
    func depth() throws {
        let open = String(repeating: "(", count: 4_000)
        let deep = open + "true" + String(repeating: ")", count: 4_000)
        #expect(try holds(deep))
        #expect(try holds(String(repeating: "NOT ", count: 4_000) + "true"))
        #expect(try !holds("false" + String(repeating: " OR false", count: 100_000)))
        let error = #expect(throws: QueryError.self) { try rule("(" + deep + ")") }
        #expect(error?.code == .limit)
    }
}
