import Changesets
import Query
import TestSupport
import Testing

@Suite("The body of QUERY and IDENT")
struct SubscriptionSetTests {
    private let rules = SubscriptionRules(schema: SampleObject.schema)

    private func read(
        _ text: String,
        limits: SubscriptionLimits = SubscriptionLimits()
    ) throws(SubscriptionSetError) -> SubscriptionSetBody {
        try SubscriptionSetBody(decoding: Array(text.utf8), limits: limits)
    }

    private func refusal(
        of text: String,
        limits: SubscriptionLimits = SubscriptionLimits(),
        _ check: (SubscriptionSetBody) throws(SubscriptionSetError) -> Void = { _ in }
    ) -> SubscriptionSetError? {
        do throws(SubscriptionSetError) {
            try check(try read(text, limits: limits))
            return nil
        } catch {
            return error
        }
    }

    // MARK: Its JSON

    @Test("Classes are in bytewise order, with JSON's escapes")
    func written() throws {
        let body = SubscriptionSetBody(joining: [
            "b": [Array("x == \"q\"".utf8)], "B": [Array("TRUEPREDICATE".utf8)], "c": [],
        ])
        let text = #"{"B":"(TRUEPREDICATE)","b":"(x == \"q\")"}"#
        #expect(String(decoding: body.encoded, as: UTF8.self) == text)
        #expect(try read(text) == body)
        #expect(SubscriptionSetBody.empty.encoded == Array("{}".utf8))
        #expect(try read("{}") == .empty)
    }

