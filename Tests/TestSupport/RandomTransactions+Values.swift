import Changesets
import Documents
import Schemas

// MARK: Single values

extension RandomTransactions {
    /// Changes one value: a field, a list element or a dictionary member.
    mutating func changeSlot(
        _ value: Value,
        of property: PropertySchema,
        at place: Place,
        _ draft: inout TransactionDraft
    ) throws {
        if case .link(let target) = property.type, let schema = draft.realm.schema[target],
            schema.isEmbedded
        {
            return try changeEmbedded(value, schema, at: place, &draft)
        }
        switch value {
        case .scalar(.int) where place.priorSize == nil && isField(place, draft) && chance(3):
            let amount = Int64(below(5)) - 2
            try draft.perform {
                $0.addInteger(place.object, place.field, path: place.path, amount: amount)
            }
        case .scalar:
            let content = newContent(of: property, at: place)
            if property.type == .mixed, !mixedUse.writesScalars, case .scalar = content { return }
            try draft.perform { place.write(content, to: &$0) }
        case .list(let elements):
            if try replaceCollection(at: place, &draft) { return }
            try changeList(elements, of: .nested(.list), at: place, &draft)
        case .dictionary(let members):
            if try replaceCollection(at: place, &draft) { return }
            try changeDictionary(members, of: .nested(.dictionary), at: place, &draft)
        case .set, .object:
            preconditionFailure("sets and embedded objects have been dealt with")
        }
    }

    /// Not a list element or dictionary member: a number cannot be added to such, and clearing one does
    /// not converge.
    private func isField(_ place: Place, _ draft: TransactionDraft) -> Bool {
        guard !place.path.isEmpty else { return true }
        var owner = place
        owner.path.removeLast()
        if case .object = draft.value(at: owner) { return true }
        return false
    }

    private mutating func replaceCollection(
        at place: Place,
        _ draft: inout TransactionDraft
    ) throws -> Bool {
        guard isSettledCollection(place), chance(5) else { return false }
        let scalar = newScalar(.mixed)
        try draft.perform { place.write(.scalar(scalar), to: &$0) }
        return true
    }

    /// Whether the value has been a collection for all peers since they last agreed (M-PASS).
    private func isSettledCollection(_ place: Place) -> Bool {
        switch settledValue(at: place) {
        case .list, .dictionary: true
        case nil, .scalar, .set, .object: false
        }
    }

    private mutating func changeEmbedded(
        _ value: Value,
        _ schema: ClassSchema,
        at place: Place,
        _ draft: inout TransactionDraft
    ) throws {
        guard case .object(let document) = value else {
            return try draft.perform { place.write(.objectValue, to: &$0) }
        }
        let isElement = place.priorSize != nil
        if !isElement, chance(8) {
            return try draft.perform { place.write(.scalar(.null), to: &$0) }
        }
        let position = below(schema.properties.count)
        try change(
            schema.properties[position],
            document.values[position],
            at: place.inside(schema.properties[position].name),
            &draft
        )
    }

    private mutating func newContent(
        of property: PropertySchema,
        at place: Place
    ) -> ChangesetWriter.Content {
        guard property.type == .mixed else { return .scalar(newScalar(property)) }
        return newMixedContent(at: place) ?? .scalar(newScalar(property))
    }

    /// A collection, perhaps.
    private mutating func newMixedContent(at place: Place) -> ChangesetWriter.Content? {
        guard place.path.count < 4, !isSettledCollection(place) else { return nil }
        switch mixedUse {
        case .free, .oneCreator:
            guard chance(3), mixedUse == .free || peer == 0 else { return nil }
            return chance(2) ? .list : .dictionary
        case .lists:
            return .list
        case .dictionaries:
            return .dictionary
        }
    }

    private mutating func newScalar(_ property: PropertySchema) -> Scalar {
        if property.acceptsNull, chance(6) { return .null }
        switch property.type {
        case .int: return .int(Int64(below(10)))
        case .string: return .string(Text(pick(["a", "b", "cc"])))
        case .bool: return .bool(chance(2))
        case .double: return .double(DoubleBits(Double(below(3))))
        case .link(let target):
            return .link(ObjectReference(className: target, key: .int(Int64(below(4)))))
        case .mixed:
            switch below(4) {
            case 0: return .string("m")
            case 1: return .link(ObjectReference(className: "Thing", key: .int(Int64(below(4)))))
            default: return .int(Int64(below(10)))
            }
        case .binary, .timestamp, .float, .decimal, .objectID, .uuid:
            preconditionFailure("the base schema has no property of type \(property.type)")
        }
    }
}

