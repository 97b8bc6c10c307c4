import Changesets
import Documents
import Schemas
import TestSupport
import Testing

/// Documents from the bytes of plain changesets against those of applied instructions. `REALM_SEEDS` lengthens
/// the runs.
@Suite("Documents of plain changesets")
struct PlainDocumentTests {
    private static let schema = SampleSchema.everything
    private static let form = JSONForm(schema: schema)

    @Test("Have the bytes of new objects that the instructions were applied to")
    func sameBytes() throws {
        let writer = PlainDocumentWriter(Self.schema)
        let seeds = Seeds.some(1_000)
        var written = 0
        for seed in seeds {
            var random = SplitMix64(seed: seed)
            let bytes = Self.changeset(using: &random)
            let plain = try #require(PlainChangeset(bytes), "seed \(seed)")
            guard let documents = Self.documents(of: plain, by: writer) else { continue }
            written += 1
            var realm = InMemoryRealm(schema: Self.schema)
            try realm.apply(Changeset(decoding: bytes))
            let expected = realm.objects.flatMap { className, objects in
                objects.map { key, document in
                    (
                        ObjectReference(className: className, key: key),
                        Self.schema[className].map {
                            Self.form.encode(document, key: key, of: $0)
                        }
                    )
                }
            }
            #expect(documents.count == expected.count, "seed \(seed)")
            for (object, json) in expected {
                #expect(documents[object] == json, "seed \(seed), \(object)")
            }
        }
        // The others have a value of a type that takes more.
        if seeds.count > 1 { #expect(written > seeds.count / 10) }
    }

    @Test("Are not written for what creating an object from values does not give")
    func others() throws {
        let object = ObjectReference(className: "Everything", key: .int(1))
        let target = ObjectReference(className: "Target", key: .string("t"))
        let others: [(inout ChangesetWriter) -> Void] = [
            // Exists already, or not at all.
            { $0.update(target, "name", to: .scalar(.string("n"))) },
            { $0.createObject(.init(className: "Unknown", key: .int(1))) },
            { $0.createObject(.init(className: "Part", key: .int(1))) },
            // Refused.
            { $0.createObject(.init(className: "Everything", key: .string("1"))) },
            { $0.update(object, "unknown", to: .scalar(.int(1))) },
            { $0.update(object, "_id", to: .scalar(.int(1))) },
            { $0.update(object, "int", to: .scalar(.null)) },
            { $0.update(object, "int", to: .scalar(.string("1"))) },
            { $0.update(object, "intList", to: .scalar(.int(1))) },
            { $0.update(object, "target", to: .scalar(.link(object))) },
            // Other forms than those of the values.
            { $0.update(object, "any", to: .scalar(.int(1))) },
            { $0.update(object, "decimal", to: .scalar(.decimal(.zero))) },
            {
                $0.update(
                    object,
                    "target",
                    to: .scalar(.link(.init(className: "Target", key: .null)))
                )
            },
            {
                $0.update(object, "double", to: .scalar(.double(DoubleBits(1))))
                $0.update(object, "double", to: .scalar(.double(DoubleBits(-0.0))))
            },
        ]
        for (number, write) in others.enumerated() {
            var writer = ChangesetWriter()
            writer.createObject(object)
            write(&writer)
            let plain = try #require(PlainChangeset(writer.bytes))
            let documents = Self.documents(of: plain, by: PlainDocumentWriter(Self.schema))
            #expect(documents == nil, "\(number)")
        }
    }

    @Test("Are complete: each of a class with the required property sets it")
    func required() throws {
        for setsIt in [true, false] {
            var writer = ChangesetWriter()
            let key = GlobalKey(high: 1, low: 2)
            writer.createObject(.init(className: "Keyless", key: .globalKey(key)))
            let target = ObjectReference(className: "Target", key: .string("t"))
            writer.createObject(target)
            if setsIt { writer.update(target, "name", to: .scalar(.string("n"))) }
            let plain = try #require(PlainChangeset(writer.bytes))
            let documents = Self.documents(
                of: plain,
                by: PlainDocumentWriter(Self.schema, requiring: "name")
            )
            #expect((documents != nil) == setsIt)
        }
    }

    @Test("Are not written if one is larger than allowed")
    func limit() throws {
        var writer = ChangesetWriter()
        let target = ObjectReference(className: "Target", key: .string("t"))
        writer.createObject(target)
        let plain = try #require(PlainChangeset(writer.bytes))
        let size = try #require(
            Self.documents(of: plain, by: PlainDocumentWriter(Self.schema))?[target]?.count
        )
        let documents = PlainDocumentWriter(Self.schema)
        #expect(documents.write(plain, limitInBytes: size) != nil)
        #expect(documents.write(plain, limitInBytes: size - 1) == nil)
    }

