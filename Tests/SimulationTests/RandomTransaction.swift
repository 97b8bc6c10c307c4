import Changesets
import Documents
import Schemas
import TestSupport

/// One random transaction on a realm, and its changeset.
///
/// It uses few objects, so that transactions meet, and all kinds of properties and instructions
/// except those that the rules are known not to merge (merge rules, 8): each such omission has its
/// name from there.
struct RandomTransaction {
    private(set) var realm: InMemoryRealm
    private(set) var random: SplitMix64
    private var writer = ChangesetWriter()
    private let number: Int

    init(_ realm: InMemoryRealm, number: Int, random: SplitMix64) {
        self.realm = realm
        self.random = random
        self.number = number
    }

    /// Empty if nothing was changed.
    var bytes: [UInt8] { writer.isEmpty ? [] : writer.bytes }

    mutating func run() throws {
        try extendSchema()
        for _ in 0..<Int.random(in: 0...4, using: &random) { try change() }
    }

    /// Applies the changeset's instructions to the realm.
    private mutating func emit(_ write: (inout ChangesetWriter) -> Void) throws {
        var single = ChangesetWriter()
        write(&single)
        try realm.apply(Changeset(decoding: single.bytes))
        write(&writer)
    }
}

// MARK: Schema

extension RandomTransaction {
    static let schema = RealmSchema([
        ClassSchema(
            name: "Item",
            kind: .topLevel(.init(name: "_id", type: .int, isNullable: false)),
            properties: [
                PropertySchema(name: "count", type: .int, isNullable: false),
                PropertySchema(name: "maybe", type: .int, isNullable: true),
                PropertySchema(name: "name", type: .string, isNullable: false),
                PropertySchema(name: "any", type: .mixed, isNullable: true),
                PropertySchema(name: "link", type: .link(target: "Item"), isNullable: true),
                PropertySchema(name: "part", type: .link(target: "Part"), isNullable: true),
                list("ints", .int), list("links", .link(target: "Item")),
                list("parts", .link(target: "Part")), list("tree", .mixed),
                PropertySchema(name: "set", type: .int, isNullable: false, collection: .set),
                PropertySchema(name: "uuids", type: .uuid, isNullable: false, collection: .set),
                PropertySchema(name: "map", type: .int, isNullable: true, collection: .dictionary),
                PropertySchema(
                    name: "partMap",
                    type: .link(target: "Part"),
                    isNullable: true,
                    collection: .dictionary
                ),
            ]
        ),
        ClassSchema(
            name: "Part",
            kind: .embedded,
            properties: [
                PropertySchema(name: "count", type: .int, isNullable: false),
                PropertySchema(name: "note", type: .string, isNullable: true),
                list("ints", .int),
            ]
        ),
    ])

    private static func list(_ name: Text, _ type: PropertyType) -> PropertySchema {
        PropertySchema(name: name, type: type, isNullable: false, collection: .list)
    }

    /// All clients declare the same classes; later some add a property.
    private mutating func extendSchema() throws {
        var declared = Self.schema
        if realm.schema["Item"] != nil {
            guard below(12) == 0 else { return }
            var writer = ChangesetWriter()
            writer.addProperty(
                PropertySchema(name: Text("later\(below(3))"), type: .int, isNullable: false),
                to: "Item"
            )
            try declared.apply(Changeset(decoding: writer.bytes))
        }
        guard declared.hasAdditions(to: realm.schema) else { return }
        let published = realm.schema
        try emit { declared.writeAdditions(to: published, into: &$0) }
    }
}

extension RealmSchema {
    fileprivate mutating func apply(_ changeset: Changeset) throws {
        for instruction in changeset.instructions {
            _ = try apply(instruction, strings: changeset.strings)
        }
    }
}

// MARK: Changes

extension RandomTransaction {
    private mutating func change() throws {
        let object = anyObject()
        guard realm.document(for: object) != nil, below(12) > 0 else {
            return try createOrErase(object)
        }
        switch below(13) {
        case 0: try changeCount(object, "count", [])
        case 1: try changeScalars(object)
        case 2: try changeLater(object)
        case 3: try changePart(object)
        case 4, 5: try changeInts(object, "ints", [], value(of: "ints", object), canMove: true)
        case 6: try changeLinks(object)
        case 7, 8: try changeParts(object)
        case 9: try changeSets(object)
        case 10: try changeMap(object)
        case 11: try changePartMap(object)
        default: try changeTree(object)
        }
    }

