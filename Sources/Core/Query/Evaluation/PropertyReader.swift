import Changesets
import Documents
import Schemas

/// Reads a property of an object, through links if the path has any.
struct PropertyReader {
    private let property: CheckedProperty

    init(_ property: CheckedProperty) {
        self.property = property
    }

    func read(_ object: any QueryableObject) -> ValueSequence {
        let isMany = property.leadsToMany
        switch property.target {
        case .object:
            let links = links(from: object)
            if property.endsWithIndex, !isMany {
                return ValueSequence(links, isList: property.quantifier != nil)
            }
            if property.suffix == .objectCount {
                let isUnreachable = !startsFromMany && origins(object).isEmpty
                return ValueSequence(isUnreachable ? .null : .int(Int64(links.count)))
            }
            if !isMany, links.isEmpty { return ValueSequence(.null) }
            return ValueSequence(links, isList: isMany)
        case .referrers(let origins):
            let counts = objects(object).map { object in
                origins.reduce(0) {
                    $0 + object.referrers(of: $1.className, through: $1.property).count
                }
            }
            return isMany
                ? ValueSequence(counts.map { .int(Int64($0)) }, isList: true)
                : ValueSequence(counts.first.map { .int(Int64($0)) } ?? .null)
        case .field(let field):
            return read(field, of: objects(object), isMany: isMany)
        }
    }

    // MARK: Links

    /// The objects at the end of the hops.
    func objects(_ object: any QueryableObject) -> [any QueryableObject] {
        property.hops.reduce([object]) { objects, hop in
            objects.flatMap { follow(hop, from: $0) }
        }
    }

    /// The objects that the last hop starts from.
    private func origins(_ object: any QueryableObject) -> [any QueryableObject] {
        property.hops.dropLast().reduce([object]) { objects, hop in
            objects.flatMap { follow(hop, from: $0) }
        }
    }

    private var startsFromMany: Bool {
        property.hops.dropLast().contains(where: \.leadsToMany)
    }

    private func follow(
        _ hop: CheckedProperty.Hop,
        from object: any QueryableObject
    ) -> [any QueryableObject] {
        switch hop {
        case .backlink(let className, let property):
            return object.referrers(of: className, through: property)
        case .link(let field, _, let index):
            return selected(object.value(of: field), index).compactMap { value in
                switch value {
                case .object(let document): EmbeddedObject(document: document, owner: object)
                case .scalar(.link(let reference)): object.object(reference)
                case .scalar, .list, .set, .dictionary: nil
                }
            }
        }
    }

    /// The links of the last hop, as values to compare.
    private func links(from object: any QueryableObject) -> [QueryValue] {
        guard case .link(let field, let target, let index) = property.hops.last else {
            return objects(object).map { _ in .link(Self.anonymous("")) }
        }
        return origins(object).flatMap { origin -> [QueryValue] in
            let value = origin.value(of: field)
            let chosen = selected(value, index)
            // A missing element is null, unless there is no element at all.
            if property.endsWithIndex, chosen.isEmpty {
                return value.isEmptyCollection ? [] : [.null]
            }
            return chosen.compactMap { value -> QueryValue? in
                switch value {
                case .object: .link(Self.anonymous(target))
                case .scalar(.link(let reference)): .link(reference)
                case .scalar: property.endsWithIndex ? .null : nil
                case .list, .set, .dictionary: nil
                }
            }
        }
    }

    /// Used for an object without a key.
    private static func anonymous(_ className: Text) -> ObjectReference {
        ObjectReference(className: className, key: .null)
    }

    /// The values of a property of links, or those an index picks.
    private func selected(_ value: Value, _ index: CheckedProperty.Index?) -> [Value] {
        switch value {
        case .scalar, .object: return [value]
        case .list(let elements):
            switch index {
            case .position(let position):
                return position < elements.count ? [elements[position]] : []
            case .last: return elements.suffix(1)
            case .all, .key, nil: return elements
            }
        case .set(let set): return set.elements.map { .scalar($0) }
        case .dictionary(let members):
            if case .key(let key) = index { return members[key].map { [$0] } ?? [] }
            return members.sorted { $0.key < $1.key }.map(\.value)
        }
    }

    // MARK: Fields

    private func read(
        _ field: QueryField,
        of objects: [any QueryableObject],
        isMany: Bool
    ) -> ValueSequence {
        let hasList = field.collection != .single || property.part != .whole
        if objects.isEmpty, !isMany {
            // Behind a null or dangling link a value is null, and a list is empty.
            guard hasList, property.suffix != .size else { return ValueSequence(.null) }
            return ValueSequence([], isList: isElementwise(field))
        }
        if objects.count == 1, !isMany {
            return read(objects[0].value(of: field), field)
        }
        let values = objects.flatMap { read($0.value(of: field), field).values }
        return ValueSequence(values, isList: true)
    }

