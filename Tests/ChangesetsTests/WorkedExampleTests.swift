import Changesets
import Testing

/// The tables of the changesets spec, 6 and 6.1.
@Suite("Worked examples of the specification")
struct WorkedExampleTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let bytes: [UInt8]
        let instruction: Instruction

        init(_ name: String, _ hexadecimal: String, _ instruction: Instruction) {
            self.testDescription = name
            self.bytes = Hexadecimal.bytes(of: hexadecimal) ?? []
            self.instruction = instruction
        }
    }

    @Test("Every instruction decodes from its bytes, and encodes to them", arguments: rows)
    func row(row: Row) throws {
        let bytes = Self.prefix + row.bytes
        let changeset = try Changeset(decoding: bytes)
        #expect(changeset.instructions == [row.instruction])
        #expect(changeset.encoded() == bytes)
    }

    @Test("Every proper prefix of an example is refused, unless it ends between two records")
    func truncated() throws {
        for row in Self.rows {
            for length in 1..<row.bytes.count {
                let cut = Self.prefix + row.bytes[..<length]
                let error = #expect(throws: DecodeError.self, "\(row)") {
                    try Changeset(decoding: cut)
                }
                #expect((Self.prefix.count...cut.count).contains(error?.offset ?? -1))
            }
        }
    }

    /// 0 "Person", 1 "_id", 2 "Dog", 3 "name", 4 "age", 5 "dogs", 6 "k", 7 "Emb", 8 "fido", 9 "any".
    private static let prefix =
        Hexadecimal.bytes(
            of: "3f0006506572736f6e3f01035f69643f0203446f673f03046e616d653f0403616765"
                + "3f0504646f67733f06016b3f0703456d623f08046669646f3f0903616e79"
        ) ?? []

    private static let person = InternIndex(0)
    private static let dog = InternIndex(2)
    private static let name = InternIndex(3)
    private static let age = InternIndex(4)
    private static let dogs = InternIndex(5)
    private static let k = InternIndex(6)
    private static let emb = InternIndex(7)
    private static let fido = InternIndex(8)
    private static let any = InternIndex(9)
    private static let objectID = ObjectID("5f63e882536de46d71877979") ?? .zero
    private static let uuid = UniqueID("3b241101-e2bb-4255-8caf-4136c566a962") ?? .zero

    private static let rows: [Row] = [
        Row(
            "AddTable top-level, Int pk \"_id\", not nullable",
            "000000010100",
            .addTable(.init(className: person, kind: .topLevel(column(.int))))
        ),
        Row(
            "AddTable top-level, String pk, nullable",
            "000200010301",
            .addTable(.init(className: dog, kind: .topLevel(column(.string, isNullable: true))))
        ),
        Row("AddTable embedded", "000701", .addTable(.init(className: emb, kind: .embedded))),
        Row(
            "AddTable asymmetric, ObjectId pk",
            "000002010a00",
            .addTable(.init(className: person, kind: .asymmetric(column(.objectID))))
        ),
        Row(
            "AddTable UUID pk",
            "000000010b00",
            .addTable(.init(className: person, kind: .topLevel(column(.uuid))))
        ),
        Row(
            "AddTable without pk (GlobalKey)",
            "000000064000",
            .addTable(.init(className: person, kind: .topLevel(column(.globalKey, field: k))))
        ),
        Row("EraseTable", "0102", .eraseTable(className: dog)),
        Row(
            "AddColumn Int required",
            "060004010000",
            .addColumn(
                .init(
                    className: person,
                    field: age,
                    type: .int,
                    isNullable: false,
                    collection: .single
                )
            )
        ),
        Row(
            "AddColumn String optional",
            "060003030100",
            .addColumn(
                .init(
                    className: person,
                    field: name,
                    type: .string,
                    isNullable: true,
                    collection: .single
                )
            )
        ),
        Row(
            "AddColumn Mixed",
            "060009000100",
            .addColumn(
                .init(
                    className: person,
                    field: any,
                    type: .null,
                    isNullable: true,
                    collection: .single
                )
            )
        ),
        Row(
            "AddColumn Link -> Dog",
            "06000609010002",
            .addColumn(
                .init(
                    className: person,
                    field: k,
                    type: .link,
                    isNullable: true,
                    collection: .single,
                    linkTarget: dog
                )
            )
        ),
        Row(
            "AddColumn List of Link -> Dog",
            "06000509000102",
            .addColumn(
                .init(
                    className: person,
                    field: dogs,
                    type: .link,
                    isNullable: false,
                    collection: .list,
                    linkTarget: dog
                )
            )
        ),
        Row(
            "AddColumn Set of Int",
            "060004010003",
            .addColumn(
                .init(
                    className: person,
                    field: age,
                    type: .int,
                    isNullable: false,
                    collection: .set
                )
            )
        ),
        Row(
            "AddColumn Dictionary of Int",
            "06000401000203",
            .addColumn(
                .init(
                    className: person,
                    field: age,
                    type: .int,
                    isNullable: false,
                    collection: .dictionary,
                    keyType: .string
                )
            )
        ),
        Row(
            "AddColumn Dictionary of Link -> Dog",
            "0600050901020203",
            .addColumn(
                .init(
                    className: person,
                    field: dogs,
                    type: .link,
                    isNullable: true,
                    collection: .dictionary,
                    linkTarget: dog,
                    keyType: .string
                )
            )
        ),
        Row(
            "AddColumn UUID optional",
            "0600060b0100",
            .addColumn(
                .init(
                    className: person,
                    field: k,
                    type: .uuid,
                    isNullable: true,
                    collection: .single
                )
            )
        ),
        Row("EraseColumn", "070004", .eraseColumn(className: person, field: age)),
        Row(
            "CreateObject Int pk 1",
            "02000101",
            .createObject(.init(className: person, key: .int(1)))
        ),
        Row(
            "CreateObject Int pk -1",
            "02000140",
            .createObject(.init(className: person, key: .int(-1)))
        ),
        Row(
            "CreateObject Int pk 64",
            "020001c000",
            .createObject(.init(className: person, key: .int(64)))
        ),
        Row("CreateObject null pk", "020200", .createObject(.init(className: dog, key: .null))),
        Row(
            "CreateObject String pk \"fido\" (interned)",
            "02020308",
            .createObject(.init(className: dog, key: .string(fido)))
        ),
        Row(
            "CreateObject ObjectId pk",
            "02000a5f63e882536de46d71877979",
            .createObject(.init(className: person, key: .objectID(objectID)))
        ),
        Row(
            "CreateObject UUID pk",
            "02000b3b241101e2bb42558caf4136c566a962",
            .createObject(.init(className: person, key: .uuid(uuid)))
        ),
        Row(
            "CreateObject GlobalKey {2,300}",
            "02004002ac02",
            .createObject(.init(className: person, key: .globalKey(.init(high: 2, low: 300))))
        ),
        Row("EraseObject", "03000101", .eraseObject(.init(className: person, key: .int(1)))),
        Row("Update field Int 42", "040001010400012a00", update(age, .int(42))),
        Row(
            "Update field Int -1, default",
            "040001010400014001",
            update(age, .int(-1), isDefault: true)
        ),
        Row("Update field Null", "0400010104000000", update(age, .null)),
        Row("Update field Bool true", "040001010900020100", update(any, .bool(true))),
        Row("Update field String \"hi\"", "0400010103000302686900", update(name, .string("hi"))),
        Row("Update field Binary 01 02", "0400010109000402010200", update(any, .binary([1, 2]))),
        Row(
            "Update field Timestamp 1 s 500 ns",
            "0400010109000501f40300",
            update(any, .timestamp(timestamp(1, 500)))
        ),
        Row(
            "Update field Timestamp -5 s -500000000 ns",
            "0400010109000544ffc9b5ee4100",
            update(any, .timestamp(timestamp(-5, -500_000_000)))
        ),
        Row(
            "Update field Float 1.5",
            "040001010900060000c03f00",
            update(any, .float(FloatBits(1.5)))
        ),
        Row(
            "Update field Double -0.1",
            "040001010900079a9999999999b9bf00",
            update(any, .double(DoubleBits(-0.1)))
        ),
        Row(
            "Update field Decimal128 12.345",
            "04000101090008b9e000420000",
            update(any, .decimal(decimal(12_345, -3)))
        ),
        Row(
            "Update field Decimal128 -0",
            "0400010109000800000100",
            update(any, .decimal(decimal(0, 0, isNegative: true)))
        ),
        Row(
            "Update field Decimal128 +Infinity",
            "0400010109000800e0c7000000",
            update(any, .decimal(Decimal128(high: 0x7800_0000_0000_0000, low: 0)))
        ),
        Row(
            "Update field Decimal128 -NaN",
            "0400010109000800e0cb000100",
            update(any, .decimal(Decimal128(high: 0xfc00_0000_0000_0000, low: 0)))
        ),
        Row(
            "Update field Decimal128 9.999999999999999999999999999999999E+6144",
            "04000101090008ffffffffbfcce3c6b7809feceab7c2f601df2f0000",
            update(any, .decimal(decimal(9_999_999_999_999_999_999_999_999_999_999_999, 6111)))
        ),
        Row(
            "Update field ObjectId",
            "0400010109000a5f63e882536de46d7187797900",
            update(any, .objectID(objectID))
        ),
        Row(
            "Update field UUID",
            "0400010109000b3b241101e2bb42558caf4136c566a96200",
            update(any, .uuid(uuid))
        ),
        Row(
            "Update field Link Dog[\"fido\"]",
            "0400010106000902030800",
            update(k, .link(className: dog, key: .string(fido)))
        ),
        Row(
            "Update field Link Dog[null]",
            "04000101060009020000",
            update(k, .link(className: dog, key: .null))
        ),
        Row("Update field ObjectValue", "0400010106004100", update(k, .objectValue)),
        Row("Update field Dictionary", "0400010109004200", update(any, .dictionary)),
        Row("Update field List", "0400010109004400", update(any, .list)),
        Row(
            "Update dictionary key \"name\" = 7",
            "0400010109014003010700",
            update(any, path: [.string(name)], .int(7))
        ),
        Row(
            "Update dictionary key \"name\" = Erased",
            "04000101090140034300",
            update(any, path: [.string(name)], .erased)
        ),
        Row(
            "Update list element [3] = 7 (prior_size 5)",
            "04000101040103010705",
            .update(
                .init(target: target(age, [.index(3)]), payload: .int(7), detail: .priorSize(5))
            )
        ),
        Row(
            "Update embedded in list: dogs[2].age = 7",
            "040001010502024004010700",
            update(dogs, path: [.index(2), .string(age)], .int(7))
        ),
        Row("AddInteger +3", "05000101040003", .addInteger(target(age), amount: 3)),
        Row("AddInteger -1", "05000101040040", .addInteger(target(age), amount: -1)),
        Row(
            "ArrayInsert [0]=7 prior_size 0",
            "08000101040100010700",
            .arrayInsert(target(age, [.index(0)]), .int(7), priorSize: 0)
        ),
        Row(
            "ArrayInsert Link at [1] prior_size 1",
            "080001010501010902030801",
            .arrayInsert(
                target(dogs, [.index(1)]),
                .link(className: dog, key: .string(fido)),
                priorSize: 1
            )
        ),
        Row(
            "ArrayInsert ObjectValue at [100] prior_size 100",
            "080001010501e40041e400",
            .arrayInsert(target(dogs, [.index(100)]), .objectValue, priorSize: 100)
        ),
        Row(
            "ArrayMove [0] -> 2 prior_size 3",
            "090001010401000203",
            .arrayMove(target(age, [.index(0)]), to: 2, priorSize: 3)
        ),
        Row(
            "ArrayErase [1] prior_size 3",
            "0a00010104010103",
            .arrayErase(target(age, [.index(1)]), priorSize: 3)
        ),
        Row("Clear list", "0b000101040001", .clear(target(age), .list)),
        Row("Clear dictionary", "0b000101090002", .clear(target(any), .dictionary)),
        Row("Clear set", "0b000101040003", .clear(target(age), .set)),
        Row("SetInsert 5", "0c00010104000105", .setInsert(target(age), .int(5))),
        Row(
            "SetErase 5",
            "0d00010104000105",
            .setErase(.init(target: target(age), payload: .int(5)))
        ),
    ]
}

