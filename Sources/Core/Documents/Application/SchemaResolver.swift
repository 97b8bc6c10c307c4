import Changesets
import Schemas

/// Looks up each class and property of a changeset once.
struct SchemaResolver {
    let schema: RealmSchema
    private let strings: StringTable
    /// Positions of classes in the schema.
    private var classes: PositionsByName
    /// For each class, the positions in `resolved` of its properties used so far.
    private var properties: [PositionsByName]
    private var resolved: [ResolvedProperty] = []
    /// For each of `resolved`, the same if it is plain.
    private var plain: [PlainProperty?] = []
    private var defaults: [Int: Document] = [:]

    init(schema: RealmSchema, strings: StringTable) {
        self.schema = schema
        self.strings = strings
        self.classes = PositionsByName(count: strings.count)
        self.properties = Array(
            repeating: PositionsByName(count: strings.count),
            count: schema.classes.count
        )
    }

    func text(_ index: InternIndex) -> Text {
        strings[index]
    }

    /// The position in the schema of the class with that name, of any kind.
    mutating func position(of name: InternIndex) throws(BadInstruction) -> Int {
        if let position = classes[name] { return position }
        guard let position = schema.position(of: strings[name]) else {
            throw BadInstruction(.unknownClass(strings[name]))
        }
        classes[name] = position
        return position
    }

    /// The position of a class whose objects have keys.
    mutating func owner(
        of target: Instruction.ObjectTarget
    ) throws(BadInstruction) -> Int {
        let position = try position(of: target.className)
        guard !schema.classes[position].isEmbedded else {
            throw BadInstruction(.embeddedClass(schema.classes[position].name))
        }
        return position
    }

    mutating func object(
        _ target: Instruction.ObjectTarget
    ) throws(BadInstruction) -> (classPosition: Int, object: ObjectReference) {
        let position = try owner(of: target)
        let key = objectKey(target.key)
        // Not a copy of the class: this runs once for each object.
        guard schema.classes[position].accepts(key) else {
            throw BadInstruction(.wrongKeyType(schema.classes[position].name))
        }
        return (position, ObjectReference(className: schema.classes[position].name, key: key))
    }

    /// The property of a class, by the position of the class in the schema.
    mutating func property(
        _ name: InternIndex,
        of classPosition: Int
    ) throws(BadInstruction) -> ResolvedProperty {
        if let known = properties[classPosition][name] { return resolved[known] }
        let owner = schema.classes[classPosition]
        guard let position = owner.position(of: strings[name]) else {
            if let primaryKey = owner.primaryKey, primaryKey.name == strings[name] {
                throw BadInstruction(.primaryKeyChange(owner.name))
            }
            throw BadInstruction(.unknownProperty(strings[name], in: owner.name))
        }
        let property = owner.properties[position]
        let new = ResolvedProperty(
            position: position,
            collection: property.collection,
            slot: Slot(
                element: try element(of: property.type),
                acceptsNull: property.acceptsNull,
                level: property.collection == .single ? 0 : 1
            )
        )
        properties[classPosition][name] = resolved.count
        resolved.append(new)
        plain.append(new.plain)
        return new
    }

    /// The same if it is plain; nil for an unknown property, too.
    @inline(__always)
    mutating func plainProperty(_ name: InternIndex, of classPosition: Int) -> PlainProperty? {
        if let known = properties[classPosition][name] { return plain[known] }
        return (try? property(name, of: classPosition))?.plain
    }

    /// A new object of the class.
    mutating func newDocument(of classPosition: Int) -> Document {
        if let document = defaults[classPosition] { return document }
        let document = Document(defaultsOf: schema.classes[classPosition])
        defaults[classPosition] = document
        return document
    }

    /// The target of a link, checked to be a valid one.
    mutating func link(
        _ className: InternIndex,
        _ key: PrimaryKey
    ) throws(BadInstruction) -> ObjectReference {
        let target = schema.classes[try position(of: className)]
        guard case .topLevel(let keySchema) = target.kind else {
            throw BadInstruction(.wrongLinkTarget(target.name))
        }
        let key = objectKey(key)
        guard keySchema.accepts(key) else { throw BadInstruction(.wrongKeyType(target.name)) }
        return ObjectReference(className: target.name, key: key)
    }

    private func objectKey(_ key: PrimaryKey) -> ObjectKey {
        switch key {
        case .null: .null
        case .int(let value): .int(value)
        case .string(let index): .string(strings[index])
        case .objectID(let value): .objectID(value)
        case .uuid(let value): .uuid(value)
        case .globalKey(let value): .globalKey(value)
        }
    }

    private func element(of type: PropertyType) throws(BadInstruction) -> Slot.Element {
        switch schema.elementType(of: type) {
        case .scalar(let scalar):
            return .scalar(scalar)
        case .mixed:
            return .mixed
        case .link(let target):
            return .link(className: target.className)
        case .embedded(let className):
            guard let position = schema.position(of: className) else {
                throw BadInstruction(.unknownClass(className))
            }
            return .embedded(classPosition: position)
        case nil:
            guard case .link(let target) = type else { preconditionFailure("only links resolve") }
            throw BadInstruction(.unknownClass(target))
        }
    }
}

/// Positions by the indexes of names in one changeset: an array is cheaper than hashing, with one
/// look-up for each instruction.
struct PositionsByName {
    private var positions: [Int?] = []
    private let count: Int

    init(count: Int) {
        self.count = count
    }

    subscript(name: InternIndex) -> Int? {
        get {
            let index = Int(name.rawValue)
            return index < positions.count ? positions[index] : nil
        }
        set {
            if positions.isEmpty { positions = Array(repeating: nil, count: count) }
            positions[Int(name.rawValue)] = newValue
        }
    }
}

struct ResolvedProperty {
    /// In `Document.values`.
    let position: Int
    let collection: CollectionType
    /// The type of the property's value, or if it is a collection, of each of its elements.
    let slot: Slot

    fileprivate var plain: PlainProperty? {
        guard collection == .single, case .scalar(let type) = slot.element else { return nil }
        return PlainProperty(position: position, type: type, acceptsNull: slot.acceptsNull)
    }
}

/// A place for one value: a single property, a list element, or the value under a dictionary key.
struct Slot {
    let element: Element
    let acceptsNull: Bool
    /// The number of collections around the place, the property's own included.
    let level: Int

    enum Element {
        case scalar(ScalarType)
        case mixed
        case link(className: Text)
        case embedded(classPosition: Int)
    }

    /// The rule for which of two equal values is kept.
    var equalValue: EqualValue {
        var isMixed = false
        if case .mixed = element { isMixed = true }
        return EqualValue(isMixed: isMixed, isElement: level > 0)
    }

    /// A place inside a collection in this one.
    var inner: Slot { Slot(element: element, acceptsNull: acceptsNull, level: level + 1) }
}
