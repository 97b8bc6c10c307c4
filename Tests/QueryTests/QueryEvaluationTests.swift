import Changesets
import Documents
import Query
import Testing

/// The tables of flexible sync, 12.5, as corrected by query as recorded.
@Suite("The evaluation of queries")
struct QueryEvaluationTests {
    @Test(
        "Null against a value, a value against null, and null against null",
        arguments: [
            ("age == 1", false), ("age != 1", true), ("age < 1", false), ("age <= 1", false),
            ("age > 1", false), ("age >= 1", false), ("age == NULL", true), ("age != NULL", false),
            ("age <= NULL", true), ("age >= NULL", true), ("age < NULL", false),
            ("active <= NULL", true), ("active >= NULL", true), ("age IN {1, NULL}", true),
            ("age IN {1}", false), ("age BETWEEN {0, 9}", false), ("NOT (age > 3)", true),
            ("age + 1 == NULL", true), ("age == height", true), ("height <= weight", true),
            ("name < 'a'", true), ("name <= 'a'", true), ("name > 'a'", false),
            ("'a' > name", false), ("name >= NULL", true), ("name > NULL", false),
            ("name BEGINSWITH NULL", true), ("name ENDSWITH[c] NULL", true),
            ("name CONTAINS NULL", true), ("name LIKE NULL", true), ("name LIKE '*'", false),
            ("name CONTAINS ''", false), ("photo CONTAINS NULL", true),
            ("photo CONTAINS[c] NULL", false), ("name CONTAINS other", false),
            ("name LIKE other", true), ("anything == NULL", true), ("anything < 3", false),
        ]
    )
    func null(_ text: String, _ isMatch: Bool) throws {
        #expect(try SampleQuery.matches(text, SampleObject()) == isMatch)
    }

    @Test(
        "Strings compare by bytes, and [c] folds ASCII and Latin 1",
        arguments: [
            ("name == 'Été'", true), ("name == 'été'", false), ("name ==[c] 'éTÉ'", true),
            ("name !=[c] 'éTÉ'", false), ("name > 'zzz'", true), ("name BEGINSWITH 'É'", true),
            ("name BEGINSWITH[c] 'é'", true), ("name ENDSWITH 'té'", true),
            ("name CONTAINS ''", true),
            ("name LIKE '?t?'", true), ("name LIKE '???'", true), ("name LIKE '????'", false),
            ("name LIKE '*'", true), ("name LIKE '*t*'", true), ("name LIKE[c] 'É*É'", true),
            ("name LIKE 'É*É'", false), ("name LIKE ''", false), ("name > NULL", true),
            ("name.@count == 5", true),
        ]
    )
    func strings(_ text: String, _ isMatch: Bool) throws {
        #expect(try SampleQuery.matches(text, SampleObject("name", .string("Été"))) == isMatch)
    }

