import Changesets
package import Schemas

/// A schema with every type in every collection it can be in.
package enum SampleSchema {
    /// `Everything` has the properties; `Target`, `Other` and `Keyless` are what links point to, and
    /// `Part` is embedded, in itself too.
    package static let everything = RealmSchema([
        ClassSchema(
            name: "Everything",
            kind: .topLevel(.init(name: "_id", type: .int, isNullable: false)),
            properties: properties
        ),
        ClassSchema(
            name: "Target",
            kind: .topLevel(.init(name: "_id", type: .string, isNullable: true)),
            properties: [PropertySchema(name: "name", type: .string, isNullable: false)]
        ),
        ClassSchema(
            name: "Other",
            kind: .topLevel(.init(name: "key", type: .uuid, isNullable: false))
        ),
        ClassSchema(name: "Keyless", kind: .topLevel(.none)),
        ClassSchema(
            name: "Part",
            kind: .embedded,
            properties: [
                PropertySchema(name: "count", type: .int, isNullable: false),
                PropertySchema(name: "note", type: .string, isNullable: true),
                PropertySchema(name: "any", type: .mixed, isNullable: true),
                PropertySchema(name: "target", type: .link(target: "Target"), isNullable: true),
                PropertySchema(name: "part", type: .link(target: "Part"), isNullable: true),
                PropertySchema(
                    name: "tags",
                    type: .string,
                    isNullable: false,
                    collection: .list
                ),
                PropertySchema(
                    name: "parts",
                    type: .link(target: "Part"),
                    isNullable: false,
                    collection: .list
                ),
            ]
        ),
    ])

    private static let scalars: [(Text, PropertyType)] = [
        ("int", .int), ("bool", .bool), ("string", .string), ("binary", .binary),
        ("timestamp", .timestamp), ("float", .float), ("double", .double), ("decimal", .decimal),
        ("objectID", .objectID), ("uuid", .uuid),
    ]

    private static let collections: [(String, CollectionType)] = [
        ("", .single), ("List", .list), ("Set", .set), ("Dictionary", .dictionary),
    ]

    /// Named for type, nullability and collection: `intOptionalList`, `targetSet`, `partDictionary`.
    private static let properties: [PropertySchema] = {
        var properties: [PropertySchema] = []
        for (suffix, collection) in collections {
            for (name, type) in scalars {
                for (mark, isNullable) in [("", false), ("Optional", true)] {
                    properties.append(
                        PropertySchema(
                            name: Text("\(name)\(mark)\(suffix)"),
                            type: type,
                            isNullable: isNullable,
                            collection: collection
                        )
                    )
                }
            }
            let isSingle = collection == .single || collection == .dictionary
            var links: [(String, PropertyType, Bool)] = [
                ("any", .mixed, true), ("target", .link(target: "Target"), isSingle),
                ("other", .link(target: "Other"), isSingle),
            ]
            if collection != .set { links.append(("part", .link(target: "Part"), isSingle)) }
            for (name, type, isNullable) in links {
                properties.append(
                    PropertySchema(
                        name: Text(name + suffix),
                        type: type,
                        isNullable: isNullable,
                        collection: collection
                    )
                )
            }
        }
        return properties
    }()
}
