import Changesets
import SchemaFiles
import Schemas
import Settings
import Testing

@Suite("Schema files")
struct SchemaFileTests {
    private static let example = """
        classes:
          Task:
            primary_key: _id
            properties:
              _id: object_id
              title: string                      # required
              notes: string?                     # nullable
              done: { type: bool, default: false }
              views: { type: int, counter: true }
              tags: list<string>
              labels: set<string>
              extra: dictionary<mixed>
              owner: link<Person>                # always nullable
              helpers: list<link<Person>>
              address: embedded<Address>         # always nullable
              stops: list<embedded<Address>>
              anything: mixed
          Address: { embedded: true, properties: { street: string?, city: string? } }
          Person: { primary_key: id, properties: { id: int?, friends: dictionary<link<Person>> } }
          Reading: { asymmetric: true, primary_key: _id, properties: { _id: uuid, value: double } }
        """

    private static var exampleSchema: RealmSchema {
        var schema = RealmSchema()
        schema.update(
            ClassSchema(
                name: "Task",
                kind: .topLevel(.init(name: "_id", type: .objectID, isNullable: false)),
                properties: [
                    .init(name: "title", type: .string, isNullable: false),
                    .init(name: "notes", type: .string, isNullable: true),
                    .init(name: "done", type: .bool, isNullable: false),
                    .init(name: "views", type: .int, isNullable: false),
                    .init(name: "tags", type: .string, isNullable: false, collection: .list),
                    .init(name: "labels", type: .string, isNullable: false, collection: .set),
                    .init(name: "extra", type: .mixed, isNullable: true, collection: .dictionary),
                    .init(name: "owner", type: .link(target: "Person"), isNullable: true),
                    .init(
                        name: "helpers",
                        type: .link(target: "Person"),
                        isNullable: false,
                        collection: .list
                    ),
                    .init(name: "address", type: .link(target: "Address"), isNullable: true),
                    .init(
                        name: "stops",
                        type: .link(target: "Address"),
                        isNullable: false,
                        collection: .list
                    ),
                    .init(name: "anything", type: .mixed, isNullable: true),
                ]
            )
        )
        schema.update(
            ClassSchema(
                name: "Address",
                kind: .embedded,
                properties: [
                    .init(name: "street", type: .string, isNullable: true),
                    .init(name: "city", type: .string, isNullable: true),
                ]
            )
        )
        schema.update(
            ClassSchema(
                name: "Person",
                kind: .topLevel(.init(name: "id", type: .int, isNullable: true)),
                properties: [
                    .init(
                        name: "friends",
                        type: .link(target: "Person"),
                        isNullable: true,
                        collection: .dictionary
                    )
                ]
            )
        )
        schema.update(
            ClassSchema(
                name: "Reading",
                kind: .asymmetric(.init(name: "_id", type: .uuid, isNullable: false)),
                properties: [.init(name: "value", type: .double, isNullable: false)]
            )
        )
        return schema
    }

