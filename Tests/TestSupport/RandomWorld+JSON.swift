import Changesets
package import Schemas

/// The whole data model: collections, embedded objects and Mixed, as JSON.
extension RandomWorld {
    static func wholeSchema(
        _ random: inout SplitMix64,
        embedsInDictionaries: Bool = true
    ) -> RealmSchema {
        let owners: [Text] = ["Apple", "Berry"]
        func properties(count: ClosedRange<Int>, _ embedded: [Text]) -> [PropertySchema] {
            Self.properties(count: count, owners, embedded, &random).map { property in
                guard case .link(let target) = property.type, embedded.contains(target),
                    property.collection == .dictionary, !embedsInDictionaries
                else { return property }
                return PropertySchema(
                    name: property.name,
                    type: property.type,
                    isNullable: property.isNullable,
                    collection: .list
                )
            }
        }
        let keyTypes: [PrimaryKeyType] = [.int, .string, .objectID, .uuid]
        var classes: [ClassSchema] = owners.map { name in
            let key = PrimaryKeySchema(
                name: "_id",
                type: keyTypes[Int.random(in: 0..<4, using: &random)],
                isNullable: Bool.random(using: &random)
            )
            return ClassSchema(
                name: name,
                kind: .topLevel(key),
                properties: properties(count: 4...7, ["Inner", "Deep"])
            )
        }
        classes.append(
            ClassSchema(
                name: "Inner",
                kind: .embedded,
                properties: properties(count: 2...4, ["Deep"])
            )
        )
        classes.append(
            ClassSchema(
                name: "Deep",
                kind: .embedded,
                properties: properties(count: 1...3, [])
            )
        )
        return RealmSchema(classes)
    }

    private static func properties(
        count: ClosedRange<Int>,
        _ owners: [Text],
        _ embedded: [Text],
        _ random: inout SplitMix64
    ) -> [PropertySchema] {
        (0..<Int.random(in: count, using: &random)).map { number in
            var type = types[Int.random(in: 0..<types.count, using: &random)]
            switch Int.random(in: 0..<8, using: &random) {
            case 0...1: type = .mixed
            case 2...3: type = .link(target: owners.randomElement(using: &random) ?? "Apple")
            case 4...5: type = .link(target: embedded.randomElement(using: &random) ?? "Apple")
            default: break
            }
            var collection = [CollectionType.single, .list, .set, .dictionary][
                Int.random(in: 0..<4, using: &random)
            ]
            if case .link(let target) = type, embedded.contains(target), collection == .set {
                collection = .list
            }
            return PropertySchema(
                name: Text("p\(number)"),
                type: type,
                isNullable: Bool.random(using: &random),
                collection: collection
            )
        }
    }

    func isJSON(_ property: PropertySchema) -> Bool {
        if property.collection != .single { return true }
        return switch schema.elementType(of: property) {
        case .mixed, .embedded: true
        case .scalar, .link, nil: false
        }
    }

    /// A whole property as SQL would write it.
    mutating func jsonLiteral(of property: PropertySchema) -> String {
        if property.collection == .single, chance(20) { return "NULL" }
        return "'\(json(of: property))'"
    }

    /// The JSON of a property's value; quotation marks of SQL are doubled.
    package mutating func json(of property: PropertySchema) -> String {
        guard let element = schema.elementType(of: property) else { return "null" }
        let acceptsNull = property.acceptsNull
        switch property.collection {
        case .single:
            return acceptsNull && chance(20) ? "null" : json(element, depth: 0)
        case .list:
            return "[\(elements { $0.json(element, acceptsNull) }.joined(separator: ","))]"
        case .set:
            // Deep enough to hold no collections.
            return "[\(elements { $0.json(element, depth: 3) }.joined(separator: ","))]"
        case .dictionary:
            return "{\(members { $0.json(element, acceptsNull) }.joined(separator: ","))}"
        }
    }

    private mutating func json(_ element: ElementType, _ acceptsNull: Bool) -> String {
        acceptsNull && chance(15) ? "null" : json(element, depth: 1)
    }

    private mutating func elements(_ element: (inout RandomWorld) -> String) -> [String] {
        var result: [String] = []
        for _ in 0..<pick([0, 1, 2, 3, 5, 8]) { result.append(element(&self)) }
        return result
    }

    private mutating func members(_ value: (inout RandomWorld) -> String) -> [String] {
        var result: [String] = []
        for key in ["", "a", "b", "über"] where chance(40) {
            result.append("\"\(key)\":\(value(&self))")
        }
        return result
    }

    private mutating func json(_ element: ElementType, depth: Int) -> String {
        switch element {
        case .scalar(let type): return json(type)
        case .link(let target): return linkKey(target)
        case .mixed: return mixed(depth: depth)
        case .embedded(let className):
            guard let owner = schema[className] else { return "null" }
            var given: [String] = []
            for property in owner.properties where chance(70) {
                given.append("\"\(property.name)\":\(json(of: property))")
            }
            return "{\(given.joined(separator: ","))}"
        }
    }

    private mutating func json(_ type: ScalarType) -> String {
        switch type {
        case .int: pick(["0", "1", "-1", "9007199254740993"])
        case .bool: pick(["true", "false"])
        case .string: pick([#""""#, #""a""#, #""b""#, #""it''s""#, #""zürich""#])
        case .binary: pick([#""""#, #""AA==""#, #""/wA=""#])
        case .timestamp: pick([#""1970-01-01""#, #""2026-03-04T05:06:07.5+01:00""#, #""@-1.0""#])
        case .float: pick(["0.0", "1.5", "7", #"{"$numberFloat":"NaN"}"#])
        case .double: pick(["0.0", "-1.5", "1e300", #"{"$numberDouble":"-Infinity"}"#])
        case .decimal: pick([#""0""#, #""1.0""#, #""1.00""#, #""NaN""#])
        case .objectID: #""5f63e882536d46e47187799\#(pick([0, 1, 2]))""#
        case .uuid: #""00000000-0000-4000-8000-00000000000\#(pick([0, 1, 2]))""#
        }
    }

    private mutating func linkKey(_ target: LinkTarget) -> String {
        guard let owner = schema[target.className] else { return "null" }
        let key = key(of: owner)
        if key == "NULL" { return #"{"$link":{"class":"\#(owner.name)","key":null}}"# }
        return jsonKey(key)
    }

    private func jsonKey(_ literal: String) -> String {
        literal.hasPrefix("'") ? "\"\(literal.dropFirst().dropLast())\"" : literal
    }

    private mutating func mixed(depth: Int) -> String {
        switch Int.random(in: 0..<12, using: &random) {
        case 0: return "null"
        case 1: return pick(["5", "6", "true", #""x""#])
        case 2: return pick([#"{"$numberDouble":"5.0"}"#, #"{"$numberDecimal":"5"}"#, "1.5"])
        case 3: return pick([#"{"$date":"2026-01-01"}"#, #"{"$binary":{"base64":"AA=="}}"#])
        case 4...5:
            let owner = pick(schema.classes.filter { !$0.isEmbedded })
            let key = key(of: owner)
            let json = key == "NULL" ? "null" : jsonKey(key)
            return #"{"$link":{"class":"\#(owner.name)","key":\#(json)}}"#
        case 6...8 where depth < 3 && nestsCollections:
            return "[\(elements { $0.mixed(depth: depth + 1) }.joined(separator: ","))]"
        case 9...11 where depth < 3 && nestsCollections:
            return "{\(members { $0.mixed(depth: depth + 1) }.joined(separator: ","))}"
        default: return pick(["1", "2"])
        }
    }
}