    private func isElementwise(_ field: QueryField) -> Bool {
        switch property.part {
        case .whole: field.collection != .single
        case .keys, .length: true
        case .path(let indexes): indexes.contains(.all)
        }
    }

    private func read(_ value: Value, _ field: QueryField) -> ValueSequence {
        var sequence: ValueSequence
        switch property.part {
        case .whole:
            if property.suffix == .size { return ValueSequence(Self.size(of: value)) }
            sequence =
                field.collection == .single
                ? ValueSequence(Self.single(value))
                : ValueSequence(Self.elements(value), isList: true)
        case .keys:
            guard case .dictionary(let members) = value else {
                return ValueSequence([], isList: true)
            }
            // An empty dictionary has one key here, null, so that ANY can hold and NONE can fail.
            if members.isEmpty { return ValueSequence(.null) }
            sequence = ValueSequence(members.keys.sorted().map { .string($0.bytes) }, isList: true)
        case .length:
            return ValueSequence(
                Self.elements(value).compactMap { element in
                    if let bytes = element.bytes { return .int(Int64(bytes.count)) }
                    // A null string has no length, so its length is 0; other values of Mixed are
                    // left out.
                    return field.type == .mixed ? nil : .int(0)
                },
                isList: true
            )
        case .path(let indexes):
            sequence = Self.elements(at: indexes, in: value, suffix: property.suffix)
            if property.suffix == .size { return sequence }
        }
        if property.suffix == .kinds {
            sequence.values = sequence.values.map { .kinds(ValueKinds(of: $0)) }
        }
        return sequence
    }

    static func single(_ value: Value) -> QueryValue {
        switch value {
        case .scalar(let scalar): QueryValue(scalar)
        case .list(let elements): .nested(isList: true, count: elements.count)
        case .set(let set): .nested(isList: true, count: set.count)
        case .dictionary(let members): .nested(isList: false, count: members.count)
        case .object: .link(anonymous(""))
        }
    }

    private static func elements(_ value: Value) -> [QueryValue] {
        switch value {
        case .scalar, .object: []
        case .list(let elements): elements.map(single)
        case .set(let set): set.elements.map { QueryValue($0) }
        case .dictionary(let members):
            members.sorted { $0.key < $1.key }.map { single($0.value) }
        }
    }

    private static func size(of value: Value) -> QueryValue {
        switch value {
        case .scalar(.string(let text)): .int(Int64(text.bytes.count))
        case .scalar(.binary(let bytes)): .int(Int64(bytes.count))
        case .scalar, .object: .null
        case .list(let elements): .int(Int64(elements.count))
        case .set(let set): .int(Int64(set.count))
        case .dictionary(let members): .int(Int64(members.count))
        }
    }

    /// The values that the indexes select, each inside the one before.
    ///
    /// An empty collection has no element, not even null (query as recorded, 43).
    private static func elements(
        at indexes: [CheckedProperty.Index],
        in value: Value,
        suffix: CheckedProperty.Suffix?
    ) -> ValueSequence {
        var values = [value]
        var isList = false
        for index in indexes {
            isList = isList || index == .all || index == .key("@keys")
            values = values.flatMap { element(at: index, in: $0) }
        }
        return ValueSequence(
            values.map { suffix == .size ? size(of: $0) : single($0) },
            isList: isList || values.isEmpty
        )
    }

    private static func element(at index: CheckedProperty.Index, in value: Value) -> [Value] {
        switch (value, index) {
        case (.list(let elements), .position(let position)):
            if elements.isEmpty { return [] }
            return [position < elements.count ? elements[position] : .null]
        case (.list(let elements), .last): return elements.suffix(1)
        case (.list(let elements), .all): return elements
        case (.dictionary(let members), .key("@keys")):
            return members.keys.sorted().map { .scalar(.string($0)) }
        case (.dictionary(let members), .key(let key)):
            if members.isEmpty { return [] }
            return [members[key] ?? .null]
        case (.dictionary(let members), .all):
            return members.sorted { $0.key < $1.key }.map(\.value)
        case (.list, .key), (.dictionary, .position), (.dictionary, .last), (.scalar, _), (.set, _),
            (.object, _):
            return []
        }
    }
}

extension CheckedProperty {
    /// Whether the last hop picks one element of a list or dictionary of links.
    fileprivate var endsWithIndex: Bool {
        switch hops.last {
        case .link(_, _, .position), .link(_, _, .last), .link(_, _, .key): true
        case .link(_, _, .all), .link(_, _, nil), .backlink, nil: false
        }
    }
}

extension Value {
    fileprivate var isEmptyCollection: Bool {
        switch self {
        case .scalar, .object: false
        case .list(let elements): elements.isEmpty
        case .set(let set): set.isEmpty
        case .dictionary(let members): members.isEmpty
        }
    }
}
