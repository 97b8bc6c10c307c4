import Changesets
import Schemas

extension RealmSchema {
    /// Everything a schema can have besides the scalars of `everything`: a class with a collection
    /// of every kind and element, embedded classes within each other, Mixed, an asymmetric class,
    /// and one without primary key.
    static let wholeModel = RealmSchema([
        ClassSchema(name: "Holder", kind: .topLevel(.int), properties: holderProperties),
        ClassSchema(
            name: "Person",
            kind: .topLevel(.string),
            properties: [
                .init(name: "name", type: .string, isNullable: false),
                .init(
                    name: "friends",
                    type: .link(target: "Person"),
                    isNullable: false,
                    collection: .list
                ),
            ]
        ),
        ClassSchema(
            name: "Address",
            kind: .embedded,
            properties: [
                .init(name: "street", type: .string, isNullable: false),
                .init(name: "zip", type: .int, isNullable: true),
                .init(name: "since", type: .timestamp, isNullable: true),
                .init(name: "visits", type: .int, isNullable: false),
                .init(name: "owner", type: .link(target: "Person"), isNullable: true),
                .init(name: "tags", type: .string, isNullable: false, collection: .set),
                .init(name: "any", type: .mixed, isNullable: true),
                .init(name: "geo", type: .link(target: "Point"), isNullable: true),
                .init(
                    name: "points",
                    type: .link(target: "Point"),
                    isNullable: false,
                    collection: .list
                ),
            ]
        ),
        ClassSchema(
            name: "Point",
            kind: .embedded,
            properties: [
                .init(name: "x", type: .double, isNullable: false),
                .init(name: "y", type: .double, isNullable: false),
            ]
        ),
        ClassSchema(
            name: "Event",
            kind: .asymmetric(.objectID),
            properties: [
                .init(name: "what", type: .string, isNullable: false),
                .init(name: "who", type: .link(target: "Person"), isNullable: true),
                .init(name: "where", type: .link(target: "Address"), isNullable: true),
                .init(name: "values", type: .int, isNullable: false, collection: .list),
            ]
        ),
        ClassSchema(
            name: "Bare",
            kind: .topLevel(.none),
            properties: [
                .init(name: "text", type: .string, isNullable: false),
                .init(name: "next", type: .link(target: "Bare"), isNullable: true),
                .init(name: "list", type: .mixed, isNullable: true, collection: .list),
            ]
        ),
    ])

    /// `listOfInt`, `setOfIntOrNull`, …
    private static let holderProperties: [PropertySchema] = {
        let types: [(String, PropertyType)] = [
            ("Int", .int), ("Bool", .bool), ("String", .string), ("Binary", .binary),
            ("Timestamp", .timestamp), ("Float", .float), ("Double", .double),
            ("Decimal", .decimal), ("ObjectId", .objectID), ("Uuid", .uuid),
        ]
        let collections: [(String, CollectionType)] = [
            ("listOf", .list), ("setOf", .set), ("dictionaryOf", .dictionary),
        ]
        var properties: [PropertySchema] = [
            .init(name: "any", type: .mixed, isNullable: true),
            .init(name: "address", type: .link(target: "Address"), isNullable: true),
            .init(name: "count", type: .int, isNullable: false),
            .init(name: "friend", type: .link(target: "Person"), isNullable: true),
        ]
        for (prefix, collection) in collections {
            for (name, type) in types {
                for isNullable in [false, true] {
                    properties.append(
                        .init(
                            name: Text("\(prefix)\(name)\(isNullable ? "OrNull" : "")"),
                            type: type,
                            isNullable: isNullable,
                            collection: collection
                        )
                    )
                }
            }
            properties.append(
                .init(
                    name: Text("\(prefix)Mixed"),
                    type: .mixed,
                    isNullable: true,
                    collection: collection
                )
            )
            properties.append(
                .init(
                    name: Text("\(prefix)Person"),
                    type: .link(target: "Person"),
                    isNullable: collection == .dictionary,
                    collection: collection
                )
            )
            guard collection != .set else { continue }
            properties.append(
                .init(
                    name: Text("\(prefix)Address"),
                    type: .link(target: "Address"),
                    isNullable: collection == .dictionary,
                    collection: collection
                )
            )
        }
        return properties
    }()
}
