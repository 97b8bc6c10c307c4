import Changesets
import Documents
import Query
import Schemas
import TestSupport
import Testing

@Suite("Predicate index")
struct PredicateIndexTests {
    @Test("Finds every view that contains an object, as evaluating all of them does")
    func findsAll() throws {
        var narrowed = 0
        for seed in UInt64(0)..<150 {
            var random = SplitMix64(seed: seed)
            let world = RandomClass(using: &random)
            let rules = SubscriptionRules(schema: world.schema)
            var index = PredicateIndex<Int>()
            var queries: [Int: CheckedQuery] = [:]
            for session in 0..<60 {
                guard
                    let query = try? rules.check(world.query(using: &random), of: RandomClass.name)
                else { continue }
                // Sessions replace their views, and leave.
                if Int.random(in: 0..<5, using: &random) == 0, let old = queries.keys.min() {
                    index.remove(old, from: RandomClass.name)
                    queries[old] = nil
                }
                let target =
                    Int.random(in: 0..<4, using: &random) == 0
                    ? queries.keys.max() ?? session : session
                index.insert(query, of: target)
                queries[target] = query
            }
            for object in world.objects {
                let candidates = index.candidates(for: [object], of: RandomClass.name)
                let found = candidates.filter { $0.evaluator.matches(object) }
                    .reduce(into: Set<Int>()) { $0.formUnion($1.sessions) }
                let expected = queries.filter { QueryEvaluator($0.value).matches(object) }
                let missing = expected.filter { !found.contains($0.key) }.values
                    .map { String(decoding: CanonicalText.write($0), as: UTF8.self) }
                #expect(missing == [], "seed \(seed)")
                #expect(found.count == expected.count, "seed \(seed)")
                if candidates.count < Set(queries.values).count { narrowed += 1 }
            }
            for session in queries.keys { index.remove(session, from: RandomClass.name) }
            #expect(index.isEmpty, "seed \(seed)")
        }
        // Else the index would be a list.
        #expect(narrowed > 5_000, "\(narrowed)")
    }

    // MARK: Which views are candidates

    private func candidates(
        _ texts: [String],
        _ object: SampleObject
    ) throws -> [Int] {
        var index = PredicateIndex<Int>()
        for (session, text) in texts.enumerated() {
            index.insert(try SampleQuery.checked(text), of: session)
        }
        return index.candidates(for: [object], of: SampleObject.className)
            .flatMap { $0.sessions.sorted() }
    }

    @Test(
        "Queries that pin a field are candidates for its value only",
        arguments: [
            "age == 5", "5 == age", "age IN {5, 7}", "age == 5 AND name CONTAINS 'x'",
            "name CONTAINS 'x' AND (age == 5 OR age == 7)", "age == 5 OR age == 7",
            "NOT (age != 5 OR name == 'x')", "NOT NOT age == 5", "age > 4 AND age < 6",
            "age BETWEEN {4, 6}", "age >= 5 AND name != 'y' AND age <= 5", "age > 4",
            "NOT (age != 5)", "(age == 5 AND active == true) OR (age == 6 AND active == false)",
            "age == 5 OR name == 'z'", "age IN {5} OR (age > 3 AND age < 6)",
            "ident == oid(000000000000000000000000) OR age == 5",
        ]
    )
    func pinned(_ text: String) throws {
        let value = [Int64(5), 2].map { SampleObject("age", .int($0)) }
        #expect(try candidates([text], value[0]) == [0])
        #expect(try candidates([text], value[1]) == [])
        #expect(try candidates([text], SampleObject()) == [])
    }

    @Test("Lists are found by each of their elements")
    func lists() throws {
        let object = SampleObject([
            "tags": .list([.scalar(.string("a")), .scalar(.null), .scalar(.string("b"))])
        ])
        let texts = [
            "ANY tags == 'b'", "'c' IN tags", "tags == NULL", "ALL tags == 'b'",
            "NONE tags == 'b'", "NOT (ANY tags == 'b')", "tags.@count == 3",
        ]
        #expect(try candidates(texts, object) == [0, 2, 3, 4, 5, 6])
        #expect(try candidates(texts, SampleObject()) == [3, 4, 5, 6])
    }

    @Test(
        "What no field pins is always a candidate",
        arguments: [
            "TRUEPREDICATE", "age != 5", "NOT age == 5", "age == 5 OR name CONTAINS 'x'",
            "name ==[c] 'x'", "age <= NULL", "age == height", "age + 1 == 5", "anything == 5",
            "money == 5", "weight == 5", "active > false",
        ]
    )
    func scanned(_ text: String) throws {
        #expect(try candidates([text], SampleObject("age", .int(1))) == [0])
    }

    @Test("A query that matches nothing is never a candidate")
    func nothing() throws {
        for text in ["FALSEPREDICATE", "age > 6 AND age < 4", "age == 1 AND FALSEPREDICATE"] {
            #expect(try candidates([text], SampleObject("age", .int(1))) == [], "\(text)")
        }
    }

    @Test("Sessions with equal queries are one view, which ends with the last of them")
    func equalQueries() throws {
        var index = PredicateIndex<Int>()
        let query = try SampleQuery.checked("age == 5")
        let object = SampleObject("age", .int(5))
        for session in [3, 1, 2] { index.insert(query, of: session) }
        func sessions() -> [Set<Int>] {
            index.candidates(for: [object, object], of: SampleObject.className).map(\.sessions)
        }
        #expect(sessions() == [[1, 2, 3]])
        index.insert(try SampleQuery.checked("age == 6"), of: 1)
        index.remove(2, from: SampleObject.className)
        index.remove(2, from: "Unknown")
        #expect(sessions() == [[3]])
        index.remove(3, from: SampleObject.className)
        #expect(sessions() == [])
        #expect(!index.isEmpty)
        index.remove(1, from: SampleObject.className)
        #expect(index.isEmpty)
    }

    @Test("A change is found by the object before and after it")
    func bothImages() throws {
        var index = PredicateIndex<String>()
        for age in 1...9 { index.insert(try SampleQuery.checked("age == \(age)"), of: "\(age)") }
        let images = [SampleObject("age", .int(7)), SampleObject("age", .int(2))]
        let found = index.candidates(for: images, of: SampleObject.className)
        #expect(found.map(\.sessions) == [["2"], ["7"]])
        #expect(index.candidates(for: images, of: "Address").isEmpty)
    }

    @Test("Many alternatives are scanned, so that one client cannot fill the memory")
    func manyAlternatives() throws {
        let few = (0..<256).map { "\($0)" }.joined(separator: ", ")
        let many = (0..<257).map { "\($0)" }.joined(separator: ", ")
        let object = SampleObject("age", .int(-1))
        #expect(try candidates(["age IN {\(few)}", "age IN {\(many)}"], object) == [1])
    }
}
