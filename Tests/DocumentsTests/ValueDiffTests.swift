import Changesets
import Documents
import FoundationEssentials
import Schemas
import TestSupport
import Testing

@Suite("Instructions from one value to another")
struct ValueDiffTests {
    private static let object = ObjectReference(className: "Task", key: .int(1))

    private static let schema = RealmSchema([
        ClassSchema(
            name: "Task",
            kind: .topLevel(.init(name: "_id", type: .int, isNullable: false)),
            properties: [
                .init(name: "count", type: .int, isNullable: true),
                .init(name: "list", type: .string, isNullable: false, collection: .list),
                .init(name: "set", type: .int, isNullable: false, collection: .set),
                .init(name: "mixedSet", type: .mixed, isNullable: true, collection: .set),
                .init(name: "map", type: .int, isNullable: true, collection: .dictionary),
                .init(name: "any", type: .mixed, isNullable: true),
                .init(name: "stop", type: .link(target: "Stop"), isNullable: true),
                .init(
                    name: "stops",
                    type: .link(target: "Stop"),
                    isNullable: false,
                    collection: .list
                ),
                .init(
                    name: "byName",
                    type: .link(target: "Stop"),
                    isNullable: true,
                    collection: .dictionary
                ),
            ]
        ),
        ClassSchema(
            name: "Stop",
            kind: .embedded,
            properties: [
                .init(name: "tags", type: .string, isNullable: false, collection: .list),
                .init(name: "x", type: .int, isNullable: false),
            ]
        ),
    ])

    /// The instructions between two JSON values of a property, abbreviated.
    private func diff(
        _ field: Text,
        _ old: String,
        _ new: String,
        counters: Set<PropertyName> = []
    ) throws -> [String] {
        let property = try #require(Self.schema["Task"]?.property(named: field))
        let form = JSONForm(schema: Self.schema)
        var writer = ChangesetWriter()
        ValueDiff(schema: Self.schema, counters: counters).write(
            from: try form.decode(Array(old.utf8), of: property),
            to: try form.decode(Array(new.utf8), of: property),
            of: property,
            in: Self.object,
            into: &writer
        )
        return InstructionText.lines(try Changeset(decoding: writer.bytes))
    }

