import Changesets
import Schemas
import Testing

@Suite("Contradicting schemas")
struct SchemaConflictTests {
    private func schema(_ properties: PropertySchema...) -> RealmSchema {
        let key = PrimaryKeySchema(name: "_id", type: .int, isNullable: false)
        return RealmSchema([
            ClassSchema(name: "Address", kind: .embedded),
            ClassSchema(name: "Person", kind: .topLevel(key)),
            ClassSchema(name: "Task", kind: .topLevel(key), properties: properties),
        ])
    }

    @Test("Equal definitions, and definitions on one side only, are not conflicts")
    func noConflict() {
        let due = PropertySchema(name: "due", type: .timestamp, isNullable: true)
        let title = PropertySchema(name: "title", type: .string, isNullable: false)
        #expect(schema(due).conflicts(withDeclared: schema(due)).isEmpty)
        #expect(schema(due).conflicts(withDeclared: schema(title)).isEmpty)
        #expect(schema(due).conflicts(withDeclared: RealmSchema()).isEmpty)
        #expect(RealmSchema().conflicts(withDeclared: schema(due)).isEmpty)
    }

    @Test("Each difference names the class, the property and both definitions")
    func differences() {
        func property(
            _ type: PropertyType,
            _ isNullable: Bool,
            _ collection: CollectionType = .single
        ) -> PropertySchema {
            PropertySchema(name: "p", type: type, isNullable: isNullable, collection: collection)
        }
        let pairs: [(PropertySchema, PropertySchema, String)] = [
            (
                property(.timestamp, true), property(.string, false),
                "Task.p is timestamp?, but is declared as string"
            ),
            (
                property(.int, true), property(.int, false),
                "Task.p is int?, but is declared as int"
            ),
            (
                property(.int, true, .list), property(.int, false, .set),
                "Task.p is list<int?>, but is declared as set<int>"
            ),
            (
                property(.link(target: "Person"), true, .dictionary),
                property(.link(target: "Address"), true),
                "Task.p is dictionary<link<Person>>, but is declared as embedded<Address>"
            ),
            (
                property(.objectID, false), property(.mixed, true),
                "Task.p is object_id, but is declared as mixed"
            ),
        ]
        for (existing, declared, sentence) in pairs {
            let conflicts = schema(existing).conflicts(withDeclared: schema(declared))
            #expect(conflicts.map(\.description) == [sentence])
            #expect(conflicts.map(\.className) == ["Task"])
            #expect(conflicts.map(\.property) == ["p"])
        }
    }

    @Test("A column's nullability does not matter if the type decides")
    func statedNullability() {
        for type in [.mixed, .link(target: "Person")] as [PropertyType] {
            let one = PropertySchema(name: "p", type: type, isNullable: true)
            let other = PropertySchema(name: "p", type: type, isNullable: false)
            #expect(schema(one).conflicts(withDeclared: schema(other)).isEmpty)
        }
    }

    @Test("Classes of another kind or key differ as a whole")
    func classes() {
        let existing = RealmSchema([
            ClassSchema(
                name: "Task",
                kind: .topLevel(.init(name: "_id", type: .uuid, isNullable: true))
            ),
            ClassSchema(name: "Log", kind: .topLevel(.none)),
        ])
        let declared = RealmSchema([
            ClassSchema(name: "Log", kind: .embedded),
            ClassSchema(
                name: "Task",
                kind: .asymmetric(.init(name: "_id", type: .string, isNullable: false))
            ),
        ])
        #expect(
            existing.conflicts(withDeclared: declared).map(\.description) == [
                "Log is a class with no primary key, but is declared as an embedded class",
                "Task is a class with primary key _id: uuid?, but is declared as "
                    + "an asymmetric class with primary key _id: string",
            ]
        )
    }
}