// MARK: Parts of the rows

extension WorkedExampleTests {
    private static func column(
        _ type: PrimaryKeyType,
        field: InternIndex = InternIndex(1),
        isNullable: Bool = false
    ) -> Instruction.AddTable.PrimaryKeyColumn {
        .init(field: field, type: type, isNullable: isNullable)
    }

    private static func target(
        _ field: InternIndex,
        _ path: [PathElement] = []
    ) -> Instruction.PathTarget {
        .init(object: .init(className: person, key: .int(1)), field: field, path: path)
    }

    private static func update(
        _ field: InternIndex,
        path: [PathElement] = [],
        _ payload: Payload,
        isDefault: Bool = false
    ) -> Instruction {
        .update(
            .init(target: target(field, path), payload: payload, detail: .isDefault(isDefault))
        )
    }

    private static func timestamp(_ seconds: Int64, _ nanoseconds: Int64) -> Timestamp {
        Timestamp(seconds: seconds, nanoseconds: nanoseconds) ?? .epoch
    }

    private static func decimal(
        _ coefficient: UInt128,
        _ exponent: Int32,
        isNegative: Bool = false
    ) -> Decimal128 {
        Decimal128(
            coefficientHigh: UInt64(coefficient >> 64),
            coefficientLow: UInt64(truncatingIfNeeded: coefficient),
            exponent: exponent,
            isNegative: isNegative
        ) ?? .zero
    }
}
