import Changesets
import Schemas

extension PrimaryKeySchema {
    static let int = PrimaryKeySchema(name: "_id", type: .int, isNullable: false)
    static let string = PrimaryKeySchema(name: "_id", type: .string, isNullable: false)
    static let objectID = PrimaryKeySchema(name: "_id", type: .objectID, isNullable: false)
}

extension RealmSchema {
    /// A class Note with a number and a text.
    static let notes = RealmSchema([
        ClassSchema(
            name: "Note",
            kind: .topLevel(.int),
            properties: [PropertySchema(name: "text", type: .string, isNullable: false)]
        )
    ])

    /// A class of each kind of primary key, with links among them and a property of every type, once
    /// required and once nullable.
    static let everything: RealmSchema = {
        let keys: [(String, PrimaryKeyType)] = [
            ("Int", .int), ("String", .string), ("ObjectId", .objectID), ("Uuid", .uuid),
        ]
        let types: [(String, PropertyType)] = [
            ("int", .int), ("bool", .bool), ("string", .string), ("binary", .binary),
            ("timestamp", .timestamp), ("float", .float), ("double", .double),
            ("decimal", .decimal), ("objectId", .objectID), ("uuid", .uuid),
        ]
        let names = keys.flatMap { [Text($0.0), Text("Maybe\($0.0)")] }
        return RealmSchema(
            keys.flatMap { name, type in
                [false, true].map { isNullable in
                    let key = PrimaryKeySchema(name: "_id", type: type, isNullable: isNullable)
                    return ClassSchema(
                        name: Text(isNullable ? "Maybe\(name)" : name),
                        kind: .topLevel(key),
                        properties: types.flatMap { name, type in
                            [
                                PropertySchema(name: Text(name), type: type, isNullable: false),
                                PropertySchema(
                                    name: Text("\(name)OrNull"),
                                    type: type,
                                    isNullable: true
                                ),
                            ]
                        }
                            + names.map {
                                PropertySchema(
                                    name: Text("to\($0)"),
                                    type: .link(target: $0),
                                    isNullable: true
                                )
                            }
                    )
                }
            }
        )
    }()
}