// MARK: Collections

extension RandomTransactions {
    mutating func changeList(
        _ elements: [Value],
        of property: PropertySchema,
        at place: Place,
        _ draft: inout TransactionDraft
    ) throws {
        let size = elements.count
        guard size > 0, !(size < 6 && chance(3)) else {
            return try insert(property, at: place.inside(below(size + 1), of: size), &draft)
        }
        let index = below(size)
        let element = place.inside(index, of: size)
        let (object, field, path) = (place.object, place.field, element.path)
        switch below(10) {
        case 0, 1:
            try draft.perform {
                $0.arrayErase(object, field, path: path, priorSize: UInt32(size))
            }
        case 2, 3:
            let destination = below(size)
            guard destination != index, property.isFlat else { return }
            try draft.perform {
                $0.arrayMove(
                    object,
                    field,
                    path: path,
                    to: UInt32(destination),
                    priorSize: UInt32(size)
                )
            }
        case 4:
            guard isField(place, draft) else { return }
            try draft.perform { $0.clear(object, field, path: place.path, .list) }
        default:
            try changeSlot(elements[index], of: property, at: element, &draft)
        }
    }

    private mutating func insert(
        _ property: PropertySchema,
        at place: Place,
        _ draft: inout TransactionDraft
    ) throws {
        // What is inserted is new to all: only later writes to it can conflict.
        var content =
            property.type == .mixed && chance(2)
            ? .scalar(newScalar(property)) : newContent(of: property, at: place)
        if case .link(let target) = property.type, draft.realm.schema[target]?.isEmbedded == true {
            content = .objectValue
        }
        let priorSize = place.priorSize ?? 0
        try draft.perform {
            $0.arrayInsert(
                place.object,
                place.field,
                path: place.path,
                content,
                priorSize: priorSize
            )
        }
    }

    mutating func changeDictionary(
        _ members: [Text: Value],
        of property: PropertySchema,
        at place: Place,
        _ draft: inout TransactionDraft
    ) throws {
        if chance(12), isField(place, draft) {
            return try draft.perform {
                $0.clear(place.object, place.field, path: place.path, .dictionary)
            }
        }
        var keys: [Text] = ["a", "b"]
        if case .link = property.type {
            // Only one peer creates an object at each of these (E-DICT).
            keys = ["k0", "k1", "k2", "k3"]
        }
        let key = pick(keys)
        let member = place.inside(key)
        guard let value = members[key], value != .null || property.isFlat else {
            if case .link = property.type, key != keys[peer] { return }
            return try changeSlot(.null, of: property, at: member, &draft)
        }
        if chance(5), mayErase(value, at: member, of: property) {
            try draft.perform { member.write(.erased, to: &$0) }
        } else {
            try changeSlot(value, of: property, at: member, &draft)
        }
    }

    private func mayErase(_ value: Value, at place: Place, of property: PropertySchema) -> Bool {
        switch value {
        case .list, .dictionary, .set: isSettledCollection(place)
        case .object: true
        case .scalar: property.type != .mixed || mixedUse.writesScalars
        }
    }

    mutating func changeSet(
        _ elements: ValueSet,
        of property: PropertySchema,
        at place: Place,
        _ draft: inout TransactionDraft
    ) throws {
        let (object, field, path) = (place.object, place.field, place.path)
        if chance(12) {
            try draft.perform { $0.clear(object, field, path: path, .set) }
        } else if chance(2), let element = elements.elements.randomElement(using: &random),
            property.type != .string
        {
            try draft.perform { $0.setErase(object, field, path: path, element) }
        } else {
            let element = newScalar(property)
            try draft.perform { $0.setInsert(object, field, path: path, element) }
        }
    }
}

extension PropertySchema {
    /// A property of type Mixed, for Mixed values and the elements of collections in them.
    fileprivate static let mixed = PropertySchema(name: "", type: .mixed, isNullable: true)

    fileprivate static func nested(_ collection: CollectionType) -> PropertySchema {
        PropertySchema(name: "", type: .mixed, isNullable: true, collection: collection)
    }

    /// Whether elements have nothing inside (N-MOVE).
    fileprivate var isFlat: Bool {
        switch type {
        case .mixed, .link: false
        default: true
        }
    }
}

extension RandomTransactions.MixedUse {
    fileprivate var writesScalars: Bool {
        self == .free || self == .oneCreator
    }
}
