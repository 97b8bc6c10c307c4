import Changesets
import Schemas

/// Looks up the path of a property in a schema (flexible sync, 12.2; query as recorded, 23 and 43).
struct PathResolver {
    let schema: RealmSchema
    /// The class the path starts in.
    let className: Text
    let scope: Int
    /// The variable of the subquery around the path, or an enclosing one; empty outside.
    let variable: Text

    func resolve(_ syntax: PropertySyntax) throws(LocatedProblem) -> CheckedProperty {
        var elements = syntax.path.elements[...]
        if case .name(let name) = elements.first, !variable.bytes.isEmpty, name == variable {
            elements = elements.dropFirst()
        }
        let offset = syntax.path.offset
        var walk = Walk(className: className)
        while let element = elements.first {
            guard try step(&walk, element, &elements, offset) else { break }
        }
        var property = CheckedProperty(
            hops: walk.hops,
            target: .object(className: walk.className),
            part: .whole,
            suffix: nil,
            quantifier: syntax.quantifier,
            type: .link,
            scope: scope,
            offset: offset
        )
        if walk.countsReferrers {
            property.target = .referrers(referrers(of: walk.className))
            property.type = .int
        } else if let field = walk.field {
            property.target = .field(field)
            // For comparisons, a dictionary can contain anything.
            property.type = field.collection == .dictionary ? .mixed : QueryType(field.type)
            if syntax.quantifier != nil, elements.isEmpty, field.collection == .single,
                !walk.isMany
            {
                throw needsList(syntax.quantifier, offset)
            }
            try select(elements, of: field, in: &property, hasSuffix: syntax.suffix != nil)
        } else if walk.hops.isEmpty {
            throw LocatedProblem(
                .unknownName,
                at: offset,
                "the path does not name a property",
                remedy: "name a property of \(walk.className)"
            )
        } else if syntax.quantifier != nil, !walk.isMany {
            throw needsList(syntax.quantifier, offset)
        }
        try append(syntax.suffix, to: &property)
        return property
    }

    private func needsList(_ quantifier: Quantifier?, _ offset: Int) -> LocatedProblem {
        LocatedProblem(
            .type,
            at: offset,
            "\(quantifier?.word ?? "") applies to no list here",
            remedy: "remove the word, or name a list"
        )
    }

    // MARK: Steps

    fileprivate struct Walk {
        var className: Text
        var hops: [CheckedProperty.Hop] = []
        var field: QueryField?
        var countsReferrers = false
        /// Whether a hop leads to several objects.
        var isMany = false
    }

    /// Consumes one or more elements. Returns whether the walk continues.
    private func step(
        _ walk: inout Walk,
        _ element: PathSyntax.Element,
        _ elements: inout ArraySlice<PathSyntax.Element>,
        _ offset: Int
    ) throws(LocatedProblem) -> Bool {
        guard case .name(let name) = element else {
            return try index(&walk, element, &elements, offset)
        }
        if name == "@links" {
            if elements.count == 1 {
                walk.countsReferrers = true
                elements = []
                return false
            }
            try backlink(&walk, &elements, offset)
            return true
        }
        if name == "@keys", walk.endsInDictionary, case .link(let field, _, _) = walk.hops.last {
            walk.hops.removeLast()
            walk.className = field.className
            walk.field = field
            return false
        }
        if name == "@values", walk.endsInDictionary {
            elements = elements.dropFirst()
            return true
        }
        guard let field = field(name, of: walk.className) else {
            return try index(&walk, element, &elements, offset)
        }
        elements = elements.dropFirst()
        guard case .link(let target) = field.type else {
            walk.field = field
            return false
        }
        walk.hops.append(.link(field, target: target, index: nil))
        walk.className = target
        if field.collection != .single { walk.isMany = true }
        return true
    }

    /// An index after a list or dictionary of links.
    private func index(
        _ walk: inout Walk,
        _ element: PathSyntax.Element,
        _ elements: inout ArraySlice<PathSyntax.Element>,
        _ offset: Int
    ) throws(LocatedProblem) -> Bool {
        guard case .link(let field, let target, nil) = walk.hops.last,
            let index = try checkedIndex(element, offset), accepts(index, field.collection)
        else {
            if case .name(let name) = element { throw unknownProperty(name, walk, offset) }
            throw LocatedProblem(
                .type,
                at: offset,
                "an index where \(walk.className) needs a property",
                remedy: "write the index after a list"
            )
        }
        walk.hops[walk.hops.count - 1] = .link(field, target: target, index: index)
        elements = elements.dropFirst()
        return true
    }

