import Changesets
import Query
import Testing

@Suite("Restrictions of subscriptions")
struct SubscriptionRulesTests {
    private let rules = SubscriptionRules(schema: SampleObject.schema)

    @Test(
        "Allowed",
        arguments: [
            "TRUEPREDICATE", "FALSEPREDICATE", "_id == 3", "age != 1 and not height <= 2.5",
            "age IN {1, 2} OR age BETWEEN {5, 9}", "name BEGINSWITH[c] 'a'", "name LIKE '*b?'",
            "name == other", "age + 2 > height", "'x' IN tags", "ANY tags == 'x'",
            "ALL tags != 'x'", "NONE scores > 3", "tags.@count > 2", "scores.@size == 0",
            "scores == 3", "anything == 'a'", "born > T0:0", "name == null",
        ]
    )
    func allowed(_ text: String) throws {
        _ = try rules.check(Array(text.utf8), of: SampleObject.className)
    }

    @Test(
        "Refused, with the construct and its position",
        arguments: [
            ("age > 1 SORT(age ASC)", 9, "SORT"), ("age > 1 DISTINCT(age)", 9, "DISTINCT"),
            ("age > 1 LIMIT(1)", 9, "LIMIT"), ("scores.@max > 1", 1, "@max"),
            ("scores.@avg > 1", 1, "@avg"), ("scores.@sum > 1", 1, "@sum"),
            ("scores.@min > 1", 1, "@min"), ("name.@count > 1", 1, "@count of anything but a list"),
            ("marks.@count > 1", 1, "@count of anything but a list"),
            ("friend.age > 1", 1, "a path with more than one property"),
            ("address.city == 'a'", 1, "a path with more than one property"),
            ("@links.@count > 1", 1, "@links"),
            ("age == 1 and SUBQUERY(friend, $x, TRUEPREDICATE).@count > 1", 14, "SUBQUERY"),
            ("name TEXT 'a'", 6, "TEXT"), ("anything.@type == 'int'", 1, "@type"),
            ("notes['a'] == 'b'", 1, "the key of a dictionary"),
            ("notes.@keys == 'b'", 1, "the key of a dictionary"),
            ("notes == 'b'", 1, "a dictionary"),
            ("tags[0] == 'b'", 1, "the index of an element"),
            ("friend == obj('Person', 1)", 11, "obj()"), ("friend == NULL", 1, "a link"),
            ("age == O5", 8, "an object number"), ("age == $0", 8, "the argument $0"),
            ("{'a', 'b'} IN tags", 12, "a list compared with another list"),
            ("ANY {'a'} == ANY tags", 11, "a list compared with another list"),
            ("name LIKE {'a'}", 6, "a list in braces with this operator"),
            ("address geoWithin geoBox([0,0],[1,1])", 9, "GEOWITHIN"),
        ]
    )
    func refused(_ text: String, _ column: Int, _ construct: String) {
        let error = refusal(text)
        #expect(error?.code == .subscription)
        #expect(error?.column == column)
        #expect(error?.message == "a subscription cannot use \(construct)")
    }

    @Test("Only queryable fields and the primary key are accepted")
    func queryable() throws {
        let rules = SubscriptionRules(schema: SampleObject.schema) { $1 == "age" }
        _ = try rules.check(Array("age == 1 and _id > 3".utf8), of: SampleObject.className)
        let error = #expect(throws: QueryError.self) {
            try rules.check(Array("age == 1 or name == 'a'".utf8), of: SampleObject.className)
        }
        #expect(error?.code == .notQueryable)
        #expect(error?.column == 13)
        #expect(error?.message == "key \"name\" is not a queryable field")
    }

    @Test("Embedded and asymmetric classes have no subscriptions")
    func kinds() {
        for className in ["Address", "Reading"] as [Text] {
            let error = #expect(throws: QueryError.self) {
                try rules.check(Array("TRUEPREDICATE".utf8), of: className)
            }
            #expect(error?.code == .subscription)
        }
    }

    @Test("The size limit applies to each joined query, not for their sum")
    func size() throws {
        let long = Array(("name == '" + String(repeating: "a", count: 200 << 10) + "'").utf8)
        let other = Array(("other == '" + String(repeating: "b", count: 200 << 10) + "'").utf8)
        _ = try rules.check(JoinedQuery.join([long, other]), of: SampleObject.className)
        let tooLong = Array(("name == '" + String(repeating: "a", count: 256 << 10) + "'").utf8)
        let error = #expect(throws: QueryError.self) {
            try rules.check(JoinedQuery.join([long, tooLong]), of: SampleObject.className)
        }
        #expect(error?.code == .limit)
    }

    private func refusal(_ text: String) -> QueryError? {
        do throws(QueryError) {
            _ = try rules.check(Array(text.utf8), of: SampleObject.className)
            return nil
        } catch {
            return error
        }
    }
}
