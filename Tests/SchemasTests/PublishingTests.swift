import Changesets
import Schemas
import Testing

@Suite("Publishing a schema")
struct PublishingTests {
    private static let declared = RealmSchema([
        ClassSchema(
            name: "Task",
            kind: .topLevel(.init(name: "_id", type: .objectID, isNullable: false)),
            properties: [
                PropertySchema(name: "title", type: .string, isNullable: false),
                PropertySchema(name: "due", type: .timestamp, isNullable: true),
                // Declared against the rules of these types; written by the rules.
                PropertySchema(name: "owner", type: .link(target: "Person"), isNullable: false),
                PropertySchema(
                    name: "helpers",
                    type: .link(target: "Person"),
                    isNullable: true,
                    collection: .list
                ),
                PropertySchema(
                    name: "extra",
                    type: .mixed,
                    isNullable: false,
                    collection: .dictionary
                ),
                PropertySchema(name: "address", type: .link(target: "Address"), isNullable: true),
            ]
        ),
        ClassSchema(
            name: "Person",
            kind: .topLevel(.init(name: "_id", type: .string, isNullable: true)),
            properties: [
                PropertySchema(name: "age", type: .int, isNullable: true, collection: .set)
            ]
        ),
        ClassSchema(
            name: "Reading",
            kind: .asymmetric(.init(name: "_id", type: .uuid, isNullable: false))
        ),
        ClassSchema(
            name: "Address",
            kind: .embedded,
            properties: [PropertySchema(name: "street", type: .string, isNullable: true)]
        ),
    ])

    private func published(beyond known: RealmSchema) throws -> Changeset {
        var writer = ChangesetWriter()
        Self.declared.writeAdditions(to: known, into: &writer)
        return try Changeset(decoding: writer.bytes)
    }

    private func apply(_ changeset: Changeset, to schema: inout RealmSchema) throws {
        for instruction in changeset.instructions {
            _ = try schema.apply(instruction, strings: changeset.strings)
        }
    }

    @Test("Classes come first, by name; then the properties, class by class, without the keys")
    func order() throws {
        let changeset = try published(beyond: RealmSchema())
        let names = changeset.instructions.map { instruction -> String in
            switch instruction {
            case .addTable(let table): "+\(changeset.text(table.className))"
            case .addColumn(let column):
                "\(changeset.text(column.className)).\(changeset.text(column.field))"
            default: "?"
            }
        }
        #expect(
            names == [
                "+Address", "+Person", "+Reading", "+Task",
                "Address.street", "Person.age", "Task.title", "Task.due", "Task.owner",
                "Task.helpers", "Task.extra", "Task.address",
            ]
        )
    }

    @Test("Mixed and links are written with their actual nullability, not the declared one")
    func nullability() throws {
        let changeset = try published(beyond: RealmSchema())
        var nullable: [String: Bool] = [:]
        for case .addColumn(let column) in changeset.instructions {
            nullable["\(changeset.text(column.field))"] = column.isNullable
        }
        #expect(
            nullable == [
                "street": true, "age": true, "title": false, "due": true, "owner": true,
                "helpers": false, "extra": true, "address": true,
            ]
        )
    }

    @Test("An empty realm that applies the changeset has the declared schema")
    func roundTrip() throws {
        var schema = RealmSchema()
        try apply(published(beyond: schema), to: &schema)
        #expect(schema.conflicts(withDeclared: Self.declared).isEmpty)
        #expect(!Self.declared.hasAdditions(to: schema))
        #expect(!schema.hasAdditions(to: Self.declared))
    }

    @Test("Only additions are written")
    func additions() throws {
        var known = Self.declared
        _ = try known.eraseProperty("due", of: "Task")
        known.remove("Reading")
        #expect(Self.declared.hasAdditions(to: known))
        let changeset = try published(beyond: known)
        #expect(changeset.instructions.count == 2)
        try apply(changeset, to: &known)
        #expect(!Self.declared.hasAdditions(to: known))
        #expect(try published(beyond: known).instructions.isEmpty)
    }
}