    private func accepts(_ index: CheckedProperty.Index, _ collection: CollectionType) -> Bool {
        switch (index, collection) {
        case (.all, .list), (.all, .dictionary), (.all, .set): true
        case (.position, .list), (.last, .list): true
        case (.key, .dictionary): true
        case (.position, _), (.last, _), (.key, _), (.all, _): false
        }
    }

    func checkedIndex(
        _ element: PathSyntax.Element,
        _ offset: Int
    ) throws(LocatedProblem) -> CheckedProperty.Index? {
        switch element {
        case .name(let name), .key(let name): return .key(name)
        case .index(let position): return .position(position)
        case .first: return .position(0)
        case .last: return .last
        case .all: return .all
        case .argument(let number): throw QueryChecker.missingArgument(number, offset)
        }
    }

    private func backlink(
        _ walk: inout Walk,
        _ elements: inout ArraySlice<PathSyntax.Element>,
        _ offset: Int
    ) throws(LocatedProblem) {
        let names = elements.dropFirst().prefix(2).compactMap { element in
            if case .name(let name) = element { name } else { nil }
        }
        guard names.count == 2 else {
            throw LocatedProblem(
                .unknownName,
                at: offset,
                "@links needs the class and the property that link here",
                remedy: "write @links.Class.property"
            )
        }
        let origin = Self.withoutPrefix(names[0])
        guard let field = field(names[1], of: origin), case .link(let target) = field.type,
            target == walk.className
        else {
            throw LocatedProblem(
                .unknownName,
                at: offset,
                "\(origin) has no property \(names[1]) that links to \(walk.className)",
                remedy: "name a class and its property that link here"
            )
        }
        walk.hops.append(.backlink(className: origin, property: names[1]))
        walk.className = origin
        walk.isMany = true
        elements = elements.dropFirst(3)
    }

    private func unknownProperty(_ name: Text, _ walk: Walk, _ offset: Int) -> LocatedProblem {
        LocatedProblem(
            .unknownName,
            at: offset,
            "\(walk.className) has no property \(name)",
            remedy: "name a property of \(walk.className)"
        )
    }

    func field(_ name: Text, of className: Text) -> QueryField? {
        guard let schema = schema[className] else { return nil }
        if let key = schema.primaryKey, key.name == name, !name.bytes.isEmpty {
            return QueryField(
                className: className,
                name: name,
                position: nil,
                type: key.type.propertyType,
                collection: .single,
                isNullable: key.isNullable
            )
        }
        guard let position = schema.position(of: name) else { return nil }
        let property = schema.properties[position]
        return QueryField(
            className: className,
            name: name,
            position: position,
            type: property.type,
            collection: property.collection,
            isNullable: property.acceptsNull
        )
    }

    private func referrers(of className: Text) -> [PropertyName] {
        schema.classes.flatMap { origin in
            origin.properties.filter { $0.type == .link(target: className) || $0.type == .mixed }
                .map { PropertyName(className: origin.name, property: $0.name) }
        }
    }

    /// A class name with the prefix of internal tables names the class without it.
    static func withoutPrefix(_ name: Text) -> Text {
        let prefix = Array("class_".utf8)
        guard name.bytes.count > prefix.count, name.bytes.starts(with: prefix) else { return name }
        return Text(bytes: Array(name.bytes.dropFirst(prefix.count)))
    }
}

extension PathResolver.Walk {
    fileprivate var endsInDictionary: Bool {
        guard field == nil, case .link(let field, _, nil) = hops.last else { return false }
        return field.collection == .dictionary
    }
}

extension CheckedProperty.Hop {
    /// Whether ANY, ALL and NONE apply after the hop: also if an index picks one object of a list.
    var leadsToMany: Bool {
        switch self {
        case .backlink: true
        case .link(let field, _, _): field.collection != .single
        }
    }

    var isOfList: Bool {
        if case .link(let field, _, _) = self { field.collection == .list } else { false }
    }

    var hasIndex: Bool {
        switch self {
        case .backlink, .link(_, _, nil), .link(_, _, .all): false
        case .link(_, _, .position), .link(_, _, .last), .link(_, _, .key): true
        }
    }
}

extension CheckedProperty {
    /// Whether the hops lead to several objects.
    var leadsToMany: Bool {
        var counted = hops[...]
        if case .object = target, hops.last?.hasIndex == true { counted = hops.dropLast() }
        return counted.contains(where: \.leadsToMany)
    }
}

extension Quantifier {
    var word: String {
        switch self {
        case .any: "ANY"
        case .all: "ALL"
        case .none: "NONE"
        }
    }
}

extension PrimaryKeyType {
    fileprivate var propertyType: PropertyType {
        switch self {
        case .int, .globalKey: .int
        case .string: .string
        case .objectID: .objectID
        case .uuid: .uuid
        }
    }
}
