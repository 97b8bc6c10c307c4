import Changesets
import ClientReset
import Documents
import Schemas

/// One side of an example: a realm, and the changes to it, one changeset per step or one for all.
struct Script {
    private(set) var realm: InMemoryRealm
    private(set) var changesets: [Changeset] = []
    private var pending = ChangesetWriter()
    private let isOneChangeset: Bool

    static let owner = ObjectReference(className: "Owner", key: .int(0))

    static func item(_ number: Int64) -> ObjectReference {
        ObjectReference(className: "Item", key: .int(number))
    }

    init(_ realm: InMemoryRealm, isOneChangeset: Bool = false) {
        self.realm = realm
        self.isOneChangeset = isOneChangeset
    }

    /// Performs steps like "+4 -4 del4 move3>4 4@0 clear new6 owner- owner+" on the property "list",
    /// "set" or "dictionary".
    mutating func run(_ steps: String, on property: Text) throws {
        for step in steps.split(separator: " ") {
            try run(step, on: property)
        }
        try finish()
    }

    mutating func perform(_ write: (inout ChangesetWriter) -> Void) throws {
        var step = ChangesetWriter()
        write(&step)
        try realm.apply(try Changeset(decoding: step.bytes))
        if isOneChangeset {
            write(&pending)
        } else {
            changesets.append(try Changeset(decoding: step.bytes))
        }
    }

    mutating func finish() throws {
        guard !pending.isEmpty else { return }
        changesets.append(try Changeset(decoding: pending.bytes))
        pending = ChangesetWriter()
    }

    struct UnknownStep: Error {
        let step: Substring
    }
}

// MARK: Steps

extension Script {
    private mutating func run(_ step: Substring, on property: Text) throws {
        let numbers = step.split { !$0.isNumber }.compactMap { Int64($0) }
        if step == "clear" {
            try clear(property)
        } else if step == "owner-" {
            try perform { $0.eraseObject(Self.owner) }
        } else if step == "owner+" {
            try perform { $0.createObject(Self.owner) }
        } else if step.hasPrefix("new"), let number = numbers.first {
            try perform { $0.createObject(Self.item(number)) }
        } else if step.hasPrefix("del"), let number = numbers.first {
            try delete(Self.item(number))
        } else if step.hasPrefix("move") {
            try move(property, Int(numbers[0]), Int(numbers[1]))
        } else if step.hasPrefix("+"), let number = numbers.first {
            try add(number, to: property, at: nil)
        } else if step.hasPrefix("-"), let number = numbers.first {
            try remove(number, from: property)
        } else if numbers.count == 2 {
            try add(numbers[0], to: property, at: Int(numbers[1]))
        } else {
            throw UnknownStep(step: step)
        }
    }

    private mutating func add(_ number: Int64, to property: Text, at index: Int?) throws {
        let link = Scalar.link(Self.item(number))
        let size = list(property).count
        try perform { writer in
            switch property {
            case "list":
                let path = [ChangesetWriter.Step.index(UInt32(index ?? size))]
                let (owner, size) = (Self.owner, UInt32(size))
                writer.arrayInsert(owner, property, path: path, .scalar(link), priorSize: size)
            case "set":
                writer.setInsert(Self.owner, property, link)
            default:
                let key = ChangesetWriter.Step.string(Text("k\(number)"))
                writer.update(Self.owner, property, path: [key], to: .scalar(link))
            }
        }
    }

    private mutating func remove(_ number: Int64, from property: Text) throws {
        let link = Scalar.link(Self.item(number))
        let (elements, owner) = (list(property), Self.owner)
        try perform { writer in
            switch property {
            case "list":
                guard let index = elements.firstIndex(of: .scalar(link)) else { return }
                let (path, size) = ([ChangesetWriter.Step.index(UInt32(index))], elements.count)
                writer.arrayErase(owner, property, path: path, priorSize: UInt32(size))
            case "set":
                writer.setErase(owner, property, link)
            default:
                let key = ChangesetWriter.Step.string(Text("k\(number)"))
                writer.update(owner, property, path: [key], to: .erased)
            }
        }
    }

    private mutating func move(_ property: Text, _ from: Int, _ to: Int) throws {
        let size = UInt32(list(property).count)
        try perform { writer in
            let path = [ChangesetWriter.Step.index(UInt32(from))]
            writer.arrayMove(Self.owner, property, path: path, to: UInt32(to), priorSize: size)
        }
    }

    private mutating func clear(_ property: Text) throws {
        let type: CollectionType =
            property == "list" ? .list : property == "set" ? .set : .dictionary
        try perform { $0.clear(Self.owner, property, type) }
    }

