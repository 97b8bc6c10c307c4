import Changesets
import Documents
import Schemas
import TestSupport
import Testing

/// The prepared coders of a class against the general ones. `REALM_SEEDS` lengthens the runs.
@Suite("Documents read and written by prepared coders")
struct DocumentCoderTests {
    private static let schema = SampleSchema.everything
    private static let form = JSONForm(schema: schema)
    private static let owners = schema.classes

    /// Each of some 140 values, of every type and collection.
    private static let seeds = Seeds.some(60)

    /// A random document of each class.
    private func forEachDocument(
        _ body: (Document, ClassSchema, UInt64, inout SplitMix64) throws -> Void
    ) rethrows {
        let values = RandomValues(schema: Self.schema)
        for seed in Self.seeds {
            for owner in Self.owners {
                var random = SplitMix64(seed: seed)
                let document = values.document(of: owner, using: &random)
                try body(document, owner, seed, &random)
            }
        }
    }

    private func key(of owner: ClassSchema, _ random: inout SplitMix64) -> ObjectKey {
        switch owner.primaryKey?.type {
        case .int:
            .int(Int64(bitPattern: random.next()) >> Int64.random(in: 0..<64, using: &random))
        case .string:
            .string(Text("a\"\\\n\u{1}ü/\u{0}".prefix(Int.random(in: 0...8, using: &random))))
        case .objectID: .objectID(.zero)
        case .uuid: .uuid(.zero)
        case .globalKey: .globalKey(GlobalKey(high: random.next(), low: random.next()))
        case nil: .null
        }
    }

    @Test("The encoder of a class writes the bytes of the general one")
    func encoding() {
        let encoders = Self.owners.map { DocumentEncoder(of: $0, Self.form) }
        forEachDocument { document, owner, seed, random in
            let key = key(of: owner, &random)
            let encoder = encoders.first { $0.owner.name == owner.name }
            #expect(
                encoder?.encode(document, key: key)
                    == Self.form.encode(document, key: key, of: owner),
                "seed \(seed), \(owner.name)"
            )
        }
    }

    @Test("The decoder of a class reads what the general one reads, damaged or not")
    func decoding() {
        let decoders = Self.owners.map { DocumentDecoder(of: $0, Self.form) }
        forEachDocument { document, owner, seed, random in
            guard let decoder = decoders.first(where: { $0.owner.name == owner.name }) else {
                return
            }
            var json = Self.form.encode(document, key: key(of: owner, &random), of: owner)
            #expect(
                (try? decoder.decode(json)) == (try? Self.form.decodeDocument(json, of: owner)),
                "seed \(seed), \(owner.name)"
            )
            let sample = Array(#"{}[]",:\0-1.e$ntu= "#.utf8)
            for _ in 0..<Int.random(in: 1...2, using: &random) where !json.isEmpty {
                let position = Int.random(in: 0..<json.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: json[position] = UInt8.random(in: 0...255, using: &random)
                case 1: json.remove(at: position)
                case 2: json[position] = sample.randomElement(using: &random) ?? 0
                default: json.insert(sample.randomElement(using: &random) ?? 0, at: position)
                }
            }
            let general = Result { () throws(FormError) in
                try Self.form.decodeDocument(json, of: owner)
            }
            let prepared = Result { () throws(FormError) in try decoder.decode(json) }
            #expect(general == prepared, "seed \(seed), \(owner.name)")
        }
    }

    @Test(
        "Numbers, times and texts that are nearly canonical are read like the general form",
        arguments: [
            #""int":-0"#, #""int":007"#, #""int":9223372036854775807"#,
            #""int":9223372036854775808"#, #""int":1.0"#, #""int":1e2"#, #""int": 1"#,
            #""double":1.0"#, #""double":.5"#, #""double":1."#, #""double":00.5"#,
            #""double":-0.0"#, #""double":1e400"#, #""double":123456789.123456789123456789"#,
            #""double":1.5e3"#, #""double":5"#, #""bool":tru"#, #""string":null"#,
            #""timestamp":"2026-02-31T24:59:59.999999999Z""#,
            #""timestamp":"2026-13-01T00:00:00.000000000Z""#,
            #""timestamp":"1969-12-31T23:59:59.500000000Z""#,
            #""timestamp":"0000-01-01T00:00:00.000000000Z""#,
            #""timestamp":"2026-02-03 04:05""#, #""binary":"AQI""#, #""binary":"AQI=""#,
            #""binary":"AQJ=""#, #""binary":"=QI=""#, #""binary":"""#, #""binary":"====""#,
        ]
    )
    func nearlyCanonical(member: String) throws {
        let owner = try #require(Self.schema["Everything"])
        let name = try #require(member.split(separator: "\"").first)
        let property = try #require(owner.property(named: Text(name)))
        // A class of one property, so that the text is otherwise canonical.
        let single = ClassSchema(
            name: "Single",
            kind: .topLevel(PrimaryKeySchema(name: "_id", type: .int, isNullable: false)),
            properties: [property]
        )
        let form = JSONForm(schema: RealmSchema([single]))
        let json = Array(#"{"_id":1,\#(member)}"#.utf8)
        let general = Result { () throws(FormError) in try form.decodeDocument(json, of: single) }
        let prepared = Result { () throws(FormError) in
            try DocumentDecoder(of: single, form).decode(json)
        }
        #expect(general == prepared)
    }

    @Test("Copied documents become the instructions that write them, damaged or not")
    func copying() {
        var copiers = Self.owners.map { DocumentCopier(of: $0, in: Self.schema) }
        var (copied, written) = (ChangesetWriter(), ChangesetWriter())
        forEachDocument { document, owner, seed, random in
            guard !owner.isEmbedded,
                let position = Self.owners.firstIndex(where: { $0.name == owner.name })
            else { return }
            let key = key(of: owner, &random)
            let object = ObjectReference(className: owner.name, key: key)
            var json = Self.form.encode(document, key: key, of: owner)
            if Int.random(in: 0..<4, using: &random) == 0 {
                json[Int.random(in: 0..<json.count, using: &random)] ^= 1
            }
            let general = Result { () throws(FormError) in
                try Self.form.decodeDocument(json, of: owner)
            }
            let direct = Result { () throws(FormError) in
                try copiers[position].copy(json, as: object, into: &copied)
            }
            switch (general, direct) {
            case (.success(let document), .success):
                written.writeObject(document, as: object, of: owner, in: Self.schema)
            case (.failure(let error), .failure(let other)): #expect(error == other)
            default: Issue.record("seed \(seed), \(owner.name)")
            }
            #expect(copied.sizeInBytes == written.sizeInBytes, "seed \(seed), \(owner.name)")
        }
        #expect(copied.bytes == written.bytes)
    }

    @Test("The writer of a class writes the instructions of the general one")
    func instructions() {
        var (prepared, general) = (ChangesetWriter(), ChangesetWriter())
        let writers = Self.owners.map { ObjectWriter(of: $0, in: Self.schema) }
        forEachDocument { document, owner, seed, random in
            guard !owner.isEmbedded,
                let position = Self.owners.firstIndex(where: { $0.name == owner.name })
            else { return }
            let object = ObjectReference(className: owner.name, key: key(of: owner, &random))
            writers[position].write(document, as: object, into: &prepared)
            general.writeObject(document, as: object, of: owner, in: Self.schema)
            #expect(prepared.sizeInBytes == general.sizeInBytes, "seed \(seed), \(owner.name)")
        }
        #expect(prepared.bytes == general.bytes)
    }
}
