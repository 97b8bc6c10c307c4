import Changesets
import Documents
import Query
import Testing

@Suite("Joined checked queries")
struct QueryJoiningTests {
    private static let texts = [
        "TRUEPREDICATE", "FALSEPREDICATE", "age > 3", "age IN {1, 5, 9}", "age BETWEEN {2, 6}",
        "NOT (age > 3 OR age == 1)", "active == true AND NOT active IN {false}",
        "age + 2 > height * 3", "name BEGINSWITH 'a' OR age < 2", "height IN {1.5, 2.5}",
    ]

    private static let objects = (Int64(0)..<10).flatMap { age in
        [true, false].map { isActive in
            SampleObject([
                "age": .scalar(.int(age)), "active": .scalar(.bool(isActive)),
                "height": .scalar(.double(DoubleBits(1.5))),
                "name": .scalar(.string(isActive ? "ab" : "b")),
            ])
        }
    }

    @Test("A joined query matches as its parts do")
    func joinsMatch() throws {
        for first in Self.texts {
            for second in Self.texts {
                let (left, right) = (
                    try SampleQuery.checked(first), try SampleQuery.checked(second)
                )
                let both = QueryEvaluator(left.and(right))
                let either = QueryEvaluator(left.or(right))
                let nested = QueryEvaluator(left.or(right).and(right.or(left)).or(left))
                for object in Self.objects {
                    let parts = [left, right].map { QueryEvaluator($0).matches(object) }
                    #expect(both.matches(object) == (parts[0] && parts[1]), "\(first), \(second)")
                    #expect(either.matches(object) == (parts[0] || parts[1]), "\(first), \(second)")
                    #expect(nested.matches(object) == (parts[0] || parts[1]), "\(first), \(second)")
                }
            }
        }
    }

    @Test("Joined queries have the canonical text of their parts")
    func canonicalText() throws {
        let (left, right) = (
            try SampleQuery.checked("age > 3 OR age == 1"), try SampleQuery.checked("name == 'a'")
        )
        func text(_ query: CheckedQuery) -> String {
            String(decoding: CanonicalText.write(query), as: UTF8.self)
        }
        #expect(text(left.and(right)) == #"(age > 3 or age == 1) and name == "a""#)
        #expect(text(left.or(right)) == #"((age > 3 or age == 1) or name == "a")"#)
    }

    @Test("A query that is true or false is left out, or decides")
    func constants() throws {
        let query = try SampleQuery.checked("age > 3")
        let (yes, no) = (
            CheckedQuery(true, of: SampleObject.className),
            CheckedQuery(false, of: SampleObject.className)
        )
        #expect(query.and(yes) == query && yes.and(query) == query)
        #expect(query.or(no) == query && no.or(query) == query)
        #expect(query.and(no).constantResult == false && no.and(query).constantResult == false)
        #expect(query.or(yes).constantResult == true && yes.or(query).constantResult == true)
        #expect(query.and(query) == query && query.or(query) == query)
        #expect(query.constantResult == nil)
    }
}
