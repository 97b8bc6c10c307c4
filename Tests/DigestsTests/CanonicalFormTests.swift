import Changesets
import Documents
import Schemas
import TestSupport
import Testing

@testable import Digests

@Suite("Canonical bytes of objects")
struct CanonicalFormTests {
    private static let schema = SampleSchema.everything
    private static let form = CanonicalForm(
        schema,
        comparing: CanonicalForm.properties(of: schema)
    )
    private static let object = ObjectReference(className: "Everything", key: .int(1))

    private static func everything() throws -> ClassSchema {
        try #require(schema["Everything"])
    }

    @Test("A row of the agent and a document of the server give the same bytes")
    func bothEnds() throws {
        let owner = try Self.everything()
        let json = JSONForm(schema: Self.schema)
        for seed in UInt64(0)..<500 {
            var random = SplitMix64(seed: seed)
            let document = RandomValues(schema: Self.schema).document(of: owner, using: &random)
            let row = Document(
                values: try zip(owner.properties, document.values).map { property, value in
                    let column = ColumnForm.encode(value, of: property, in: Self.schema)
                    return try ColumnForm.decode(column, of: property, in: Self.schema)
                }
            )
            let stored = try json.decodeDocument(
                json.encode(document, key: .int(1), of: owner),
                of: owner
            )
            let expected = Self.form.bytes(of: document, Self.object)
            #expect(Self.form.bytes(of: row, Self.object) == expected, "seed \(seed)")
            #expect(Self.form.bytes(of: stored, Self.object) == expected, "seed \(seed)")
        }
    }

    @Test("The order of classes and properties does not matter")
    func otherOrder() throws {
        let owner = try Self.everything()
        let reversed = RealmSchema(
            Self.schema.classes.reversed().map { owner in
                ClassSchema(
                    name: owner.name,
                    kind: owner.kind,
                    properties: owner.properties.reversed()
                )
            }
        )
        let other = CanonicalForm(reversed, comparing: CanonicalForm.properties(of: reversed))
        let shape: (Document, Text) -> Document = { document, name in
            Self.reversed(document, of: name)
        }
        for seed in UInt64(0)..<100 {
            var random = SplitMix64(seed: seed)
            let document = RandomValues(schema: Self.schema).document(of: owner, using: &random)
            let turned = shape(document, "Everything")
            #expect(
                other.bytes(of: turned, Self.object) == Self.form.bytes(of: document, Self.object),
                "seed \(seed)"
            )
        }
    }

    /// A document, and the embedded ones in it, with the properties in reverse.
    private static func reversed(_ document: Document, of className: Text) -> Document {
        let properties = schema[className]?.properties ?? []
        return Document(
            values: zip(properties, document.values).map { property, value in
                reversed(value, property)
            }.reversed()
        )
    }

    private static func reversed(_ value: Value, _ property: PropertySchema) -> Value {
        guard case .embedded(let name) = schema.elementType(of: property) else { return value }
        return switch value {
        case .object(let document): .object(reversed(document, of: name))
        case .list(let elements): .list(elements.map { reversed($0, property) })
        case .dictionary(let members): .dictionary(members.mapValues { reversed($0, property) })
        case .scalar, .set: value
        }
    }

    @Test("Values that differ only in their representation differ")
    func representations() throws {
        let owner = try Self.everything()
        let position = try #require(owner.position(of: "any"))
        let target = ObjectReference(className: "Target", key: .string("a"))
        let values: [Value] = [
            .null, .scalar(.int(0)), .scalar(.bool(false)), .scalar(.string("")),
            .scalar(.binary([])), .scalar(.int(1)), .scalar(.bool(true)),
            .scalar(.double(DoubleBits(0))), .scalar(.double(DoubleBits(-0.0))),
            .scalar(.float(FloatBits(0))), .scalar(.float(FloatBits(-0.0))),
            .scalar(.double(DoubleBits(.nan))),
            .scalar(.double(DoubleBits(bitPattern: 0xfff8_0000_0000_0000))),
            .scalar(.double(DoubleBits(.infinity))),
            .scalar(.decimal(Decimal128(high: 0x3040_0000_0000_0000, low: 1))),
            .scalar(.decimal(Decimal128(high: 0x303e_0000_0000_0000, low: 10))),
            .scalar(.timestamp(.epoch)), .scalar(.objectID(.zero)), .scalar(.uuid(.zero)),
            .scalar(.link(target)),
            .scalar(.link(ObjectReference(className: "Targe", key: .string("ta")))),
            .scalar(.string("a\0b")), .scalar(.string(Text(bytes: [0xff]))),
            .list([]), .dictionary([:]), .list([.null]), .list([.list([])]),
            .list([.scalar(.int(1)), .scalar(.int(2))]),
            .list([.scalar(.int(2)), .scalar(.int(1))]),
            .list([.list([.scalar(.int(1))]), .scalar(.int(2))]),
            .dictionary(["a": .null]), .dictionary(["a": .list([])]),
            .dictionary(["a": .null, "b": .null]),
        ]
        var seen: [[UInt8]: Value] = [:]
        for value in values {
            var document = Document(defaultsOf: owner)
            document.values[position] = value
            let bytes = Self.form.bytes(of: document, Self.object)
            #expect(seen[bytes] == nil, "\(value) and \(String(describing: seen[bytes]))")
            seen[bytes] = value
        }
        #expect(seen.count == values.count)
    }

    @Test("The bytes are those of the page")
    func example() {
        let schema = RealmSchema([
            ClassSchema(
                name: "Item",
                kind: .topLevel(.init(name: "_id", type: .int, isNullable: false)),
                properties: [
                    PropertySchema(name: "note", type: .string, isNullable: true),
                    PropertySchema(name: "n", type: .int, isNullable: false),
                ]
            )
        ])
        let form = CanonicalForm(schema, comparing: CanonicalForm.properties(of: schema))
        let document = Document(values: [.scalar(.string("hi")), .scalar(.int(7))])
        let bytes = form.bytes(
            of: document,
            ObjectReference(className: "Item", key: .int(-1))
        )
        #expect(
            Hexadecimal.text(of: bytes)
                == "0000000000000004" + "4974656d"  // "Item"
                + "01" + "ffffffffffffffff"  // -1
                + "17" + "0000000000000002"  // an object of two properties
                + "0000000000000001" + "6e" + "01" + "0000000000000007"
                + "0000000000000004" + "6e6f7465" + "03" + "0000000000000002" + "6869"
        )
    }

    @Test("Keys are read back; other bytes are not keys")
    func keys() {
        let keys: [ObjectKey] = [
            .null, .int(.min), .int(7), .string(""), .string("a\0b"),
            .string(Text(bytes: [0xff])), .objectID(.zero), .uuid(.zero),
            .globalKey(GlobalKey(high: 3, low: .max)),
        ]
        for key in keys {
            let bytes = CanonicalForm.bytes(of: key)
            #expect(CanonicalKey.decode(bytes) == key)
            #expect(CanonicalKey.decode(bytes + [0]) == nil)
            #expect(CanonicalKey.decode(Array(bytes.dropLast())) == nil)
        }
        for seed in UInt64(0)..<2000 {
            var random = SplitMix64(seed: seed)
            let bytes = (0..<Int.random(in: 0...20, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random) % 16
            }
            if let key = CanonicalKey.decode(bytes) {
                #expect(CanonicalForm.bytes(of: key) == bytes)
            }
        }
    }
}
