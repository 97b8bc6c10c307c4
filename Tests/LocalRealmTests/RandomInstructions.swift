import Changesets
import Documents
import Schemas
import TestSupport

/// Instructions on few objects of a schema, which fit more often than random ones, but often enough
/// do not: every kind, every type, every path.
struct RandomInstructions {
    var random: SplitMix64
    private let values: RandomValues
    /// The properties of the first class that are written to: with few of them, lists get longer.
    private let focus: [PropertySchema]

    init(seed: UInt64, _ schema: RealmSchema) {
        random = SplitMix64(seed: seed)
        values = RandomValues(schema: schema)
        let properties = schema.classes[0].properties.shuffled(using: &random)
        let lists = properties.filter { $0.collection == .list }
        let dictionaries = properties.filter { $0.collection == .dictionary }
        focus = Array(lists.prefix(5) + dictionaries.prefix(4) + properties.prefix(10))
    }

    /// Some instructions, each of which fits the realm's state at that point, or not.
    mutating func changeset(on realm: InMemoryRealm, count: Int) -> Changeset {
        var strings = StringTable()
        var model = realm
        var instructions: [Instruction] = []
        for _ in 0..<count {
            let instruction = instruction(model, &strings)
            instructions.append(instruction)
            try? model.apply(Changeset(strings: strings, instructions: [instruction]))
        }
        return Changeset(strings: strings, instructions: instructions)
    }

