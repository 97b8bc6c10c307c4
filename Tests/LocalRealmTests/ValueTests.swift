import Changesets
import Documents
import LocalRealm
import SQLite
import Schemas
import TestSupport
import Testing
import Versions

@Suite("Values of every type, through the tables")
struct ValueTests {
    static let values: [Text: [Scalar]] = [
        "int": [.int(.min), .int(-1), .int(1), .int(1 << 53 + 1), .int(.max)],
        "bool": [.bool(true)],
        "string": [
            .string("zürich"), .string("it's"), .string("a\u{0}b"), .string("e\u{301}"),
            .string(Text(bytes: [0xff, 0xfe, 0x41])), .string(" "),
        ],
        "binary": [.binary([0]), .binary([0, 255, 39])],
        "timestamp": [
            (0, 1), (0, -1), (-62_167_219_200, 0), (-62_167_219_201, 0),
            (253_402_300_799, 999_999_999), (253_402_300_800, 0), (.max, 999_999_999), (.min, -1),
        ].compactMap { Timestamp(seconds: $0.0, nanoseconds: $0.1).map(Scalar.timestamp) },
        "float": [
            .float(FloatBits(-0.0)), .float(FloatBits(0.1)), .float(FloatBits(.infinity)),
            .float(FloatBits(.leastNonzeroMagnitude)), .float(FloatBits(bitPattern: 0x7fc0_0000)),
            .float(FloatBits(bitPattern: 0xffc0_0123)),
        ],
        "double": [
            .double(DoubleBits(-0.0)), .double(DoubleBits(0.1)), .double(DoubleBits(1e300)),
            .double(DoubleBits(-.infinity)), .double(DoubleBits(.leastNonzeroMagnitude)),
            .double(DoubleBits(bitPattern: 0x7ff8_0000_0000_0000)),
            .double(DoubleBits(bitPattern: 0xfff0_0000_0000_0001)),
            .double(DoubleBits(9_007_199_254_740_994)),
        ],
        "decimal": [
            (0x3040_0000_0000_0000, 1), (0x303e_0000_0000_0000, 10), (0xb040_0000_0000_0000, 0),
            (0x5ffe_314d_c644_8d93, 0x38c1_5b09_ffff_ffff), (0x7800_0000_0000_0000, 0),
            (0xfc00_0000_0000_0000, 0), (0x7c00_0000_0000_0000, 5), (0x3040_0000_0000_0000, 0),
            (0x0000_0000_0000_0000, 1), (0x3041_ffff_ffff_ffff, 0xffff_ffff_ffff_ffff),
        ].map { .decimal(Decimal128(high: $0.0, low: $0.1)) },
        "objectId": ObjectID("5f63e882536d46e471877900").map { [.objectID($0)] } ?? [],
        "uuid": UniqueID("3b241101-e2bb-4255-8caf-4136c566a962").map { [.uuid($0)] } ?? [],
    ]

    static let keys: [Text: [ObjectKey]] = [
        "Int": [.int(0), .int(.min), .int(.max)],
        "String": [.string(""), .string("a\u{0}b"), .string("Ä"), .string("x''")],
        "ObjectId": ObjectID("5f63e882536d46e471877900").map { [.objectID($0)] } ?? [],
        "Uuid": UniqueID("3b241101-e2bb-4255-8caf-4136c566a962").map { [.uuid($0)] } ?? [],
    ]

    /// A class of every kind of key, with the keys to test.
    static var classes: [(Text, [ObjectKey])] {
        keys.flatMap { name, keys in [(name, keys), (Text("Maybe\(name)"), keys + [.null])] }
            .sorted { $0.0 < $1.0 }
    }

    @Test(
        "Every downloaded value and key is stored, read by the tool, and uploaded bit for bit"
    )
    func roundTrip() throws {
        let source = try RealmFixture(.everything)
        _ = try source.realm.drain()
        var expected = InMemoryRealm(schema: .everything)
        var writer = ChangesetWriter()
        for (className, keys) in Self.classes {
            for (number, key) in keys.enumerated() {
                let object = ObjectReference(className: className, key: key)
                writer.createObject(object)
                for (property, values) in Self.values.sorted(by: { $0.key < $1.key }) {
                    let value = values[number % values.count]
                    writer.update(object, property, to: .scalar(value))
                    writer.update(object, Text("\(property)OrNull"), to: .scalar(value))
                }
                for (target, targets) in Self.classes {
                    let link = ObjectReference(
                        className: target,
                        key: targets[number % targets.count]
                    )
                    writer.update(object, Text("to\(target)"), to: .scalar(.link(link)))
                }
            }
        }
        let changeset = try Changeset(decoding: writer.bytes)
        try expected.apply(changeset)
        try source.receive(changeset)
        let stored = try TableContents(.everything, source.connect())
        #expect(stored == TableContents(expected))

        // Data that SQL copies into another file is captured there.
        let copy = try RealmFixture(.everything)
        _ = try copy.realm.drain()
        let program = try copy.connect()
        try program.run("ATTACH ? AS source", [.text(source.path)])
        for owner in RealmSchema.everything.classes {
            try program.execute("INSERT INTO \(owner.name) SELECT * FROM source.\(owner.name)")
        }
        let report = try copy.realm.drain()
        #expect(report.rejected.isEmpty)
        var sent = InMemoryRealm()
        for entry in try copy.history() {
            try sent.apply(entry.changeset)
        }
        #expect(TableContents(sent) == TableContents(expected))
    }

