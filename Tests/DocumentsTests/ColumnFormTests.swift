import Changesets
import Documents
import Schemas
import Testing

@Suite("Values in columns")
struct ColumnFormTests {
    private static let objectID = ObjectID("5f63e882536de46d71877979") ?? .zero
    private static let uuid = UniqueID("3b241101-e2bb-4255-8caf-4136c566a962") ?? .zero

    private static let values: [(Scalar, ScalarType, ColumnValue)] = [
        (.int(.min), .int, .integer(.min)),
        (.bool(true), .bool, .integer(1)),
        (.bool(false), .bool, .integer(0)),
        (.string(""), .string, .text("")),
        (.string(Text(bytes: [0, 0xff, 0x41])), .string, .text([0, 0xff, 0x41])),
        (.binary([]), .binary, .blob([])),
        (.binary([0, 1]), .binary, .blob([0, 1])),
        (.timestamp(.epoch), .timestamp, .text("1970-01-01T00:00:00.000000000Z")),
        (.double(DoubleBits(-0.1)), .double, .real(-0.1)),
        (.double(DoubleBits(.infinity)), .double, .real(.infinity)),
        (.double(DoubleBits(bitPattern: 0x7ff8_0000_0000_0000)), .double, .text("NaN")),
        (
            .double(DoubleBits(bitPattern: 0xfff0_0000_0000_0001)), .double,
            .text("NaN:fff0000000000001")
        ),
        (.float(FloatBits(0.1)), .float, .real(0.100_000_001_490_116_12)),
        (.float(FloatBits(bitPattern: 0x7fc0_0000)), .float, .text("NaN")),
        (.float(FloatBits(bitPattern: 0x7f80_0001)), .float, .text("NaN:7f800001")),
        (.decimal(.zero), .decimal, .text("0")),
        (.objectID(objectID), .objectID, .text("5f63e882536de46d71877979")),
        (.uuid(uuid), .uuid, .text("3b241101-e2bb-4255-8caf-4136c566a962")),
    ]

    @Test("Every type has one written form, which reads back", arguments: values)
    func roundTrip(scalar: Scalar, type: ScalarType, column: ColumnValue) throws {
        #expect(ColumnForm.encode(scalar) == column)
        #expect(try ColumnForm.decode(column, as: type) == scalar)
    }

    @Test("The sign of zero survives")
    func negativeZero() throws {
        guard case .real(let stored) = ColumnForm.encode(.double(DoubleBits(-0.0))) else {
            Issue.record("a double is stored as real")
            return
        }
        #expect(stored.sign == .minus)
        #expect(try ColumnForm.decode(.real(-0.0), as: .double) == .double(DoubleBits(-0.0)))
        #expect(try ColumnForm.decode(.real(-0.0), as: .float) == .float(FloatBits(-0.0)))
    }

    @Test("An integer in a floating point column is the nearest number; a float is rounded")
    func numbersWrittenByApplications() throws {
        let large: Int64 = 9_007_199_254_740_993
        #expect(
            try ColumnForm.decode(.integer(large), as: .double)
                == .double(DoubleBits(9_007_199_254_740_992))
        )
        #expect(try ColumnForm.decode(.real(0.1), as: .float) == .float(FloatBits(0.1)))
        #expect(try ColumnForm.decode(.integer(3), as: .float) == .float(FloatBits(3)))
    }

    @Test("Upper-case digits are read in ordinary columns")
    func upperCase() throws {
        #expect(
            try ColumnForm.decode(.text("5F63E882536DE46D71877979"), as: .objectID)
                == .objectID(Self.objectID)
        )
        #expect(
            try ColumnForm.decode(.text("3B241101-E2BB-4255-8CAF-4136C566A962"), as: .uuid)
                == .uuid(Self.uuid)
        )
    }

    @Test(
        "A value in another form is refused, and the reason names the form",
        arguments: [
            (.text("5"), .int, "must be an integer"),
            (.real(5), .int, "must be an integer"),
            (.integer(2), .bool, "must be 0 or 1"),
            (.blob([65]), .string, "must be text"),
            (.text("x"), .binary, "must be a blob"),
            (.integer(0), .timestamp, "must be a timestamp such as 2026-03-04T05:06:07Z"),
            (.text("tomorrow"), .timestamp, "must be a timestamp such as 2026-03-04T05:06:07Z"),
            (.text("1.5"), .double, "must be a number, or the text NaN"),
            (.text("NaN:7ff0000000000000"), .double, "must be a number, or the text NaN"),
            (.text("NaN:7fc00000"), .double, "must be a number, or the text NaN"),
            (.text("NaN:7f800000"), .float, "must be a number, or the text NaN"),
            (.real(1.5), .decimal, "must be a decimal number as text, such as '12.50'"),
            (.text("xyz"), .objectID, "must be 24 lower-case hexadecimal digits"),
            (
                .text("3b241101e2bb42558caf4136c566a962"), .uuid,
                "must be a UUID in lower case, such as '3b241101-e2bb-4255-8caf-4136c566a962'"
            ),
        ] as [(ColumnValue, ScalarType, String)]
    )
    func refusals(column: ColumnValue, type: ScalarType, reason: String) {
        let error = #expect(throws: FormError.self) { try ColumnForm.decode(column, as: type) }
        #expect(error?.description == reason)
    }

    @Test("NULL is a value of nullable properties only")
    func null() throws {
        for type in ScalarType.allCases {
            #expect(try ColumnForm.decode(.null, as: type, isNullable: true) == .null)
            #expect(throws: FormError(.null)) {
                try ColumnForm.decode(.null, as: type, isNullable: false)
            }
        }
    }

    @Test("A string or binary beyond the limits of the format is refused")
    func sizeLimits() throws {
        let string = [UInt8](repeating: 65, count: FormatLimits.stringSizeInBytes)
        _ = try ColumnForm.decode(.text(string), as: .string)
        #expect(throws: FormError(.stringTooLong(sizeInBytes: string.count + 1))) {
            try ColumnForm.decode(.text(string + [65]), as: .string)
        }
        let binary = [UInt8](repeating: 65, count: FormatLimits.binarySizeInBytes)
        _ = try ColumnForm.decode(.blob(binary), as: .binary)
        #expect(throws: FormError(.binaryTooLong(sizeInBytes: binary.count + 1))) {
            try ColumnForm.decode(.blob(binary + [65]), as: .binary)
        }
    }
}