    private mutating func createOrErase(_ object: ObjectReference) throws {
        if realm.document(for: object) != nil {
            try emit { $0.eraseObject(object) }
            guard below(3) == 0 else { return }
        }
        try emit { $0.createObject(object) }
    }

    private mutating func changeCount(
        _ object: ObjectReference,
        _ field: Text,
        _ path: [ChangesetWriter.Step]
    ) throws {
        let number = integer()
        if below(2) == 0 {
            try emit { $0.addInteger(object, field, path: path, amount: number) }
        } else {
            try emit { $0.update(object, field, path: path, to: .scalar(.int(number))) }
        }
    }

    private mutating func changeScalars(_ object: ObjectReference) throws {
        let field: Text = pick(["maybe", "name", "any", "link"])
        let isNull = below(4) == 0
        let target = anyObject()
        let scalar: Scalar =
            switch field {
            case "maybe": isNull ? .null : .int(integer())
            case "name": .string(text())
            case "link": isNull ? .null : .link(target)
            default: pick([.null, .int(integer()), .string(text()), .bool(true), .link(target)])
            }
        try emit { $0.update(object, field, to: .scalar(scalar)) }
    }

    private mutating func changeLater(_ object: ObjectReference) throws {
        let field = Text("later\(below(3))")
        guard realm.value(field, of: object) != nil else { return }
        try changeCount(object, field, [])
    }

    private mutating func changePart(_ object: ObjectReference) throws {
        guard case .object(let part)? = realm.value("part", of: object) else {
            try emit { $0.update(object, "part", to: .objectValue) }
            return try changeCount(object, "part", [.string("count")])
        }
        guard below(4) > 0 else {
            return try emit { $0.update(object, "part", to: .scalar(.null)) }
        }
        try changePart(part, object, "part", [])
    }

    private mutating func changePart(
        _ part: Document,
        _ object: ObjectReference,
        _ field: Text,
        _ path: [ChangesetWriter.Step]
    ) throws {
        switch below(3) {
        case 0:
            try changeCount(object, field, path + [.string("count")])
        case 1:
            let note = text()
            try emit {
                $0.update(object, field, path: path + [.string("note")], to: .scalar(.string(note)))
            }
        default:
            guard let owner = realm.schema["Part"] else { return }
            let ints = part.value(of: "ints", in: owner)
            try changeInts(object, field, path + [.string("ints")], ints, canMove: true)
        }
    }

    private mutating func changeInts(
        _ object: ObjectReference,
        _ field: Text,
        _ path: [ChangesetWriter.Step],
        _ list: Value?,
        canMove: Bool
    ) throws {
        guard case .list(let elements)? = list else { return }
        try changeList(object, field, path, elements.count, .scalar(.int(integer())), canMove)
    }

    private mutating func changeList(
        _ object: ObjectReference,
        _ field: Text,
        _ path: [ChangesetWriter.Step],
        _ count: Int,
        _ content: ChangesetWriter.Content,
        _ canMove: Bool
    ) throws {
        let size = UInt32(count)
        let choice = size == 0 ? 0 : below(canMove ? 8 : 6)
        let index = UInt32(below(choice < 3 ? count + 1 : count))
        let element = path + [.index(index)]
        switch choice {
        case 0...2:
            try emit {
                $0.arrayInsert(object, field, path: element, content, priorSize: size)
            }
        case 3:
            try emit {
                $0.updateElement(object, field, path: element, to: content, priorSize: size)
            }
        case 4:
            try emit { $0.arrayErase(object, field, path: element, priorSize: size) }
        case 5:
            guard below(4) == 0 else { return }
            try emit { $0.clear(object, field, path: path, .list) }
        default:
            let destination = UInt32(below(count))
            guard destination != index else { return }
            try emit {
                $0.arrayMove(object, field, path: element, to: destination, priorSize: size)
            }
        }
    }

    private mutating func changeLinks(_ object: ObjectReference) throws {
        guard case .list(let elements)? = realm.value("links", of: object) else { return }
        try changeList(object, "links", [], elements.count, .scalar(.link(anyObject())), true)
    }

    /// N-MOVE: elements that are objects are not moved.
    private mutating func changeParts(_ object: ObjectReference) throws {
        guard case .list(let parts)? = realm.value("parts", of: object) else { return }
        if !parts.isEmpty, below(2) == 0 {
            let index = below(parts.count)
            guard case .object(let part) = parts[index] else { return }
            return try changePart(part, object, "parts", [.index(UInt32(index))])
        }
        try changeList(object, "parts", [], parts.count, .objectValue, false)
    }