    @Test(
        "Blanks and escapes are read",
        arguments: [
            ("{ }", nil), (" \n{\t\"a\" :\r\"b\" } ", "b"), (#"{"a":"\u0041\u00e9"}"#, "Aé"),
            (#"{"a":"\ud83d\ude00"}"#, "😀"),
            (#"{"a":"\"\\\/\b\f\n\r\t"}"#, "\"\\/\u{8}\u{c}\n\r\t"),
            (#"{"\u0061":"é😀"}"#, "é😀"), (#"{"a":"\u0000"}"#, "\0"),
        ] as [(String, String?)]
    )
    func json(_ text: String, _ query: String?) throws {
        #expect(try read(text).queries == (query.map { ["a": Array($0.utf8)] } ?? [:]))
    }

    @Test("Bytes that are not UTF-8 are kept")
    func invalidUTF8() throws {
        let query: [UInt8] = Array("a == \"".utf8) + [0xed, 0xa0, 0x80, 0xff, 0x22]
        let body = SubscriptionSetBody(joining: ["a": [query]])
        #expect(try SubscriptionSetBody(decoding: body.encoded) == body)
        #expect(body.queries["a"] == Array("(".utf8) + query + Array(")".utf8))
    }

    @Test(
        "Another text is refused, with the position and the missing part",
        arguments: [
            ("", 0, "\"{\""), ("null", 0, "\"{\""), ("[]", 0, "\"{\""),
            ("{", 1, "the name of a class"), ("{,}", 1, "the name of a class"),
            ("{\"a\"}", 4, "\":\""), ("{\"a\":}", 5, "a query as a string"),
            ("{\"a\":null}", 5, "a query as a string"),
            ("{\"a\":[\"b\"]}", 5, "a query as a string"),
            ("{\"a\":\"b\"", 8, "\",\" or \"}\""), ("{\"a\":\"b\",}", 9, "the name of a class"),
            ("{\"a\":\"b\"}x", 9, "the end"), ("{}{}", 2, "the end"),
            ("{\"a\":\"b", 7, "the quote that ends a string"),
            ("{\"a\":\"b\n\"}", 7, "an escape for a control character"),
            (#"{"a":"\x"}"#, 6, "an escape of JSON"), (#"{"a":"\"#, 6, "an escape of JSON"),
            (#"{"a":"\u12"}"#, 6, "an escape of four digits"),
            (#"{"a":"\ud800"}"#, 6, "a pair of surrogates"),
            (#"{"a":"\udc00\ud800"}"#, 6, "a pair of surrogates"),
            (#"{"a":"\ud800\u0041"}"#, 6, "a pair of surrogates"),
        ]
    )
    func malformed(_ text: String, _ offset: Int, _ expected: String) {
        #expect(refusal(of: text) == .malformed(offset: offset, expected: expected))
    }

    @Test("Every prefix of a body is refused; random bytes never trap")
    func hostileBytes() {
        let body = Array(
            #"{"Person":"(name == \"a\u00e9\ud83d\ude00\")","b":"(TRUEPREDICATE)"}"#.utf8
        )
        for length in body.indices {
            #expect(throws: SubscriptionSetError.self) {
                try SubscriptionSetBody(decoding: Array(body[..<length]))
            }
        }
        var random = SplitMix64(seed: 1)
        var accepted = 0
        for _ in 0..<20_000 {
            var bytes = body
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let index = Int.random(in: bytes.indices, using: &random)
                bytes[index] = UInt8.random(in: 0...255, using: &random)
            }
            guard let read = try? SubscriptionSetBody(decoding: bytes) else { continue }
            accepted += 1
            #expect((try? SubscriptionSetBody(decoding: read.encoded)) == read)
        }
        print("subscription sets: \(accepted) of 20000 altered bodies are JSON")
        #expect(accepted > 100 && accepted < 20_000)
    }

    @Test("Only the classes whose text changed differ")
    func differences() throws {
        let old = try read(#"{"a":"x","b":"y","c":"z"}"#)
        let new = try read(#"{"a":"x","b":"other","d":"z"}"#)
        #expect(new.classes(differingFrom: old) == ["b", "c", "d"])
        #expect(new.classes(differingFrom: new) == [])
    }

    // MARK: Limits

    @Test("Each limit is inclusive, and its error names it")
    func limits() throws {
        var limits = SubscriptionLimits()
        limits.bodySizeInBytes = 19
        _ = try read(#"{"a":"b","c":"def"}"#, limits: limits)
        #expect(
            refusal(of: #"{"a":"b","c":"defg"}"#, limits: limits)
                == .bodyTooLong(bytes: 20, limit: 19)
        )
        limits = SubscriptionLimits(classes: 2)
        _ = try read(#"{"a":"b","c":"d"}"#, limits: limits)
        #expect(
            refusal(of: #"{"a":"b","c":"d","e":"f"}"#, limits: limits) == .tooManyClasses(limit: 2)
        )
        #expect(refusal(of: #"{"a":"b","a":"b"}"#) == .duplicateClass("a"))
        let rules = SubscriptionRules(
            schema: SampleObject.schema,
            limits: SubscriptionLimits(querySizeInBytes: 9, queriesPerClass: 2, nesting: 3)
        )
        func refused(_ query: String) -> SubscriptionSetError? {
            refusal(of: #"{"Person":"\#(query)"}"#) { body throws(SubscriptionSetError) in
                _ = try rules.check(body)
            }
        }
        #expect(refused("(age == 1) OR (age == 22)") == nil)
        #expect(
            refused("(age == 1) OR (age == 2) OR (age == 3)")
                == .tooManyQueries(className: "Person", limit: 2)
        )
        #expect(refused("(age == 1) OR (age == 333)")?.query?.code == .limit)
        #expect(refused("(age == 1) OR (age == 333)")?.query?.column == 16)
        #expect(refused("(!!age==1)") == nil)
        #expect(refused("(!!!age==1)")?.query?.code == .limit)
    }

    // MARK: Checking

    @Test("A valid set is checked class by class")
    func checked() throws {
        let body = try read(
            #"{"Person":"(age > 3 and name == 'a') OR (name == 'b' or _id == 3)"}"#
        )
        let checked = try rules.check(body)
        #expect(checked.body == body)
        #expect(checked.queries.keys.sorted() == ["Person"])
        #expect(checked.queries["Person"]?.properties == ["_id", "age", "name"])
        #expect(checked.pinnedValues.isEmpty)
        #expect(try rules.check(.empty).queries.isEmpty)
    }

    @Test(
        "One bad class refuses the set; the text names class, column and remedy",
        arguments: [
            (
                #"{"Person":"(age == 1) OR (size == 2)"}"#, QueryError.Code.unknownName,
                "invalid RQL for table \"Person\": column 16: "
            ),
            (
                #"{"Person":"(age == 1)","Nothing":"(TRUEPREDICATE)"}"#, .unknownName,
                "invalid RQL for table \"Nothing\": column 1: there is no class Nothing; "
            ),
            (
                #"{"Person":"(height > 1)"}"#, .notQueryable,
                "invalid RQL for table \"Person\": column 2: key \"height\" is not a queryable field; "
            ),
            (
                #"{"Address":"(TRUEPREDICATE)"}"#, .subscription,
                "invalid RQL for table \"Address\": column 1: Address is embedded, "
            ),
            (
                #"{"Person":"(age > 1 SORT(age ASC))"}"#, .syntax,
                "invalid RQL for table \"Person\": column 10: unexpected SORT"
            ),
        ]
    )
    func refused(_ text: String, _ code: QueryError.Code, _ reason: String) {
        let rules = SubscriptionRules(schema: SampleObject.schema) { $1 == "age" }
        let error = refusal(of: text) { body throws(SubscriptionSetError) in
            _ = try rules.check(body)
        }
        #expect(error?.query?.code == code)
        #expect(error?.description.hasPrefix("Invalid query: " + reason) == true, "\(error as Any)")
    }

    @Test("In development mode a class may come later; its query must still be one")
    func developmentMode() throws {
        let body = try read(#"{"Later":"(anything == 1)","Person":"(age == 1)"}"#)
        let checked = try rules.check(body, acceptsUnknownClasses: true)
        #expect(checked.queries.keys.sorted() == ["Person"])
        let error = refusal(of: #"{"Later":"(a == 1 LIMIT(1))"}"#) {
            body throws(SubscriptionSetError) in
            _ = try rules.check(body, acceptsUnknownClasses: true)
        }
        #expect(error?.query?.code == .syntax)
    }

    @Test("Every query of a class that has the indexed field pins it")
    func indexedField() throws {
        let rule = IndexedFieldRule(field: "age")
        let body = try read(#"{"Person":"(age == 1) OR (age IN {2, 3} and height > 1)"}"#)
        let checked = try rules.check(body, indexedField: rule)
        #expect(checked.pinnedValues == ["Person": [.int(1), .int(2), .int(3)]])
        let error = refusal(of: #"{"Person":"(age == 1) OR (height > 1)"}"#) {
            body throws(SubscriptionSetError) in
            _ = try rules.check(body, indexedField: rule)
        }
        #expect(error?.query?.code == .indexedField)
        #expect(error?.query?.column == 16)
        let other = try rules.check(body, indexedField: IndexedFieldRule(field: "elsewhere"))
        #expect(other.pinnedValues.isEmpty)
    }

    @Test("The text of a refusal is short, however long the names are")
    func longNames() {
        let name = String(repeating: "é", count: 100_000)
        for text in [#"{"\#(name)":"x"}"#, #"{"Person":"\#(name) == 1"}"#] {
            let error = refusal(of: text) { body throws(SubscriptionSetError) in
                _ = try rules.check(body)
            }
            let description = error?.description ?? ""
            #expect((50...1024).contains(description.utf8.count))
            #expect(description.hasPrefix("Invalid query: invalid RQL for table \""))
        }
    }
}

extension SubscriptionSetError {
    fileprivate var query: QueryError? {
        if case .query(_, let error) = self { error } else { nil }
    }
}