    @Test(
        "Lists: the fewest edits",
        arguments: [
            (#"["a"]"#, #"["a"]"#, []),
            (#"["a"]"#, "[]", ["Clear list"]),
            ("[]", #"["a","b"]"#, ["Insert [0] a p0", "Insert [1] b p1"]),
            (#"["red","wet"]"#, #"["wet","new"]"#, ["Erase [0] p2", "Insert [1] new p1"]),
            (#"["wet","new"]"#, #"["wet","old"]"#, ["Update [1] old p2"]),
            (#"["a","b","c"]"#, #"["b","c","a"]"#, ["Move [0] to 2 p3"]),
            (#"["a","b","c","d"]"#, #"["a","d","b","c"]"#, ["Move [3] to 1 p4"]),
            (#"["a","b"]"#, #"["b","a"]"#, ["Erase [0] p2", "Insert [1] a p1"]),
            (#"["a","b","c"]"#, #"["x","c"]"#, ["Update [0] x p3", "Erase [1] p3"]),
            (
                #"["a","b","c","d"]"#, #"["a","d"]"#,
                ["Erase [2] p4", "Erase [1] p3"]
            ),
        ]
    )
    func lists(old: String, new: String, expected: [String]) throws {
        #expect(try diff("list", old, new) == expected.map { "list: \($0)" })
    }

    @Test("Lists that have little in common are compared by position")
    func longLists() throws {
        let old = (0..<1500).map { "\"o\($0)\"" }.joined(separator: ",")
        let new = (0..<1502).map { "\"n\($0)\"" }.joined(separator: ",")
        let lines = try diff("list", "[\(old)]", "[\(new)]")
        #expect(lines.count == 1502)
        #expect(lines.last == "list: Insert [1501] n1501 p1501")
    }

    @Test("Sets, dictionaries and counters")
    func others() throws {
        #expect(try diff("set", "[1,2]", "[2,3]") == ["set: SetErase 1", "set: SetInsert 3"])
        #expect(try diff("set", "[1]", "[]") == ["set: Clear set"])
        #expect(
            try diff("mixedSet", "[1]", #"[{"$numberDouble":"1.0"}]"#)
                == ["mixedSet: SetErase 1", "mixedSet: SetInsert 1.0"]
        )
        #expect(
            try diff("map", #"{"a":1,"b":2,"c":3}"#, #"{"c":null,"b":2,"d":4}"#)
                == ["map: Update .a erased", "map: Update .c null", "map: Update .d 4"]
        )
        #expect(try diff("map", #"{"a":1}"#, "{}") == ["map: Clear dictionary"])
        let counter: Set = [PropertyName(className: "Task", property: "count")]
        #expect(try diff("count", "1", "5", counters: counter) == ["count: Add 4"])
        #expect(try diff("count", "null", "5", counters: counter) == ["count: Update 5"])
        #expect(try diff("count", "5", "null", counters: counter) == ["count: Update null"])
    }

    @Test("Embedded objects are edited if both exist, else created or removed")
    func embedded() throws {
        #expect(
            try diff("stop", "null", #"{"x":1,"tags":["t"]}"#) == [
                "stop: Update object", "stop: Update .x 1", "stop: Insert .tags[0] t p0",
            ]
        )
        #expect(try diff("stop", #"{"x":1}"#, #"{"x":2}"#) == ["stop: Update .x 2"])
        #expect(try diff("stop", #"{"x":1}"#, "null") == ["stop: Update null"])
        #expect(
            try diff("stops", #"[{"x":1},{"x":2}]"#, #"[{"x":1},{"x":3},{"x":4}]"#) == [
                "stops: Update [1].x 3", "stops: Insert [2] object p2", "stops: Update [2].x 4",
            ]
        )
        #expect(
            try diff("byName", #"{"a":{"x":1},"b":null}"#, #"{"a":{"x":2},"b":{"x":3}}"#) == [
                "byName: Update .a.x 2", "byName: Update .b object", "byName: Update .b.x 3",
            ]
        )
    }

    @Test("Mixed: collections are edited or created; another kind replaces the value")
    func mixed() throws {
        #expect(
            try diff("any", #""note""#, #"[1,{"a":true}]"#) == [
                "any: Update list", "any: Insert [0] 1 p0", "any: Insert [1] dictionary p1",
                "any: Update [1].a true",
            ]
        )
        #expect(
            try diff("any", #"[1,{"a":true}]"#, #"[5,{"a":true,"b":2}]"#)
                == ["any: Update [0] 5 p2", "any: Update [1].b 2"]
        )
        #expect(
            try diff("any", #"{"a":[1]}"#, #"{"a":[]}"#) == ["any: Clear .a list"]
        )
        #expect(try diff("any", "[1]", "{}") == ["any: Update dictionary"])
        #expect(try diff("any", "[1]", "null") == ["any: Update null"])
    }

    @Test("Applied to the old value, the instructions give the new one; so does a replacement")
    func roundTrips() throws {
        let seeds = ProcessInfo.processInfo.environment["REALM_SEEDS"].flatMap(UInt64.init) ?? 150
        for seed in 0..<seeds {
            var world = RandomWorld(seed: seed, .whole)
            for owner in world.schema.classes where !owner.isEmbedded {
                let object = ObjectReference(className: owner.name, key: Self.key(of: owner))
                for (position, property) in owner.properties.enumerated() {
                    let (old, new) = (world.value(property), world.value(property))
                    var realm = InMemoryRealm(schema: world.schema)
                    var document = Document(defaultsOf: owner)
                    document.values[position] = old
                    realm.setDocument(document, for: object)
                    let diff = ValueDiff(schema: world.schema)
                    var edits = ChangesetWriter()
                    diff.write(from: old, to: new, of: property, in: object, into: &edits)
                    var replacement = ChangesetWriter()
                    diff.writeReplacement(new, of: property, in: object, into: &replacement)
                    #expect(edits.isEmpty == (old == new), "seed \(seed)")
                    document.values[position] = new
                    for writer in [edits, replacement] {
                        var copy = realm
                        try copy.apply(try Changeset(decoding: writer.bytes))
                        #expect(copy.document(for: object) == document, "seed \(seed)")
                    }
                }
            }
        }
    }

    private static func key(of owner: ClassSchema) -> ObjectKey {
        switch owner.primaryKey?.type {
        case .int: .int(1)
        case .string: .string("k")
        case .objectID: .objectID(.zero)
        default: .uuid(.zero)
        }
    }
}

extension RandomWorld {
    fileprivate mutating func value(_ property: PropertySchema) -> Value {
        let json = json(of: property).replacing("''", with: "'")
        return (try? JSONForm(schema: schema).decode(Array(json.utf8), of: property))
            ?? property.defaultValue
    }
}

/// Path instructions in words: `list: Insert [0] a p0`.
private enum InstructionText {
    static func lines(_ changeset: Changeset) -> [String] {
        changeset.instructions.map { line($0, changeset) }
    }

    private static func line(_ instruction: Instruction, _ changeset: Changeset) -> String {
        func place(_ target: Instruction.PathTarget) -> String {
            let path = target.path.map { element in
                switch element {
                case .index(let index): "[\(index)]"
                case .string(let index): ".\(changeset.text(index))"
                }
            }
            return path.isEmpty ? "" : " " + path.joined()
        }
        func field(_ target: Instruction.PathTarget) -> String {
            "\(changeset.text(target.field)):"
        }
        switch instruction {
        case .update(let update):
            var size = ""
            if case .priorSize(let priorSize) = update.detail { size = " p\(priorSize)" }
            return "\(field(update.target)) Update\(place(update.target)) "
                + "\(text(update.payload, changeset))\(size)"
        case .addInteger(let target, let amount):
            return "\(field(target)) Add\(place(target)) \(amount)"
        case .arrayInsert(let target, let payload, let priorSize):
            return
                "\(field(target)) Insert\(place(target)) \(text(payload, changeset)) p\(priorSize)"
        case .arrayMove(let target, let to, let priorSize):
            return "\(field(target)) Move\(place(target)) to \(to) p\(priorSize)"
        case .arrayErase(let target, let priorSize):
            return "\(field(target)) Erase\(place(target)) p\(priorSize)"
        case .clear(let target, let collection):
            return "\(field(target)) Clear\(place(target)) \(collection)"
        case .setInsert(let target, let payload):
            return "\(field(target)) SetInsert\(place(target)) \(text(payload, changeset))"
        case .setErase(let erase):
            return "\(field(erase.target)) SetErase\(place(erase.target)) "
                + text(erase.payload, changeset)
        default:
            return "\(instruction)"
        }
    }

    private static func text(_ payload: Payload, _ changeset: Changeset) -> String {
        switch payload {
        case .null: "null"
        case .int(let value): "\(value)"
        case .bool(let value): "\(value)"
        case .string(let value): "\(value)"
        case .double(let value): "\(value.value)"
        case .objectValue: "object"
        case .list: "list"
        case .dictionary: "dictionary"
        case .erased: "erased"
        default: "\(payload)"
        }
    }
}
