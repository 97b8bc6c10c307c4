import Changesets

/// Paths of properties in canonical text.
enum CanonicalPath {
    static func bytes(_ property: CheckedProperty, _ query: CheckedQuery) -> [UInt8] {
        let quantifier = property.quantifier.map { "\($0.word) " } ?? ""
        return Array(quantifier.utf8) + path(property, query) + suffix(property)
    }

    static func bytes(_ aggregate: CheckedAggregate, _ query: CheckedQuery) -> [UInt8] {
        guard aggregate.isOfLinks, case .field(let field) = aggregate.property.target else {
            return path(aggregate.property, query, isAggregate: true)
                + Array(".\(aggregate.function.rawValue)".utf8)
        }
        var list = aggregate.property
        list.target = .object(className: .empty)
        return path(list, query) + Array(".\(aggregate.function.rawValue).".utf8)
            + NameText.escaped(field.name)
    }

    /// As in SORT and DISTINCT.
    static func unescapedBytes(_ property: CheckedProperty) -> [UInt8] {
        var names = property.hops.map { hop in
            switch hop {
            case .link(let field, _, let index): field.name.bytes + bytes(index)
            case .backlink(let className, let property):
                Array("@links.".utf8) + className.bytes + [UInt8(ascii: ".")] + property.bytes
            }
        }
        if case .field(let field) = property.target { names.append(field.name.bytes) }
        let path = Array(names.joined(separator: [UInt8(ascii: ".")]))
        guard case .path(let indexes) = property.part else { return path }
        return path + indexes.flatMap { bytes($0) }
    }

    /// `$x` for the outermost subquery, `$y` for one inside it, and so on.
    static func variable(ofDepth depth: Int) -> String {
        let letters = Array("xyzabcdefghijklmnopqrstuvw")
        return "$" + String(letters[(depth - 1) % letters.count])
    }

    private static func path(
        _ property: CheckedProperty,
        _ query: CheckedQuery,
        isAggregate: Bool = false
    ) -> [UInt8] {
        var parts: [[UInt8]] = []
        let depth = query.scopes[property.scope].depth
        if depth > 0 { parts.append(Array(variable(ofDepth: depth).utf8)) }
        for hop in property.hops {
            switch hop {
            case .link(let field, _, let index):
                parts.append(NameText.escaped(field.name) + bytes(index))
            case .backlink(let className, let property):
                parts.append(
                    Array("@links.".utf8) + className.bytes + [UInt8(ascii: ".")]
                        + NameText.escaped(property)
                )
            }
        }
        switch property.target {
        case .field(let field):
            parts.append(NameText.escaped(field.name) + part(property, field, isAggregate))
        case .referrers: parts.append(Array("@links".utf8))
        case .object: break
        }
        return Array(parts.joined(separator: [UInt8(ascii: ".")]))
    }

    private static func part(
        _ property: CheckedProperty,
        _ field: QueryField,
        _ isAggregate: Bool
    ) -> [UInt8] {
        switch property.part {
        case .whole:
            let isDictionary = field.collection == .dictionary
            return Array((isDictionary && !isAggregate ? "[*]" : "").utf8)
        case .keys: return Array(".@keys".utf8)
        case .length: return Array(".length".utf8)
        case .path(let indexes): return indexes.flatMap { bytes($0) }
        }
    }

    private static func bytes(_ index: CheckedProperty.Index?) -> [UInt8] {
        switch index {
        case nil: []
        case .position(0): Array("[FIRST]".utf8)
        case .position(let position): Array("[\(position)]".utf8)
        case .last: Array("[LAST]".utf8)
        case .all: Array("[*]".utf8)
        case .key(let key): Array("['".utf8) + key.bytes + Array("']".utf8)
        }
    }

    private static func suffix(_ property: CheckedProperty) -> [UInt8] {
        switch property.suffix {
        case nil:
            if case .referrers = property.target { return Array(".@count".utf8) }
            return []
        case .objectCount: return Array(".@count".utf8)
        case .size: return Array(".@size".utf8)
        case .kinds: return Array(".@type".utf8)
        }
    }
}