    /// A local deletion, which clears the links to the object first (local realm, 4.4).
    private mutating func delete(_ object: ObjectReference) throws {
        for property: Text in ["list", "set", "dictionary"] {
            guard case .int(let number) = object.key else { return }
            let link = Value.scalar(.link(object))
            switch realm.value(property, of: Self.owner) {
            case .list(let elements):
                for _ in elements where elements.contains(link) {
                    guard list(property).contains(link) else { break }
                    try remove(number, from: property)
                }
            case .set(let elements):
                if elements.contains(.link(object)) { try remove(number, from: property) }
            case .dictionary(let members):
                for key in members.keys.sorted() where members[key] == link {
                    try perform {
                        $0.update(Self.owner, property, path: [.string(key)], to: .scalar(.null))
                    }
                }
            case .scalar, .object, nil: break
            }
        }
        try perform { $0.eraseObject(object) }
    }

    func list(_ property: Text) -> [Value] {
        guard case .list(let elements) = realm.value(property, of: Self.owner) else { return [] }
        return elements
    }
}

// MARK: The start

extension Script {
    static let schema = RealmSchema([
        ClassSchema(
            name: "Item",
            kind: .topLevel(.init(name: "_id", type: .int, isNullable: false))
        ),
        ClassSchema(
            name: "Part",
            kind: .embedded,
            properties: [
                PropertySchema(name: "n", type: .int, isNullable: true),
                PropertySchema(name: "to", type: .link(target: "Item"), isNullable: true),
                PropertySchema(name: "words", type: .string, isNullable: false, collection: .list),
            ]
        ),
        ClassSchema(
            name: "Owner",
            kind: .topLevel(.init(name: "_id", type: .int, isNullable: false)),
            properties: [
                link("list", .list), link("set", .set), link("dictionary", .dictionary),
                link("one", .single),
                PropertySchema(name: "words", type: .string, isNullable: false, collection: .list),
                PropertySchema(name: "tags", type: .string, isNullable: false, collection: .set),
                PropertySchema(name: "map", type: .int, isNullable: true, collection: .dictionary),
                PropertySchema(name: "a", type: .int, isNullable: true),
                PropertySchema(name: "b", type: .int, isNullable: true),
                PropertySchema(name: "any", type: .mixed, isNullable: true),
                PropertySchema(name: "part", type: .link(target: "Part"), isNullable: true),
                PropertySchema(
                    name: "parts",
                    type: .link(target: "Part"),
                    isNullable: false,
                    collection: .list
                ),
            ]
        ),
    ])

    private static func link(_ name: Text, _ collection: CollectionType) -> PropertySchema {
        PropertySchema(
            name: name,
            type: .link(target: "Item"),
            isNullable: collection == .single || collection == .dictionary,
            collection: collection
        )
    }

    /// The owner with links to 1, 2 and 3; 4 and 5 also exist. Words are A and B.
    static func start() throws -> InMemoryRealm {
        var script = Script(InMemoryRealm(schema: schema))
        try script.run("owner+ new1 new2 new3 new4 new5", on: "list")
        for property: Text in ["list", "set", "dictionary"] {
            try script.run("+1 +2 +3", on: property)
        }
        try script.perform { writer in
            for (index, word) in ["A", "B"].enumerated() {
                let path = [ChangesetWriter.Step.index(UInt32(index))]
                let content = ChangesetWriter.Content.scalar(.string(Text(word)))
                let size = UInt32(index)
                writer.arrayInsert(owner, "words", path: path, content, priorSize: size)
            }
        }
        return script.realm
    }

    /// The state after the recovery of the local changes on top of the remote ones. Checks that the
    /// new changesets do the same to the remote state.
    static func recover(
        local: Script,
        remote: Script
    ) throws -> (realm: InMemoryRealm, discarded: [DiscardedChange]) {
        var recovery = Recovery(fresh: remote.realm, local: local.realm)
        var replayed = remote.realm
        for changeset in local.changesets {
            let bytes = try recovery.replay(changeset)
            try replayed.apply(try Changeset(decoding: bytes))
        }
        let recovered = remote.realm.applying(recovery.state)
        guard recovered == replayed else { throw Divergence() }
        var transferred = local.realm
        _ = try transferred.becomeEqual(to: recovered)
        guard transferred == recovered else { throw Divergence() }
        return (transferred, recovery.discarded)
    }

    /// The recorded, recovered and transferred states differ.
    struct Divergence: Error {}
}
