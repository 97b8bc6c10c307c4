import Changesets
import Documents
import Query
import Schemas

/// A class for tests, and objects of it.
struct SampleObject: QueryableObject {
    var values: [Text: Value]

    init(_ values: [Text: Value] = [:]) {
        self.values = values
    }

    init(_ name: Text, _ scalar: Scalar) {
        values = [name: .scalar(scalar)]
    }

    func value(of field: QueryField) -> Value {
        values[field.name] ?? (field.collection == .list ? .list([]) : .null)
    }

    static let className: Text = "Person"

    static let schema = RealmSchema([
        ClassSchema(
            name: className,
            kind: .topLevel(PrimaryKeySchema(name: "_id", type: .int, isNullable: false)),
            properties: [
                property("age", .int), property("height", .double), property("weight", .float),
                property("name", .string), property("other", .string), property("photo", .binary),
                property("active", .bool), property("born", .timestamp),
                property("money", .decimal), property("anything", .mixed),
                property("ident", .objectID), property("code", .uuid),
                property("tags", .string, .list), property("scores", .int, .list),
                property("marks", .int, .set), property("notes", .string, .dictionary),
                property("friend", .link(target: className)),
                property("address", .link(target: "Address")),
            ]
        ),
        ClassSchema(name: "Address", kind: .embedded, properties: [property("city", .string)]),
        ClassSchema(
            name: "Reading",
            kind: .asymmetric(PrimaryKeySchema(name: "_id", type: .int, isNullable: false))
        ),
    ])

    private static func property(
        _ name: Text,
        _ type: PropertyType,
        _ collection: CollectionType = .single
    ) -> PropertySchema {
        PropertySchema(name: name, type: type, isNullable: true, collection: collection)
    }
}

enum SampleQuery {
    static func checked(_ text: String) throws(QueryError) -> CheckedQuery {
        try QueryChecker.check(
            QueryParser.parse(text),
            of: SampleObject.className,
            in: SampleObject.schema
        )
    }

    static func matches(_ text: String, _ object: SampleObject) throws -> Bool {
        QueryEvaluator(try checked(text)).matches(object)
    }

    static func canonical(_ text: String) throws -> String {
        String(decoding: CanonicalText.write(try checked(text)), as: UTF8.self)
    }

    /// The error of a text that must be refused.
    static func error(_ text: String) -> QueryError? {
        do throws(QueryError) {
            _ = try checked(text)
            return nil
        } catch {
            return error
        }
    }
}