    @Test("Every construct of the form is read")
    func reading() throws {
        let (declaration, diagnostics) = parse(Self.example)
        #expect(diagnostics.isEmpty)
        let read = try #require(declaration)
        #expect(read.schema == Self.exampleSchema)
        #expect(
            read.options == [
                PropertyName(className: "Task", property: "views"): .init(isCounter: true),
                PropertyName(className: "Task", property: "done"): .init(
                    defaultValue: .bool(false)
                ),
            ]
        )
    }

    @Test("A declaration is printed in the same form, primary keys first")
    func printing() throws {
        let declaration = try #require(parse(Self.example).declaration)
        #expect(
            SchemaFile.text(of: declaration) == """
                classes:
                  Task:
                    primary_key: _id
                    properties:
                      _id: object_id
                      title: string
                      notes: string?
                      done: { type: bool, default: false }
                      views: { type: int, counter: true }
                      tags: list<string>
                      labels: set<string>
                      extra: dictionary<mixed>
                      owner: link<Person>
                      helpers: list<link<Person>>
                      address: embedded<Address>
                      stops: list<embedded<Address>>
                      anything: mixed
                  Address:
                    embedded: true
                    properties:
                      street: string?
                      city: string?
                  Person:
                    primary_key: id
                    properties:
                      id: int?
                      friends: dictionary<link<Person>>
                  Reading:
                    asymmetric: true
                    primary_key: _id
                    properties:
                      _id: uuid
                      value: double

                """
        )
    }

    @Test("A schema without classes is printed and read")
    func empty() {
        let declaration = SchemaDeclaration(schema: RealmSchema())
        #expect(SchemaFile.text(of: declaration) == "classes: {}\n")
        #expect(parse("classes: {}\n").declaration == declaration)
    }

    @Test("Defaults of every type are read by their type, and printed the same")
    func defaults() throws {
        let text = """
            classes:
              C:
                primary_key: id
                properties:
                  id: int
                  int: { type: int, default: -9223372036854775808 }
                  bool: { type: bool, default: true }
                  string: { type: string, default: "no \\"q\\"\\n" }
                  empty: { type: string, default: "" }
                  binary: { type: binary, default: "AQID" }
                  timestamp: { type: timestamp, default: "2026-03-04T05:06:07.000000000Z" }
                  float: { type: float, default: 1.5 }
                  double: { type: double, default: -0.0 }
                  infinite: { type: double, default: -inf }
                  none: { type: double, default: NaN }
                  decimal: { type: decimal, default: "1.50" }
                  object_id: { type: object_id, default: "0102030405060708090a0b0c" }
                  uuid: { type: uuid?, default: "00000000-0000-0000-0000-0000000000ff" }

            """
        let (declaration, diagnostics) = parse(text)
        #expect(diagnostics.map(\.description) == [])
        let read = try #require(declaration)
        let value = { (name: String) in
            read.options[PropertyName(className: "C", property: Text(name))]?.defaultValue
        }
        #expect(value("int") == .int(.min))
        #expect(value("bool") == .bool(true))
        #expect(value("string") == .string("no \"q\"\n"))
        #expect(value("empty") == .string(""))
        #expect(value("binary") == .binary([1, 2, 3]))
        #expect(
            value("timestamp")
                == Timestamp(seconds: 1_772_600_767, nanoseconds: 0).map(Scalar.timestamp)
        )
        #expect(value("float") == .float(FloatBits(1.5)))
        #expect(value("double") == .double(DoubleBits(-0.0)))
        #expect(value("infinite") == .double(DoubleBits(-.infinity)))
        #expect(value("none") == .double(DoubleBits(bitPattern: 0x7ff8_0000_0000_0000)))
        #expect(
            value("decimal")
                == Decimal128(
                    coefficientHigh: 0,
                    coefficientLow: 150,
                    exponent: -2,
                    isNegative: false
                )
                .map(Scalar.decimal)
        )
        #expect(value("object_id") == ObjectID("0102030405060708090a0b0c").map(Scalar.objectID))
        #expect(
            value("uuid") == UniqueID("00000000-0000-0000-0000-0000000000ff").map(Scalar.uuid)
        )
        #expect(SchemaFile.text(of: read) == text)
    }

    @Test("A null default of a nullable property says nothing")
    func nullDefault() {
        let declaration = parse(
            "classes: {C: {primary_key: id, properties: {id: int, a: {type: int?, default: null}}}}"
        ).declaration
        #expect(declaration?.options == [:])
    }

    @Test("Names that YAML could misread are printed in quotes and read back")
    func unusualNames() throws {
        for name in ["no", "null", "a b", "ä", "1x", "a: b", "#", "x\"y", "list<a>", "'", "\u{a0}"]
        {
            var schema = RealmSchema()
            schema.update(
                ClassSchema(
                    name: Text(name),
                    kind: .topLevel(.init(name: Text(name), type: .string, isNullable: true)),
                    properties: [
                        .init(name: "p", type: .link(target: Text(name)), isNullable: true)
                    ]
                )
            )
            let text = SchemaFile.text(of: SchemaDeclaration(schema: schema))
            #expect(parse(text).declaration?.schema == schema, "\(text)")
        }
    }

    @Test("A learned class without primary key is printed without one, and cannot be declared")
    func withoutPrimaryKey() {
        var schema = RealmSchema()
        schema.update(
            ClassSchema(
                name: "Old",
                kind: .topLevel(.init(name: "", type: .globalKey, isNullable: false)),
                properties: [.init(name: "a", type: .int, isNullable: false)]
            )
        )
        let text = SchemaFile.text(of: SchemaDeclaration(schema: schema))
        #expect(text == "classes:\n  Old:\n    properties:\n      a: int\n")
        #expect(parse(text).diagnostics.map(\.code.word) == ["schema.bad_primary_key"])
    }
}

func parse(_ text: String) -> (declaration: SchemaDeclaration?, diagnostics: [Diagnostic]) {
    SchemaFile.parse(Array(text.utf8), file: "s.yaml")
}
