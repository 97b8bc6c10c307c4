package import Changesets
package import Documents
import Schemas
import TestSupport
import Testing

/// A realm of the sample schema with the object `Everything[1]`, and instructions about it.
struct Fixture {
    private(set) var realm = InMemoryRealm(schema: SampleSchema.everything)
    private var strings = StringTable()

    static let object = ObjectReference(className: "Everything", key: .int(1))

    init() throws {
        try perform(create(Self.object))
    }

    // MARK: Applying

    mutating func perform(_ instructions: Instruction...) throws(BadInstruction) {
        try realm.apply(Changeset(strings: strings, instructions: instructions))
    }

    /// The error of a refused instruction, which must change nothing.
    mutating func refusal(
        of instructions: Instruction...,
        sourceLocation: SourceLocation = #_sourceLocation
    ) -> BadInstruction.Problem? {
        let before = realm
        let changeset = Changeset(strings: strings, instructions: instructions)
        let error = #expect(throws: BadInstruction.self, sourceLocation: sourceLocation) {
            try realm.apply(changeset)
        }
        #expect(error?.position == instructions.count - 1, sourceLocation: sourceLocation)
        #expect(realm == before, sourceLocation: sourceLocation)
        return error?.problem
    }

    func value(_ property: Text) -> Value? {
        realm.value(property, of: Self.object)
    }

    // MARK: Making instructions

    enum Step: ExpressibleByIntegerLiteral, ExpressibleByStringLiteral {
        case index(UInt32)
        case key(Text)

        init(integerLiteral value: UInt32) { self = .index(value) }
        init(stringLiteral value: String) { self = .key(Text(value)) }
    }

    mutating func create(_ object: ObjectReference) -> Instruction {
        .createObject(objectTarget(object))
    }

    mutating func erase(_ object: ObjectReference) -> Instruction {
        .eraseObject(objectTarget(object))
    }

    mutating func update(_ field: Text, _ path: Step..., to payload: Payload) -> Instruction {
        let target = target(field, path)
        return .update(
            .init(
                target: target,
                payload: payload,
                // Applying ignores the prior size of an Update.
                detail: target.index == nil ? .isDefault(false) : .priorSize(77)
            )
        )
    }

    mutating func add(_ amount: Int64, _ field: Text, _ path: Step...) -> Instruction {
        .addInteger(target(field, path), amount: amount)
    }

    mutating func insert(
        _ payload: Payload,
        _ field: Text,
        _ path: Step...,
        priorSize: UInt32
    ) -> Instruction {
        .arrayInsert(target(field, path), payload, priorSize: priorSize)
    }

    mutating func move(
        _ field: Text,
        _ path: Step...,
        to: UInt32,
        priorSize: UInt32
    ) -> Instruction {
        .arrayMove(target(field, path), to: to, priorSize: priorSize)
    }

    mutating func erase(_ field: Text, _ path: Step..., priorSize: UInt32) -> Instruction {
        .arrayErase(target(field, path), priorSize: priorSize)
    }

    mutating func clear(_ type: CollectionType, _ field: Text, _ path: Step...) -> Instruction {
        .clear(target(field, path), type)
    }

    mutating func setInsert(_ payload: Payload, _ field: Text, _ path: Step...) -> Instruction {
        .setInsert(target(field, path), payload)
    }

    mutating func setErase(_ payload: Payload, _ field: Text, _ path: Step...) -> Instruction {
        .setErase(.init(target: target(field, path), payload: payload))
    }

    mutating func link(_ className: Text, _ key: ObjectKey) -> Payload {
        let target = objectTarget(ObjectReference(className: className, key: key))
        return .link(className: target.className, key: target.key)
    }

    mutating func target(
        _ field: Text,
        _ path: [Step],
        of object: ObjectReference = Self.object
    ) -> Instruction.PathTarget {
        let path = path.map { step -> PathElement in
            switch step {
            case .index(let index): .index(index)
            case .key(let key): .string(strings.intern(key))
            }
        }
        return .init(object: objectTarget(object), field: strings.intern(field), path: path)
    }

    mutating func objectTarget(_ object: ObjectReference) -> Instruction.ObjectTarget {
        let key: PrimaryKey =
            switch object.key {
            case .null: .null
            case .int(let value): .int(value)
            case .string(let text): .string(strings.intern(text))
            case .objectID(let value): .objectID(value)
            case .uuid(let value): .uuid(value)
            case .globalKey(let value): .globalKey(value)
            }
        return .init(className: strings.intern(object.className), key: key)
    }
}

extension Value: ExpressibleByIntegerLiteral, ExpressibleByStringLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    package init(integerLiteral value: Int64) { self = .scalar(.int(value)) }
    package init(stringLiteral value: String) { self = .scalar(.string(Text(value))) }
    package init(arrayLiteral elements: Value...) { self = .list(elements) }

    package init(dictionaryLiteral elements: (Text, Value)...) {
        self = .dictionary(Dictionary(elements) { $1 })
    }
}

extension Value {
    static func link(_ className: Text, _ key: ObjectKey) -> Value {
        .scalar(.link(ObjectReference(className: className, key: key)))
    }

    static func set(_ elements: Scalar...) -> Value {
        .set(ValueSet(elements))
    }

    /// An object of the class `Part` with some values other than their defaults.
    static func part(_ values: [Text: Value] = [:]) -> Value {
        guard let schema = SampleSchema.everything["Part"] else { return .null }
        var document = Document(defaultsOf: schema)
        for (name, value) in values {
            if let position = schema.position(of: name) { document.values[position] = value }
        }
        return .object(document)
    }
}