    /// S-RAW: no strings, and nothing else that is compared by its offset.
    private mutating func changeSets(_ object: ObjectReference) throws {
        let isInts = below(2) == 0
        let field: Text = isInts ? "set" : "uuids"
        let value: Scalar = isInts ? .int(integer()) : .uuid(uuid())
        switch below(6) {
        case 0: try emit { $0.clear(object, field, .set) }
        case 1, 2: try emit { $0.setErase(object, field, value) }
        default: try emit { $0.setInsert(object, field, value) }
        }
    }

    private mutating func changeMap(_ object: ObjectReference) throws {
        let path: [ChangesetWriter.Step] = [.string(pick(["a", "b", "c"]))]
        let number = integer()
        switch below(8) {
        case 0: try emit { $0.clear(object, "map", .dictionary) }
        case 1, 2: try emit { $0.update(object, "map", path: path, to: .erased) }
        case 3: try emit { $0.update(object, "map", path: path, to: .scalar(.null)) }
        default: try emit { $0.update(object, "map", path: path, to: .scalar(.int(number))) }
        }
    }

    /// E-DICT: each client creates parts at its own keys, and changes those of all.
    private mutating func changePartMap(_ object: ObjectReference) throws {
        guard case .dictionary(let parts)? = realm.value("partMap", of: object) else { return }
        let own = Text("key\(number)")
        if parts[own] == nil {
            try emit { $0.update(object, "partMap", path: [.string(own)], to: .objectValue) }
        }
        let key = pick([own] + parts.keys.sorted())
        guard below(5) > 0 else {
            return try emit { $0.update(object, "partMap", path: [.string(key)], to: .erased) }
        }
        guard case .object(let part)? = parts[key] else { return }
        try changePart(part, object, "partMap", [.string(key)])
    }

    /// Lists and dictionaries in a list. N-MOVE: nothing is moved. N-CLEAR: nothing inside is
    /// cleared or incremented. M-PASS: collections are inserted, and do not replace others.
    private mutating func changeTree(_ object: ObjectReference) throws {
        guard case .list(let elements)? = realm.value("tree", of: object) else { return }
        let position = elements.isEmpty ? 0 : below(elements.count)
        let step = ChangesetWriter.Step.index(UInt32(position))
        if !elements.isEmpty, below(2) == 0 {
            switch elements[position] {
            case .list(let inner):
                let index = UInt32(below(inner.count + 1))
                let number = integer()
                return try emit {
                    $0.arrayInsert(
                        object,
                        "tree",
                        path: [step, .index(index)],
                        .scalar(.int(number)),
                        priorSize: UInt32(inner.count)
                    )
                }
            case .dictionary:
                let key: Text = pick(["a", "b"])
                let content: ChangesetWriter.Content =
                    below(4) == 0 ? .erased : .scalar(.int(integer()))
                return try emit {
                    $0.update(object, "tree", path: [step, .string(key)], to: content)
                }
            case .scalar, .set, .object:
                break
            }
        }
        let size = UInt32(elements.count)
        let content: ChangesetWriter.Content = pick([
            .list, .dictionary, .scalar(.string(text())),
        ])
        guard below(4) > 0, size > 0 else {
            return try emit {
                $0.arrayInsert(object, "tree", path: [step], content, priorSize: size)
            }
        }
        try emit { $0.arrayErase(object, "tree", path: [step], priorSize: size) }
    }
}

// MARK: Parts

extension RandomTransaction {
    private func value(of field: Text, _ object: ObjectReference) -> Value? {
        realm.value(field, of: object)
    }

    private mutating func anyObject() -> ObjectReference {
        ObjectReference(className: "Item", key: .int(Int64(below(3))))
    }

    private mutating func integer() -> Int64 {
        pick([0, 1, 2, 3, -1, .max])
    }

    private mutating func text() -> Text {
        Text(pick(["", "a", "b", "longer"]))
    }

    private mutating func uuid() -> UniqueID {
        UniqueID(bytes: Array(repeating: UInt8(below(3)), count: 16)) ?? .zero
    }

    private mutating func below(_ limit: Int) -> Int {
        Int.random(in: 0..<limit, using: &random)
    }

    private mutating func pick<Choice>(_ choices: [Choice]) -> Choice {
        choices[below(choices.count)]
    }
}