@Suite("Keys and links in columns")
struct KeyColumnFormTests {
    private static let objectID = ObjectID("5f63e882536de46d71877979") ?? .zero
    private static let uuid = UniqueID("3b241101-e2bb-4255-8caf-4136c566a962") ?? .zero

    private static let keys: [(ObjectKey, PrimaryKeyType, ColumnValue)] = [
        (.int(-5), .int, .integer(-5)),
        (.string(""), .string, .text("")),
        (.string("x"), .string, .text("x")),
        (.objectID(objectID), .objectID, .text("5f63e882536de46d71877979")),
        (.uuid(uuid), .uuid, .text("3b241101-e2bb-4255-8caf-4136c566a962")),
        (.globalKey(GlobalKey(high: 2, low: .max)), .globalKey, .text("2:18446744073709551615")),
    ]

    @Test("Every type of key reads back, as key and as link", arguments: keys)
    func roundTrip(key: ObjectKey, type: PrimaryKeyType, column: ColumnValue) throws {
        let schema = PrimaryKeySchema(name: "_id", type: type, isNullable: true)
        #expect(ColumnForm.encodeKey(key) == column)
        #expect(try ColumnForm.decodeKey(column, as: schema) == key)

        let link = ObjectReference(className: "Dog", key: key)
        #expect(ColumnForm.encode(.link(link)) == column)
        let target = LinkTarget(className: "Dog", key: schema)
        #expect(try ColumnForm.decodeLink(column, to: target) == link)
    }

    @Test("The null key is NULL in its row, and the empty blob in a link")
    func nullKey() throws {
        let nullable = PrimaryKeySchema(name: "_id", type: .string, isNullable: true)
        #expect(ColumnForm.encodeKey(.null) == .null)
        #expect(try ColumnForm.decodeKey(.null, as: nullable) == .null)

        let target = LinkTarget(className: "Dog", key: nullable)
        let link = ObjectReference(className: "Dog", key: .null)
        #expect(ColumnForm.encode(.link(link)) == .blob([]))
        #expect(try ColumnForm.decodeLink(.blob([]), to: target) == link)
        #expect(try ColumnForm.decodeLink(.null, to: target) == nil)
    }

    @Test("A key that cannot be null is never read as the null key")
    func requiredKey() throws {
        let required = PrimaryKeySchema(name: "_id", type: .string, isNullable: false)
        #expect(throws: FormError(.null)) { try ColumnForm.decodeKey(.null, as: required) }
        let target = LinkTarget(className: "Dog", key: required)
        #expect(try ColumnForm.decodeLink(.null, to: target) == nil)
        #expect(throws: FormError(.expected(.text))) {
            try ColumnForm.decodeLink(.blob([]), to: target)
        }
    }

    @Test(
        "A row is found by the text of its key, so another spelling is refused",
        arguments: [
            (.text("5F63E882536DE46D71877979"), .objectID),
            (.text("3B241101-E2BB-4255-8CAF-4136C566A962"), .uuid),
            (.text("02:1"), .globalKey), (.text("2"), .globalKey), (.text("2:1:1"), .globalKey),
            (.text("-1:0"), .globalKey), (.text("1"), .int), (.integer(1), .string),
        ] as [(ColumnValue, PrimaryKeyType)]
    )
    func otherSpellings(column: ColumnValue, type: PrimaryKeyType) {
        let schema = PrimaryKeySchema(name: "_id", type: type, isNullable: true)
        #expect(throws: FormError.self) { try ColumnForm.decodeKey(column, as: schema) }
    }
}