    @Test("Every value of a type, one after the other", arguments: Array(values.keys).sorted())
    func updates(property: Text) throws {
        let fixture = try RealmFixture(.everything)
        let object = ObjectReference("Int", 1)
        try fixture.receive { $0.createObject(object) }
        let owner = try #require(RealmSchema.everything["Int"])
        var document = Document(defaultsOf: owner)
        for value in Self.values[property] ?? [] {
            for name in [property, Text("\(property)OrNull")] {
                let before = document.value(of: name, in: owner)
                try fixture.receive { $0.update(object, name, to: .scalar(value)) }
                let contents = try TableContents(.everything, fixture.connect())
                document = try #require(contents.objects["Int"]?[.int(1)])
                // Of two zeros the old one stays (instruction semantics, 3.16).
                let expected =
                    before?.isZero == true && Documents.Value.scalar(value).isZero
                    ? before : .scalar(value)
                #expect(document.value(of: name, in: owner) == expected)
            }
        }
        try fixture.receive { $0.update(object, Text("\(property)OrNull"), to: .scalar(.null)) }
        #expect(try fixture.rows("SELECT \"\(property)OrNull\" FROM Int") == ["null"])
    }

    @Test("The reference's null decimal is null, and refused for a required property")
    func referenceNull() throws {
        let fixture = try RealmFixture(.everything)
        let object = ObjectReference("Int", 1)
        try fixture.receive { $0.createObject(object) }
        try fixture.receive {
            $0.update(object, "decimalOrNull", to: .scalar(.decimal(.referenceNull)))
        }
        #expect(try fixture.rows("SELECT decimalOrNull FROM Int") == ["null"])
        #expect(throws: LocalRealmError.self) {
            try fixture.receive {
                $0.update(object, "decimal", to: .scalar(.decimal(.referenceNull)))
            }
        }
    }

    @Test("Created objects have the defaults of their types, not the declared ones")
    func defaults() throws {
        let options = PropertyOptions(defaultValue: .int(5))
        let fixture = try RealmFixture(
            .everything,
            options: [PropertyName(className: "Int", property: "int"): options]
        )
        try fixture.receive { $0.createObject(.init("Int", 1)) }
        let program = try fixture.connect()
        try program.execute("INSERT INTO Int(_id) VALUES (2)")
        let columns = "int, bool, string, binary, timestamp, float, double, decimal, objectId, uuid"
        let rest = """
            0||x|1970-01-01T00:00:00.000000000Z|0.0|0.0|0|000000000000000000000000|\
            00000000-0000-0000-0000-000000000000
            """
        #expect(
            try fixture.rows("SELECT \(columns) FROM Int ORDER BY _id") == [
                "0|\(rest)", "5|\(rest)",
            ]
        )
    }

    @Test(
        "A value that cannot be of the type is refused in the statement",
        arguments: [
            ("float", "'1.5'"), ("float", "x'00'"), ("double", "'nan'"), ("double", "'NaN:12'"),
            ("double", "'NaN:7ff800000000000g'"), ("decimal", "'twelve'"), ("decimal", "''"),
            ("decimal", "'#12'"), ("objectId", "'5F63E882536D46E471877900'"),
            ("objectId", "'5f63'"),
            ("uuid", "'3b241101e2bb42558caf4136c566a962'"),
            ("uuid", "'3B241101-E2BB-4255-8CAF-4136C566A962'"),
            ("uuid", "'3b241101-e2bb-4255-8caf-4136c566a96-'"), ("timestamp", "1772600767"),
            ("timestamp", "'05:06:07'"), ("timestamp", "'@1.2x'"), ("bool", "7"), ("bool", "'yes'"),
            ("toMaybeInt", "'5'"), ("toMaybeString", "5"), ("toMaybeString", "x'01'"),
            ("toUuid", "'x'"), ("toInt", "'x'"), ("int", "1.5"), ("string", "x'00'"),
        ]
    )
    func refusals(property: String, literal: String) throws {
        let fixture = try RealmFixture(.everything)
        let program = try fixture.connect()
        for name in property.hasPrefix("to") ? [property] : [property, "\(property)OrNull"] {
            let error = try #require(throws: SQLiteError.self) {
                try program.execute("INSERT INTO Int(_id, \"\(name)\") VALUES (1, \(literal))")
            }
            #expect(error.condition == .constraint)
            #expect(error.message.contains("Int.\(name)"), "\(error)")
        }
        #expect(try fixture.captured() == [])
    }

    @Test("Checks and defaults also work for programs that do not trust the schema")
    func untrustedSchema() async throws {
        let fixture = try RealmFixture(.everything)
        _ = try fixture.realm.drain()
        try await Tool.sqlite3(
            fixture.path,
            """
            PRAGMA trusted_schema = OFF;
            INSERT INTO ObjectId(timestamp) VALUES ('2026-03-04'); INSERT INTO Uuid DEFAULT VALUES;
            """
        )
        #expect(try fixture.drained().count == 3)
    }
}

extension Documents.Value {
    /// Of a floating point number.
    fileprivate var isZero: Bool {
        switch self {
        case .scalar(.float(let value)): value.value == 0
        case .scalar(.double(let value)): value.value == 0
        default: false
        }
    }
}
