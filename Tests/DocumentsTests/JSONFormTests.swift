import Changesets
import Documents
import Schemas
import TestSupport
import Testing

@Suite("Values as JSON")
struct JSONFormTests {
    private static let form = JSONForm(schema: SampleSchema.everything)
    private static let objectID = ObjectID("5f63e882536de46d71877979") ?? .zero
    private static let uuid = UniqueID("3b241101-e2bb-4255-8caf-4136c566a962") ?? .zero

    private static func property(_ name: Text) throws -> PropertySchema {
        try #require(SampleSchema.everything["Everything"]?.property(named: name))
    }

    private func encode(_ value: Value, _ name: Text) throws -> String {
        String(decoding: Self.form.encode(value, of: try Self.property(name)), as: UTF8.self)
    }

    private func decode(_ json: String, _ name: Text) throws -> Value {
        try Self.form.decode(Array(json.utf8), of: try Self.property(name))
    }

    private func refusal(_ json: String, _ name: Text) throws -> String? {
        #expect(throws: FormError.self, "\(json)") { try decode(json, name) }?.description
    }

    // MARK: Typed properties

    private static let typed: [(Text, Scalar, String)] = [
        ("int", .int(9_007_199_254_740_993), "9007199254740993"),
        ("int", .int(.min), "-9223372036854775808"),
        ("bool", .bool(true), "true"),
        ("string", .string("a\"\\\n\u{1}ü/"), #""a\"\\\n\u0001ü/""#),
        ("string", .string("a\0b"), #"{"$string":{"base64":"YQBi"}}"#),
        ("string", .string(Text(bytes: [0xff])), #"{"$string":{"base64":"/w=="}}"#),
        ("binary", .binary([1, 2]), #""AQI=""#),
        ("timestamp", .timestamp(.epoch), #""1970-01-01T00:00:00.000000000Z""#),
        ("double", .double(DoubleBits(1.5)), "1.5"),
        ("double", .double(DoubleBits(1)), "1.0"),
        ("double", .double(DoubleBits(1e16)), "1e+16"),
        ("double", .double(DoubleBits(-0.0)), #"{"$numberDouble":"-0.0"}"#),
        ("double", .double(DoubleBits(.infinity)), #"{"$numberDouble":"Infinity"}"#),
        ("double", .double(DoubleBits(-.infinity)), #"{"$numberDouble":"-Infinity"}"#),
        ("double", .double(DoubleBits(.nan)), #"{"$numberDouble":"NaN"}"#),
        (
            "double", .double(DoubleBits(bitPattern: 0xfff8_0000_0000_0000)),
            #"{"$numberDouble":"NaN:fff8000000000000"}"#
        ),
        ("float", .float(FloatBits(0.1)), "0.1"),
        ("float", .float(FloatBits(-0.0)), #"{"$numberFloat":"-0.0"}"#),
        (
            "float", .float(FloatBits(bitPattern: 0x7f80_0001)),
            #"{"$numberFloat":"NaN:7f800001"}"#
        ),
        ("decimal", .decimal(Decimal128(high: 0x303c_0000_0000_0000, low: 100)), #""1.00""#),
        ("objectID", .objectID(objectID), #""5f63e882536de46d71877979""#),
        ("uuid", .uuid(uuid), #""3b241101-e2bb-4255-8caf-4136c566a962""#),
        ("target", .link(.init(className: "Target", key: .string("x"))), #""x""#),
        (
            "target", .link(.init(className: "Target", key: .null)),
            #"{"$link":{"class":"Target","key":null}}"#
        ),
        (
            "other", .link(.init(className: "Other", key: .uuid(uuid))),
            #""3b241101-e2bb-4255-8caf-4136c566a962""#
        ),
        ("intOptional", .null, "null"),
        ("target", .null, "null"),
    ]

    @Test("Typed values have one written form, which reads back", arguments: typed)
    func typedRoundTrip(name: Text, scalar: Scalar, json: String) throws {
        #expect(try encode(.scalar(scalar), name) == json)
        #expect(try decode(json, name) == .scalar(scalar))
    }

    @Test(
        "Other spellings of typed values are read",
        arguments: [
            ("string", #""\u0061\u0000""#, .string("a\0")),
            ("double", "1", .double(DoubleBits(1))),
            ("double", "10e-1", .double(DoubleBits(1))),
            ("double", #"{"$numberDouble":"1.0"}"#, .double(DoubleBits(1))),
            ("float", "3", .float(FloatBits(3))),
            ("timestamp", #""2026-03-04""#, .timestamp(sample)),
            ("objectID", #""5F63E882536DE46D71877979""#, .objectID(objectID)),
            (
                "target", #"{"$link":{"key":"x","class":"Target"}}"#,
                .link(.init(className: "Target", key: .string("x")))
            ),
            (
                "target", #"{"$string":{"base64":"AA=="}}"#,
                .link(.init(className: "Target", key: .string("\0")))
            ),
        ] as [(Text, String, Scalar)]
    )
    func typedSpellings(name: Text, json: String, scalar: Scalar) throws {
        #expect(try decode(json, name) == .scalar(scalar))
    }

    private static let sample = Timestamp(seconds: 1_772_582_400, nanoseconds: 0) ?? .epoch

    @Test(
        "A typed value of another type is refused",
        arguments: [
            ("int", "1.0", "must be an integer"), ("int", "1e2", "must be an integer"),
            ("int", "9223372036854775808", "must be an integer"),
            ("int", #""5""#, "must be an integer"), ("int", "null", "must not be null"),
            ("bool", "1", "must be true or false"), ("string", "5", "must be text"),
            ("string", #"{"$oid":"5f63e882536de46d71877979"}"#, "must be text"),
            ("string", #"{"string":{"base64":""}}"#, "must not use string, which is not known"),
            ("binary", #""A""#, "must be base64 text"),
            (
                "timestamp", #""tomorrow""#,
                "must be a timestamp such as 2026-03-04T05:06:07Z"
            ),
            (
                "double", #""1.5""#,
                #"must be a number, or one by name such as {"$numberDouble":"NaN"}"#
            ),
            (
                "double", "1e999",
                #"must be a number, or one by name such as {"$numberDouble":"NaN"}"#
            ),
            (
                "double", #"{"$numberDouble":"nan"}"#,
                #"must be a number, or one by name such as {"$numberDouble":"NaN"}"#
            ),
            (
                "double", #"{"$numberFloat":"1.5"}"#,
                #"must be a number, or one by name such as {"$numberDouble":"NaN"}"#
            ),
            ("decimal", "1.5", "must be a decimal number as text, such as '12.50'"),
            ("target", "5", "must be text"),
            (
                "target", #"{"$link":{"class":"Other","key":null}}"#,
                "must be the primary key of an object of Target"
            ),
            ("other", #"{"$link":{"class":"Other","key":null}}"#, "must not be null"),
            ("part", "[]", "must be a JSON object"),
            (
                "part", #"{"unknown":1}"#,
                "must not have a member unknown: the class has no such property"
            ),
            ("part", #"{"count":"x"}"#, "count must be an integer"),
            (
                "part", #"{"parts":[{},{"part":{"tags":["a",2]}}]}"#,
                "parts[1].part.tags[1] must be text"
            ),
            ("partList", "[{},null]", "[1] must not be null"),
            ("intList", "{}", "must be a JSON array"),
            ("intDictionary", "[]", "must be a JSON object"),
            ("intDictionary", #"{"a.b":1}"#, "must not have the key a.b"),
            ("intDictionary", #"{"$a":1}"#, "must not have the key $a"),
            ("targetList", "[null]", "[0] must not be null"),
            ("int", "1x", "is not JSON at byte 1: the value has ended before"),
        ] as [(Text, String, String)]
    )
    func typedRefusals(name: Text, json: String, reason: String) throws {
        #expect(try refusal(json, name) == reason)
    }

    // MARK: Mixed

    private static let mixed: [(Scalar, String)] = [
        (.null, "null"), (.int(5), "5"), (.bool(false), "false"), (.string("note"), #""note""#),
        (.string("\0"), #"{"$string":{"base64":"AA=="}}"#),
        (.double(DoubleBits(1.5)), "1.5"), (.double(DoubleBits(-0.1)), "-0.1"),
        (.double(DoubleBits(1)), #"{"$numberDouble":"1.0"}"#),
        (.double(DoubleBits(0)), #"{"$numberDouble":"0.0"}"#),
        (.double(DoubleBits(1e2)), #"{"$numberDouble":"100.0"}"#),
        (.double(DoubleBits(1e-7)), #"{"$numberDouble":"1e-07"}"#),
        (.double(DoubleBits(1e300)), #"{"$numberDouble":"1e+300"}"#),
        (.double(DoubleBits(-0.0)), #"{"$numberDouble":"-0.0"}"#),
        (.double(DoubleBits(.nan)), #"{"$numberDouble":"NaN"}"#),
        (.float(FloatBits(1.5)), #"{"$numberFloat":"1.5"}"#),
        (.float(FloatBits(-.infinity)), #"{"$numberFloat":"-Infinity"}"#),
        (.binary([1, 2]), #"{"$binary":{"base64":"AQI=","subType":"00"}}"#),
        (.timestamp(.epoch), #"{"$date":"1970-01-01T00:00:00.000000000Z"}"#),
        (.decimal(.zero), #"{"$numberDecimal":"0"}"#),
        (.objectID(objectID), #"{"$oid":"5f63e882536de46d71877979"}"#),
        (.uuid(uuid), #"{"$uuid":"3b241101-e2bb-4255-8caf-4136c566a962"}"#),
        (
            .link(.init(className: "Target", key: .string("x"))),
            #"{"$link":{"class":"Target","key":"x"}}"#
        ),
        (
            .link(.init(className: "Keyless", key: .globalKey(.init(high: 2, low: 0)))),
            #"{"$link":{"class":"Keyless","key":"2:0"}}"#
        ),
    ]

    @Test("Mixed values have one written form, which reads back", arguments: mixed)
    func mixedRoundTrip(scalar: Scalar, json: String) throws {
        #expect(try encode(.scalar(scalar), "any") == json)
        #expect(try decode(json, "any") == .scalar(scalar))
    }

    @Test(
        "Other spellings of Mixed values are read",
        arguments: [
            (#"{"$numberInt":"5"}"#, .int(5)), (#"{"$numberLong":"-5"}"#, .int(-5)),
            (#"{"$numberLong":5}"#, .int(5)), ("1.0", .double(DoubleBits(1))),
            ("1e2", .double(DoubleBits(100))), ("-0", .int(0)), ("-0.0", .double(DoubleBits(-0.0))),
            (#"{"$numberDouble":"1e2"}"#, .double(DoubleBits(100))),
            (#"{"$numberDouble":"Infinity"}"#, .double(DoubleBits(.infinity))),
            (#"{"$date":{"$numberLong":"1772582400000"}}"#, .timestamp(sample)),
            (#"{"$date":{"$numberLong":"-1"}}"#, .timestamp(beforeEpoch)),
            (#"{"$binary":{"subType":"04","base64":"OyQRAeK7QlWMr0E2xWapYg=="}}"#, .uuid(uuid)),
            (#"{"$binary":{"base64":""}}"#, .binary([])),
            (#" { "$oid" : "5f63e882536de46d71877979" } "#, .objectID(objectID)),
            (#"{"$numberInt":"5","$numberInt":"6"}"#, .int(6)),
        ] as [(String, Scalar)]
    )
    func mixedSpellings(json: String, scalar: Scalar) throws {
        #expect(try decode(json, "any") == .scalar(scalar))
    }

    private static let beforeEpoch = Timestamp(seconds: 0, nanoseconds: -1_000_000) ?? .epoch

    @Test(
        "Invalid Extended JSON is refused",
        arguments: [
            ("note", "is not JSON at byte 0: this is not allowed here"),
            (#"{"$foo":1}"#, "must not use $foo, which is not known"),
            (#"{"$oid":"5f63e882536de46d71877979","a":1}"#, "must not have the key a"),
            (#"{"a":1,"$oid":"5f63e882536de46d71877979"}"#, "must not have the key $oid"),
            (#"{"a.b":1}"#, "must not have the key a.b"),
            ("9223372036854775808", "must be an integer"),
            (#"["\ud83d"]"#, "[0] is not JSON at byte 2: half of a surrogate pair"),
            (
                #"{"$link":{"class":"Missing","key":1}}"#,
                "must not refer to class Missing, which has no objects of its own here"
            ),
            (
                #"{"$link":{"class":"Part","key":1}}"#,
                "must not refer to class Part, which has no objects of its own here"
            ),
            (
                #"{"$link":{"class":"Other","key":1}}"#,
                "must be a UUID in lower case, such as '3b241101-e2bb-4255-8caf-4136c566a962'"
            ),
            (
                #"{"$link":{"class":"Target"}}"#,
                #"must be a link such as {"class":"Person","key":1}"#
            ),
            (
                #"{"$binary":{"base64":"AQI=","subType":"04"}}"#,
                "must be a UUID in lower case, such as '3b241101-e2bb-4255-8caf-4136c566a962'"
            ),
            (
                #"{"$binary":{"base64":"AQI=","subType":"05"}}"#,
                #"must be of subType "00", or "04" for a UUID"#
            ),
            (
                #"[1,{"k":[{"$date":"x"}]}]"#,
                "[1].k[0] must be a timestamp such as 2026-03-04T05:06:07Z"
            ),
        ]
    )
    func mixedRefusals(json: String, reason: String) throws {
        #expect(try refusal(json, "any") == reason)
    }

    @Test("Collections nest to 100 levels, the property's own included")
    func nesting() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        for (name, limit) in [("any", 100), ("anyList", 100)] as [(Text, Int)] {
            let value = try decode(nested(limit), name)
            #expect(try encode(value, name) == nested(limit))
            #expect(try refusal(nested(limit + 1), name)?.hasSuffix("100 levels deep") == true)
        }
        let dictionaries =
            String(repeating: #"{"k":"#, count: 100) + "{}" + String(repeating: "}", count: 100)
        #expect(try refusal(dictionaries, "any")?.hasSuffix("100 levels deep") == true)
    }

    // MARK: Collections

    @Test("Dictionaries are written by key, sets in reading order, objects in schema order")
    func order() throws {
        #expect(
            try encode(
                .dictionary(["b": .scalar(.int(1)), "": .scalar(.int(2)), "a": .null]),
                "intOptionalDictionary"
            )
                == #"{"":2,"a":null,"b":1}"#
        )
        let set = ValueSet([.string("b"), .int(2), .null, .string("a"), .int(1)])
        #expect(try encode(.set(set), "anySet") == #"[null,1,2,"a","b"]"#)
        let part = try #require(SampleSchema.everything["Part"])
        #expect(
            try encode(.object(Document(defaultsOf: part)), "part")
                == #"{"count":0,"note":null,"any":null,"target":null,"part":null,"tags":[],"parts":[]}"#
        )
    }

    @Test("Members may come in any order and be missing; equal set elements are one")
    func tolerance() throws {
        #expect(try decode("[3,1,3,2,1]", "intSet") == .set(ValueSet([.int(1), .int(2), .int(3)])))
        #expect(
            try decode(#"{"a":1,"a":2}"#, "intDictionary") == .dictionary(["a": .scalar(.int(2))])
        )
        let part = try #require(SampleSchema.everything["Part"])
        #expect(try decode("{}", "part") == .object(Document(defaultsOf: part)))
        var document = Document(defaultsOf: part)
        document.values[0] = .scalar(.int(7))
        #expect(try decode(#"{"tags":null,"note":null,"count":7}"#, "part") == .object(document))
        #expect(try decode("null", "intList") == .list([]))
    }

    @Test("Keys that are not portable are written as base64 behind a prefix no key can have")
    func dictionaryKeys() throws {
        let value = Value.dictionary([
            "a\0": .scalar(.int(1)), Text(bytes: [0xff]): .scalar(.int(2)),
        ])
        #expect(
            try encode(value, "intDictionary") == #"{"$string:YQA=":1,"$string:/w==":2}"#
        )
        for name in ["intDictionary", "any"] as [Text] {
            #expect(try decode(#"{"$string:YQA=":1,"$string:/w==":2}"#, name) == value)
        }
        #expect(try refusal(#"{"$string:YS5i":1}"#, "any") == "must not have the key a.b")
    }

    // MARK: Documents

    @Test("A document carries its key first, and reads back without it")
    func document() throws {
        let target = try #require(SampleSchema.everything["Target"])
        let document = Document(values: [.scalar(.string("Kim"))])
        let json = Self.form.encode(document, key: .string("k"), of: target)
        #expect(String(decoding: json, as: UTF8.self) == #"{"_id":"k","name":"Kim"}"#)
        #expect(try Self.form.decodeDocument(json, of: target) == document)
        let null = Self.form.encode(document, key: .null, of: target)
        #expect(String(decoding: null, as: UTF8.self) == #"{"_id":null,"name":"Kim"}"#)
        let keyless = try #require(SampleSchema.everything["Keyless"])
        let empty = Self.form.encode(
            Document(values: []),
            key: .globalKey(.init(high: 1, low: 2)),
            of: keyless
        )
        #expect(String(decoding: empty, as: UTF8.self) == "{}")
    }

    @Test("Random documents survive JSON, and JSON with its members in another order")
    func randomDocuments() throws {
        let owner = try #require(SampleSchema.everything["Everything"])
        let values = RandomValues(schema: SampleSchema.everything)
        for seed in UInt64(0)..<60 {
            var random = SplitMix64(seed: seed)
            let document = values.document(of: owner, using: &random)
            let json = Self.form.encode(document, key: .int(1), of: owner)
            let decoded = try Self.form.decodeDocument(json, of: owner)
            #expect(decoded == document, "seed \(seed)")
            #expect(Self.form.encode(decoded, key: .int(1), of: owner) == json, "seed \(seed)")
            let shuffled = try JSONNode(parsing: json).json
            #expect(
                try Self.form.decodeDocument(shuffled, of: owner) == document,
                "seed \(seed)"
            )
        }
    }

    @Test("Random values survive their columns")
    func randomColumns() throws {
        let schema = SampleSchema.everything
        let owner = try #require(schema["Everything"])
        let values = RandomValues(schema: schema)
        for seed in UInt64(0)..<60 {
            var random = SplitMix64(seed: seed)
            for property in owner.properties {
                let value = values.value(of: property, using: &random)
                let column = ColumnForm.encode(value, of: property, in: schema)
                #expect(
                    try ColumnForm.decode(column, of: property, in: schema) == value,
                    "seed \(seed), \(property.name)"
                )
            }
        }
    }

    @Test("Null columns are null, or an empty collection")
    func nullColumns() throws {
        let schema = SampleSchema.everything
        for property in try #require(schema["Everything"]).properties {
            guard property.collection != .single || property.acceptsNull else {
                #expect(throws: FormError(.null)) {
                    try ColumnForm.decode(.null, of: property, in: schema)
                }
                continue
            }
            #expect(
                try ColumnForm.decode(.null, of: property, in: schema) == property.defaultValue
            )
        }
        let any = try Self.property("any")
        #expect(ColumnForm.encode(.null, of: any, in: schema) == .null)
        #expect(try ColumnForm.decode(.text("null"), of: any, in: schema) == .null)
        let error = #expect(throws: FormError.self) {
            try ColumnForm.decode(.integer(5), of: any, in: schema)
        }
        #expect(error?.description == "must be Extended JSON as text")
    }
}

extension JSONNode {
    /// JSON text with its members in random order.
    fileprivate var json: [UInt8] {
        switch self {
        case .null: Array("null".utf8)
        case .bool(let value): Array("\(value)".utf8)
        case .number(let text): Array(text.utf8)
        case .string(let text): Self.quoted(text)
        case .array(let elements):
            Array("[ ".utf8) + Array(elements.map(\.json).joined(separator: Array(" , ".utf8)))
                + Array("]".utf8)
        case .object(let members):
            Array("{".utf8)
                + Array(
                    members.map { Self.quoted($0.key) + Array(" : ".utf8) + $0.value.json }
                        .joined(separator: Array("\n,".utf8))
                ) + Array(" }".utf8)
        }
    }

    /// Escapes everything that can be escaped.
    private static func quoted(_ text: Text) -> [UInt8] {
        let escaped = (text.string ?? "").utf16.map { unit in
            let digits = String(unit, radix: 16)
            return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }
        return Array("\"\(escaped.joined())\"".utf8)
    }
}