    private mutating func below(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &random) }

    private mutating func chance(_ percent: Int) -> Bool { below(100) < percent }

    private mutating func pick<Element>(_ choices: [Element]) -> Element {
        choices[below(choices.count)]
    }

    // MARK: Objects

    private mutating func instruction(
        _ realm: InMemoryRealm,
        _ strings: inout StringTable
    ) -> Instruction {
        let owner =
            chance(85)
            ? realm.schema.classes[0] : pick(realm.schema.classes)
        let key = key(of: owner)
        let object = Instruction.ObjectTarget(
            className: strings.intern(chance(99) ? owner.name : "Nothing"),
            key: Self.primaryKey(key, &strings)
        )
        let document = realm.document(for: ObjectReference(className: owner.name, key: key))
        if document == nil ? chance(85) : chance(4) { return .createObject(object) }
        if chance(4) { return .eraseObject(object) }
        let properties = owner.name == realm.schema.classes[0].name ? focus : owner.properties
        guard !properties.isEmpty else { return .createObject(object) }
        let property = pick(properties)
        var target = Instruction.PathTarget(
            object: object,
            field: strings.intern(chance(99) ? property.name : pick(["_id", "nothing"]))
        )
        let value = document?.value(of: property.name, in: owner) ?? .null
        return edit(
            Place(value: value, property: property, isField: true),
            realm,
            &target,
            &strings
        )
    }

    private mutating func key(of owner: ClassSchema) -> ObjectKey {
        guard chance(98) else { return .string("of another kind") }
        let number = chance(60) ? 1 : below(3)
        guard let key = owner.primaryKey else { return .int(0) }
        if key.isNullable, number == 0 { return .null }
        return switch key.type {
        case .int: .int(Int64(number))
        case .string: .string(Text("k\(number)"))
        case .objectID: .objectID(.zero)
        case .uuid: .uuid(.zero)
        case .globalKey: .globalKey(GlobalKey(high: 7, low: UInt64(number)))
        }
    }

    private static func primaryKey(_ key: ObjectKey, _ strings: inout StringTable) -> PrimaryKey {
        switch key {
        case .null: .null
        case .int(let value): .int(value)
        case .string(let text): .string(strings.intern(text))
        case .objectID(let value): .objectID(value)
        case .uuid(let value): .uuid(value)
        case .globalKey(let value): .globalKey(value)
        }
    }

    // MARK: Places

    private struct Place {
        let value: Documents.Value
        /// Of the property, or of the one in whose collection the place is.
        let property: PropertySchema
        /// Not an element of a collection.
        let isField: Bool

        func inside(_ value: Documents.Value) -> Place {
            Place(value: value, property: property, isField: false)
        }
    }

    /// Goes deeper into the value, or makes an instruction here.
    private mutating func edit(
        _ place: Place,
        _ realm: InMemoryRealm,
        _ target: inout Instruction.PathTarget,
        _ strings: inout StringTable
    ) -> Instruction {
        guard target.path.count < 6, chance(90) else {
            return anything(place, target, realm, &strings)
        }
        switch place.value {
        case .list(let elements) where chance(85):
            let index = below(elements.count + 1)
            target.path.append(.index(UInt32(index)))
            if index < elements.count, chance(40) {
                return edit(place.inside(elements[index]), realm, &target, &strings)
            }
            return listEdit(elements.count, place, target, realm, &strings)
        case .dictionary(let members) where chance(85):
            let key = pick([
                "", "a", "b", "c\u{0}", chance(95) ? "d" : "$e", chance(95) ? "f" : "g.h",
            ])
            target.path.append(.string(strings.intern(Text(key))))
            if let member = members[Text(key)], chance(40) {
                return edit(place.inside(member), realm, &target, &strings)
            }
            if chance(10) { return .clear(target, .list) }
            return .update(
                .init(
                    target: target,
                    payload: chance(15) ? .erased : payload(place.property, realm, &strings),
                    detail: .isDefault(false)
                )
            )
        case .object(let document) where chance(85):
            guard case .link(let name) = place.property.type, let owner = realm.schema[name] else {
                return anything(place, target, realm, &strings)
            }
            let position = below(owner.properties.count)
            target.path.append(.string(strings.intern(owner.properties[position].name)))
            let inner = Place(
                value: document.values[position],
                property: owner.properties[position],
                isField: true
            )
            return edit(inner, realm, &target, &strings)
        case .set where chance(90):
            let payload = payload(place.property, realm, &strings)
            return chance(70)
                ? .setInsert(target, payload) : .setErase(.init(target: target, payload: payload))
        default:
            return anything(place, target, realm, &strings)
        }
    }

    private mutating func listEdit(
        _ size: Int,
        _ place: Place,
        _ target: Instruction.PathTarget,
        _ realm: InMemoryRealm,
        _ strings: inout StringTable
    ) -> Instruction {
        let priorSize = UInt32(chance(97) ? size : size + 1)
        switch below(9) {
        case 0: return .arrayErase(target, priorSize: priorSize)
        case 1...2: return .arrayMove(target, to: UInt32(below(size + 1)), priorSize: priorSize)
        case 3:
            return .update(
                .init(
                    target: target,
                    payload: payload(place.property, realm, &strings),
                    detail: .priorSize(priorSize)
                )
            )
        default:
            return .arrayInsert(
                target,
                payload(place.property, realm, &strings),
                priorSize: priorSize
            )
        }
    }

    private mutating func anything(
        _ place: Place,
        _ target: Instruction.PathTarget,
        _ realm: InMemoryRealm,
        _ strings: inout StringTable
    ) -> Instruction {
        var target = target
        if chance(6) { target.path.append(chance(50) ? .index(0) : .string(strings.intern("a"))) }
        let payload = payload(place.property, realm, &strings)
        switch below(20) {
        case 0...2:
            let types: [CollectionType] = [.single, .list, .set, .dictionary]
            return .clear(target, chance(60) ? place.property.collection : pick(types))
        case 3...4: return .addInteger(target, amount: pick([1, -3, .max]))
        case 5: return .setInsert(target, payload)
        case 6: return .setErase(.init(target: target, payload: payload))
        case 7:
            // On the wire, these always end in an index.
            if target.index == nil { target.path.append(.index(UInt32(below(2)))) }
            return .arrayInsert(target, payload, priorSize: UInt32(below(2)))
        default:
            let detail: Instruction.Update.Detail =
                target.index == nil ? .isDefault(chance(10)) : .priorSize(9)
            return .update(.init(target: target, payload: payload, detail: detail))
        }
    }

    // MARK: Payloads

    private mutating func payload(
        _ property: PropertySchema,
        _ realm: InMemoryRealm,
        _ strings: inout StringTable
    ) -> Payload {
        if chance(8) {
            return pick([.null, .objectValue, .list, .dictionary, .set, .erased, .int(1)])
        }
        if chance(3) {
            let classes = ["Part", "Nothing", "Target", "Other", "Everything", "Keyless"]
            let key: PrimaryKey = pick([.null, .int(1), .uuid(.zero)])
            return .link(className: strings.intern(Text(pick(classes))), key: key)
        }
        if property.type == .mixed, chance(25) { return pick([.list, .dictionary]) }
        if case .embedded = realm.schema.elementType(of: property) {
            return chance(80) ? .objectValue : .null
        }
        let single = PropertySchema(
            name: property.name,
            type: property.type,
            isNullable: property.isNullable
        )
        // Deep enough that Mixed cannot be a collection.
        let value = values.value(of: single, using: &random, depth: 9)
        guard case .scalar(let scalar) = value else { return .null }
        return payload(scalar, &strings)
    }

    private func payload(_ scalar: Scalar, _ strings: inout StringTable) -> Payload {
        switch scalar {
        case .null: .null
        case .int(let value): .int(value)
        case .bool(let value): .bool(value)
        case .string(let value): .string(value)
        case .binary(let value): .binary(value)
        case .timestamp(let value): .timestamp(value)
        case .float(let value): .float(value)
        case .double(let value): .double(value)
        case .decimal(let value): .decimal(value)
        case .objectID(let value): .objectID(value)
        case .uuid(let value): .uuid(value)
        case .link(let link):
            .link(
                className: strings.intern(link.className),
                key: Self.primaryKey(link.key, &strings)
            )
        }
    }
}