    @Test("Are not written if all of them would take too much memory")
    func memory() throws {
        let properties = (0..<1_000).map {
            PropertySchema(name: Text("property \($0)"), type: .string, isNullable: false)
        }
        let key = PrimaryKeySchema(name: "_id", type: .int, isNullable: false)
        let wide = RealmSchema([
            ClassSchema(name: "Wide", kind: .topLevel(key), properties: properties)
        ])
        for (count, isWritten) in [(Int64(10), true), (10_000, false)] {
            var writer = ChangesetWriter()
            for number in 0..<count {
                writer.createObject(.init(className: "Wide", key: .int(number)))
            }
            let plain = try #require(PlainChangeset(writer.bytes))
            #expect((PlainDocumentWriter(wide).write(plain) != nil) == isWritten)
        }
    }

    private static func documents(
        of changeset: PlainChangeset,
        by writer: PlainDocumentWriter
    ) -> [ObjectReference: [UInt8]]? {
        guard let parts = writer.write(changeset) else { return nil }
        var documents: [ObjectReference: [UInt8]] = [:]
        writer.withText { text in
            for part in parts {
                for place in part.places {
                    let object = ObjectReference(className: part.className, key: place.key)
                    documents[object] = Array(text[place.json])
                }
            }
        }
        return documents
    }

    /// Creates objects, and sets some of their properties, some of them twice.
    private static func changeset(using random: inout SplitMix64) -> [UInt8] {
        let values = RandomValues(schema: schema)
        var writer = ChangesetWriter()
        let objects = (0..<Int.random(in: 1...4, using: &random)).map {
            object($0, using: &random)
        }
        // An agent creates all objects of a transaction first.
        let createsFirst = Bool.random(using: &random)
        if createsFirst { for object in objects { writer.createObject(object) } }
        for object in objects {
            if !createsFirst { writer.createObject(object) }
            // Most values that take more are left to a few of the changesets.
            let isSimple = Int.random(in: 0..<4, using: &random) > 0
            let properties = (schema[object.className]?.properties ?? []).filter { property in
                let isOpen = property.type == .mixed || property.type == .decimal
                return property.collection == .single && property.type != .link(target: "Part")
                    && !(isSimple && isOpen)
            }
            for _ in 0..<Int.random(in: 0..<20, using: &random) {
                guard let property = properties.randomElement(using: &random),
                    case .scalar(let scalar) = values.value(of: property, using: &random)
                else { continue }
                writer.update(object, property.name, to: .scalar(scalar))
            }
            if Bool.random(using: &random) { writer.createObject(object) }
        }
        return writer.bytes
    }

    private static func object(_ number: Int, using random: inout SplitMix64) -> ObjectReference {
        let names: [Text] = ["escaped\"\\\n", "", "ü\u{0}", "plain"]
        let objects = [
            ObjectReference(className: "Everything", key: .int(Int64(number) - 2)),
            ObjectReference(className: "Everything", key: .int(Int64(number) - 2)),
            ObjectReference(className: "Target", key: number == 0 ? .null : .string(names[number])),
            ObjectReference(className: "Other", key: .uuid(.zero)),
            ObjectReference(
                className: "Keyless",
                key: .globalKey(GlobalKey(high: UInt64(number), low: 1))
            ),
        ]
        return objects.randomElement(using: &random) ?? objects[0]
    }
}
