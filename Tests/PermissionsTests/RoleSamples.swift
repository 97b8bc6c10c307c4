import Changesets
import Documents
import JSON
import Permissions
import Query
import Schemas

/// Roles, objects and users for tests: one class of orders.
enum Sample {
    static let schema = RealmSchema([
        ClassSchema(
            name: "Order",
            kind: .topLevel(PrimaryKeySchema(name: "_id", type: .int, isNullable: false)),
            properties: [
                property("owner", .string), property("store", .string), property("level", .int),
                property("ident", .objectID), property("code", .uuid),
                property("open", .bool), property("price", .double), property("mixture", .mixed),
                property("members", .string, .list), property("photo", .binary),
                property("secret", .string),
            ]
        ),
        ClassSchema(
            name: "Note",
            kind: .topLevel(PrimaryKeySchema(name: "_id", type: .string, isNullable: false)),
            properties: [property("text", .string)]
        ),
        ClassSchema(
            name: "Reading",
            kind: .asymmetric(PrimaryKeySchema(name: "_id", type: .int, isNullable: false)),
            properties: [property("owner", .string)]
        ),
    ])

    static let order = "Order" as Text

    private static func property(
        _ name: Text,
        _ type: PropertyType,
        _ collection: CollectionType = .single
    ) -> PropertySchema {
        PropertySchema(name: name, type: type, isNullable: true, collection: collection)
    }

    /// All fields of orders but `secret` are queryable.
    static let rules = SubscriptionRules(schema: schema) { _, field in field != "secret" }

    static func object(_ key: Int64 = 1, _ values: [Text: Value] = [:]) -> DocumentObject {
        guard let owner = schema["Order"] else { preconditionFailure("the sample has orders") }
        var document = Document(defaultsOf: owner)
        for (name, value) in values {
            guard let position = owner.position(of: name) else { continue }
            document.values[position] = value
        }
        return DocumentObject(key: .int(key), document, of: owner)
    }

    static func object(_ key: Int64 = 1, owner: Text, store: Text = "1") -> DocumentObject {
        object(key, ["owner": .scalar(.string(owner)), "store": .scalar(.string(store))])
    }

    static let user = UserValues(
        id: "6569e1a0c0ffee0123456789",
        type: "normal",
        data: [
            "store": .string("7"), "stores": .array([.string("7"), .string("8")]),
            "level": .integer(3), "admin": .bool(true), "empty": .array([]), "nothing": .null,
            "numberAsText": .string("5"),
        ],
        customData: .object([
            "rank": .object(["$numberLong": .string("4")]),
            "team": .object(["$oid": .string("6569E1A0C0FFEE0123456789")]),
        ])
    )

    static func roles(
        _ declarations: [RoleDeclaration],
        of className: Text = order
    ) -> AppRoles {
        AppRoles(RoleDeclarations(classes: [className: declarations]), schema, rules)
    }

    static func filter(_ text: String) throws(QueryError) -> DocumentFilter<UserValueName> {
        try DocumentFilter(
            text,
            of: order,
            rules,
            known: "the names of a user",
            name: UserValueName.init
        )
    }

    static func canonical(_ query: CheckedQuery) -> String {
        String(decoding: CanonicalText.write(query), as: UTF8.self)
    }
}
