import Changesets
import Documents
import JSON
import Permissions
import Query
import Testing

@Suite("Filters of roles")
struct DocumentFilterTests {
    @Test(
        "Values of the user become constants of the property's type",
        arguments: [
            ("owner == $user.id", #"owner == "6569e1a0c0ffee0123456789""#),
            ("$user.id == owner", #""6569e1a0c0ffee0123456789" == owner"#),
            ("ident == $user.id", "ident == oid(6569e1a0c0ffee0123456789)"),
            ("ident == $user.custom_data.team", "ident == oid(6569e1a0c0ffee0123456789)"),
            ("level > $user.data.level", "level > 3"),
            ("level > $user.custom_data.rank", "level > 4"),
            ("price <= $user.data.level", "price <= 3"),
            ("open == $user.data.admin", "open == true"),
            ("store IN $user.data.stores", #"store IN {"7", "8"}"#),
            ("$user.id IN members", #""6569e1a0c0ffee0123456789" == members"#),
            ("ANY members == $user.id", #"ANY members == "6569e1a0c0ffee0123456789""#),
            ("ANY members IN {'a', 'b'}", #"ANY members == {"a", "b"}"#),
            ("ANY members IN $user.data.stores", #"ANY members == {"7", "8"}"#),
            ("members.@count > $user.data.level", "members.@size > 3"),
            ("mixture == $user.data.store", #"mixture == "7""#),
            ("store IN $user.data.empty", "FALSEPREDICATE"),
            ("NOT store IN $user.data.empty", "!(FALSEPREDICATE)"),
            ("$user.data.admin == true", "TRUEPREDICATE"),
            ("$user.data.store != NULL", "TRUEPREDICATE"),
            ("$user.data.absent == NULL", "TRUEPREDICATE"),
            ("$user.type == 'normal'", "TRUEPREDICATE"),
            ("'8' IN $user.data.stores", "TRUEPREDICATE"),
            ("'9' IN $user.data.stores", "FALSEPREDICATE"),
        ]
    )
    func valuesBecomeConstants(_ text: String, _ expected: String) throws {
        let query = try Sample.filter(text).query { Sample.user[$0] }
        #expect(Sample.canonical(query) == expected)
    }

    @Test(
        "What cannot be evaluated denies, on either side of a negation",
        arguments: [
            ("store == $user.data.absent", "FALSEPREDICATE"),
            ("store != $user.data.absent", "FALSEPREDICATE"),
            ("store == $user.data.nothing", "FALSEPREDICATE"),
            ("NOT store == $user.data.absent", "!(TRUEPREDICATE)"),
            ("NOT (NOT store == $user.data.absent)", "!(!(FALSEPREDICATE))"),
            (
                "NOT (open == true AND store == $user.data.absent)",
                "!(open == true and TRUEPREDICATE)"
            ),
            ("open == true OR store == $user.data.absent", "(open == true or FALSEPREDICATE)"),
            // Text is not converted to a number, a number not to text.
            ("level == $user.data.numberAsText", "FALSEPREDICATE"),
            ("level < $user.data.numberAsText", "FALSEPREDICATE"),
            ("NOT level < $user.data.numberAsText", "!(TRUEPREDICATE)"),
            ("store == $user.data.level", "FALSEPREDICATE"),
            ("ident == $user.data.store", "FALSEPREDICATE"),
            ("code == $user.id", "FALSEPREDICATE"),
            ("level IN $user.data.stores", "FALSEPREDICATE"),
            ("store IN $user.data.store", "FALSEPREDICATE"),
            ("store == $user.data.stores", "FALSEPREDICATE"),
            ("$user.data.absent == 'x'", "FALSEPREDICATE"),
            ("$user.data.absent != 'x'", "FALSEPREDICATE"),
            ("NOT $user.data.absent == 'x'", "!(TRUEPREDICATE)"),
        ]
    )
    func denies(_ text: String, _ expected: String) throws {
        let query = try Sample.filter(text).query { Sample.user[$0] }
        #expect(Sample.canonical(query) == expected)
    }

    @Test("Any element that is in a list matches, in filters only")
    func listsOfLists() throws {
        let text = "ANY members IN {'a', 'b'}"
        let evaluator = QueryEvaluator(try Sample.filter(text).query { Sample.user[$0] })
        func matches(_ members: [Text]) -> Bool {
            let list = Value.list(members.map { .scalar(.string($0)) })
            return evaluator.matches(Sample.object(1, ["members": list]))
        }
        #expect(matches(["c", "b"]))
        #expect(!matches(["c"]))
        #expect(!matches([]))
        #expect(throws: QueryError.self) {
            try Sample.rules.check(Array(text.utf8), of: Sample.order)
        }
    }

    @Test("A value that looks like a query stays a value")
    func valuesAreNotSpliced() throws {
        let user = UserValues(id: "x' OR TRUEPREDICATE OR 'a' == 'a", type: "normal")
        let query = try Sample.filter("owner == $user.id").query { user[$0] }
        #expect(!QueryEvaluator(query).matches(Sample.object(owner: "another user")))
        #expect(
            QueryEvaluator(query).matches(Sample.object(owner: "x' OR TRUEPREDICATE OR 'a' == 'a"))
        )
    }

    @Test(
        "Mistakes have a code and a column",
        arguments: [
            ("owner == $user.name", QueryError.Code.unknownName, 10),
            ("owner == $user", .unknownName, 10),
            ("owner == $user.data", .unknownName, 10),
            ("ANY $user.data.stores == store", .unknownName, 5),
            ("missing == $user.id", .unknownName, 1),
            ("secret == $user.id", .notQueryable, 1),
            ("secret == 'x'", .notQueryable, 1),
            ("photo == $user.id", .type, 7),
            ("store BEGINSWITH $user.data.prefix", .type, 7),
            ("store LIKE $user.data.pattern", .type, 7),
            ("level + $user.data.level == 3", .type, 9),
            ("level + 1 == $user.data.level", .type, 11),
            ("$user.data.level < 5", .type, 18),
            ("$user.data.level == 1.5", .type, 21),
            ("$user.id BETWEEN {1, 2}", .type, 1),
            ("$user.id IN store", .argument, 10),
            ("owner == $0", .subscription, 10),
            ("owner == 'x' SORT(owner ASC)", .subscription, 14),
            ("owner == ", .syntax, 10),
        ]
    )
    func mistakes(_ text: String, _ code: QueryError.Code, _ column: Int) throws {
        let error = try #require(throws: QueryError.self) { _ = try Sample.filter(text) }
        #expect(error.code == code, "\(error)")
        #expect(error.column == column, "\(error)")
    }

    @Test("Lists, texts, filters and their nesting are limited")
    func limits() throws {
        let limits = FilterLimits(sizeInBytes: 60, nesting: 3, listElements: 2, textSizeInBytes: 4)
        func filter(_ text: String) throws(QueryError) -> DocumentFilter<UserValueName> {
            try DocumentFilter(
                text,
                of: Sample.order,
                Sample.rules,
                limits: limits,
                known: "",
                name: UserValueName.init
            )
        }
        let user = UserValues(
            id: "12345",
            type: "normal",
            data: [
                "two": .array([.string("1"), .string("2")]),
                "three": .array([.string("1"), .string("2"), .string("3")]),
            ]
        )
        func canonical(_ text: String) throws -> String {
            Sample.canonical(try filter(text).query { user[$0] })
        }
        #expect(try canonical("store IN $user.data.two") == #"store IN {"1", "2"}"#)
        #expect(try canonical("store IN $user.data.three") == "FALSEPREDICATE")
        #expect(try canonical("store == $user.id") == "FALSEPREDICATE")
        #expect(throws: QueryError.self) { _ = try filter("((((store == 'x'))))") }
        #expect(throws: QueryError.self) {
            _ = try filter("store == '" + String(repeating: "x", count: 60) + "'")
        }
    }
}
