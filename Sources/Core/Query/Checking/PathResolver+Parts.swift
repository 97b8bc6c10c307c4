import Changesets
import Schemas

/// The parts after the name of a field: indexes, keys, `.length`, `.@count`, `.@type`.
extension PathResolver {
    func select(
        _ elements: ArraySlice<PathSyntax.Element>,
        of field: QueryField,
        in property: inout CheckedProperty,
        hasSuffix: Bool
    ) throws(LocatedProblem) {
        guard let first = elements.first else { return }
        let offset = property.offset
        guard elements.count == 1 || field.type == .mixed else {
            throw LocatedProblem(
                .type,
                at: offset,
                "only a property of type mixed can hold nested collections",
                remedy: "remove what follows \(field.name)"
            )
        }
        var indexes: [CheckedProperty.Index] = []
        for element in elements {
            if let index = try checkedIndex(element, offset) { indexes.append(index) }
        }
        switch (field.collection, indexes[0]) {
        case (.single, _) where field.type == .mixed:
            property.part = .path(indexes)
        case (.dictionary, .key(let key)):
            switch key {
            case "@values": break
            case "@keys":
                property.part = .keys
                property.type = .string
            default: property.part = .path(indexes)
            }
        case (.dictionary, .all) where elements.count == 1: break
        case (.dictionary, .all): property.part = .path(indexes)
        case (.list, .position), (.list, .last): property.part = .path(indexes)
        case (.list, .all):
            property.part = elements.count == 1 && field.type != .mixed ? .whole : .path(indexes)
        case (.list, .key(let key)), (.set, .key(let key)):
            guard key.isLength, elements.count == 1, !hasSuffix,
                QueryType(field.type).isBytes || field.type == .mixed
            else {
                throw unsupported(first, of: field, offset)
            }
            property.part = .length
            property.type = .int
        case (.single, _), (.dictionary, .position), (.dictionary, .last), (.set, .position),
            (.set, .last), (.set, .all):
            throw unsupported(first, of: field, offset)
        }
    }

    private func unsupported(
        _ element: PathSyntax.Element,
        of field: QueryField,
        _ offset: Int
    ) -> LocatedProblem {
        switch element {
        case .name(let name), .key(let name):
            LocatedProblem(
                .unknownName,
                at: offset,
                "\(field.name) has no property \(name)",
                remedy: "remove what follows \(field.name)"
            )
        case .index, .first, .last, .all, .argument:
            LocatedProblem(
                .type,
                at: offset,
                "\(field.name) has no elements with that index",
                remedy: "remove what follows \(field.name)"
            )
        }
    }

    func append(
        _ suffix: PropertySyntax.Suffix?,
        to property: inout CheckedProperty
    ) throws(LocatedProblem) {
        switch suffix {
        case nil: break
        case .count(let word):
            guard let suffix = countSuffix(of: property) else {
                throw unsupported(word, property)
            }
            property.suffix = suffix
            property.type = .int
        case .type:
            property.suffix = .kinds
            property.type = .kinds
        // Other properties have one type, so only Mixed and dictionaries are checked.
        }
    }

    private func countSuffix(of property: CheckedProperty) -> CheckedProperty.Suffix? {
        switch property.target {
        case .referrers: return .objectCount
        case .object: return .objectCount
        case .field(let field):
            if property.part == .length || property.part == .keys { return nil }
            if field.collection != .single { return .size }
            let type = QueryType(field.type)
            return type.isBytes || type == .mixed ? .size : nil
        }
    }

    private func unsupported(_ word: String, _ property: CheckedProperty) -> LocatedProblem {
        LocatedProblem(
            .type,
            at: property.offset,
            "\(word) does not apply to a property of type \(property.type.name)",
            remedy: "compare the property itself"
        )
    }
}

extension Text {
    /// `length` in any case.
    fileprivate var isLength: Bool {
        bytes.count == 6 && String(decoding: bytes, as: UTF8.self).lowercased() == "length"
    }
}