    @Test(
        "Beside a constant of its own type NaN follows IEEE 754, beside another it is the smallest",
        arguments: [
            ("height == nan", false), ("height != nan", true), ("height < 1.0", false),
            ("height < 1", true), ("height > 1", false), ("height != height", false),
            ("height <= weight", false), ("height < money", false),
        ]
    )
    func notANumber(_ text: String, _ isMatch: Bool) throws {
        #expect(
            try SampleQuery.matches(text, SampleObject("height", .double(DoubleBits(.nan))))
                == isMatch
        )
    }

    @Test(
        "Numbers of different types compare by value",
        arguments: [
            ("age == 9007199254740993.0", false), ("age > 9007199254740992.0", true),
            ("age == anything", true), ("anything == 9007199254740993", true),
            ("money == 0.1", true), ("money == height", true), ("height == 0.1", true),
            ("weight == 0.1", true), ("height == 0.1f", false), ("weight == 0.1f", true),
            ("age < 1e400", true), ("age == 1.5", false), ("age != 1.5", true),
        ]
    )
    func numbers(_ text: String, _ isMatch: Bool) throws {
        let object = SampleObject([
            "age": .scalar(.int(9_007_199_254_740_993)),
            "anything": .scalar(.int(9_007_199_254_740_993)),
            "money": .scalar(.decimal(decimal(1, exponent: -1))),
            "height": .scalar(.double(DoubleBits(0.1))),
            "weight": .scalar(.float(FloatBits(0.1))),
        ])
        if text == "age < 1e400" {
            #expect(SampleQuery.error(text)?.code == .type)
        } else {
            #expect(try SampleQuery.matches(text, object) == isMatch)
        }
    }

    @Test(
        "Arithmetic wraps, divides by zero without a trap, and widens",
        arguments: [
            ("age / 0 == 9223372036854775807", true), ("age + 9223372036854775807 < 0", true),
            ("age / 2 == 3", true), ("age / 2.0 == 3", true), ("age / 2.5 == 2.8", true),
            ("age * 2 - 4 == 10", true),
            ("(-9223372036854775808 / -1) != age", true),
            ("(0 - 9223372036854775807 - 1) / -1 != age", true),
            ("height / 0 == inf", true), ("money / 0 == inf", true), ("money * 3 == 0.3", true),
            ("age + anything == NULL", true), ("10 / 4 == age", false),
        ]
    )
    func arithmetic(_ text: String, _ isMatch: Bool) throws {
        let object = SampleObject([
            "age": .scalar(.int(7)), "height": .scalar(.double(DoubleBits(2))),
            "money": .scalar(.decimal(decimal(1, exponent: -1))),
            "anything": .scalar(.string("x")),
        ])
        #expect(try SampleQuery.matches(text, object) == isMatch)
    }

    @Test(
        "ANY, ALL and NONE over a list, ANY by default",
        arguments: [
            ("scores == 1", true, false), ("ANY scores > 2", true, false),
            ("ALL scores > 0", true, true), ("ALL scores > 1", false, true),
            ("NONE scores > 2", false, true), ("NONE scores > 9", true, true),
            ("2 IN scores", true, false), ("scores.@count == 3", true, false),
            ("scores == {1, 2, 3}", true, false), ("scores == {3, 2, 1}", false, false),
            ("scores == {}", false, true), ("scores != {}", true, true),
            ("ANY scores == {9, 3}", true, false), ("ALL scores BETWEEN {1, 3}", true, true),
            ("scores == NULL", false, false), ("ANY scores != 1", true, false),
            ("scores + 1 == 4", true, false), ("age == ALL scores", false, true),
        ]
    )
    func collections(_ text: String, _ isMatch: Bool, _ isMatchIfEmpty: Bool) throws {
        let full = SampleObject(["scores": .list([1, 2, 3].map { .scalar(.int($0)) })])
        #expect(try SampleQuery.matches(text, full) == isMatch)
        #expect(try SampleQuery.matches(text, SampleObject()) == isMatchIfEmpty)
    }

    @Test(
        "AND, OR and NOT follow two-valued logic at any nesting",
        arguments: ["TRUEPREDICATE", "FALSEPREDICATE"],
        ["TRUEPREDICATE", "FALSEPREDICATE"]
    )
    func logic(_ first: String, _ second: String) throws {
        let (a, b) = (first == "TRUEPREDICATE", second == "TRUEPREDICATE")
        for (text, expected) in [
            ("\(first) and \(second)", a && b), ("\(first) or \(second)", a || b),
            ("!\(first) and \(second)", !a && b), ("!(\(first) or \(second))", !(a || b)),
            ("!(\(first) and !\(second)) or \(first)", !(a && !b) || a),
            ("\(first) and \(second) or !\(first) and !\(second)", a == b),
            ("(\(first) or \(second)) and !(\(first) and \(second))", a != b),
        ] {
            #expect(try SampleQuery.matches(text, SampleObject()) == expected, "\(text)")
        }
    }

    @Test("Dates compare by seconds, then nanoseconds")
    func dates() throws {
        let object = SampleObject(
            "born",
            .timestamp(try #require(Timestamp(seconds: -1, nanoseconds: -5)))
        )
        #expect(try SampleQuery.matches("born == T-1:-5", object))
        #expect(try SampleQuery.matches("born < 1969-12-31@23:59:59", object))
        #expect(try SampleQuery.matches("born > T-1:-6", object))
    }

    private func decimal(_ coefficient: UInt64, exponent: Int32) -> Decimal128 {
        Decimal128(
            coefficientHigh: 0,
            coefficientLow: coefficient,
            exponent: exponent,
            isNegative: false
        ) ?? .zero
    }
}
