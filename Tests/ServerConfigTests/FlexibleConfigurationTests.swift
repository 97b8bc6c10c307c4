import Changesets
import FoundationEssentials
import Permissions
import Query
import Settings
import TestSupport
import Testing

@testable import Server
@testable import ServerConfig
@testable import ServerStore

@Suite("realm-server.yaml: flexible sync")
struct FlexibleConfigurationTests {
    /// Reads the settings of an app. With a schema, all files are read.
    private func read(
        _ app: String,
        schema: String? = nil
    ) throws -> (FlexibleSyncConfiguration?, [String]) {
        let directory = try TemporaryDirectory()
        var text = "apps:\n  a:\n"
        text += app.split(separator: "\n", omittingEmptySubsequences: false)
            .map { "    \($0)\n" }.joined()
        var files: NamedFiles?
        if let schema {
            let path = directory.file("schema.yaml")
            try Data(schema.utf8).write(to: URL(filePath: path))
            text += "    schema: \(path)\n"
            files = NamedFiles(SecretReader(environment: [:]))
        }
        let diagnostics = DiagnosticCollector()
        let node = try #require(diagnostics.parse(Array(text.utf8), file: "f"))
        let configuration = ServerConfigurationReader.read(
            NodeReader(node, diagnostics: diagnostics),
            files
        )
        return (
            configuration?.apps.first?.flexible,
            diagnostics.diagnostics.map(\.description)
        )
    }

    private static let schema = """
        classes:
          Order:
            primary_key: _id
            properties:
              _id: object_id
              owner: string
              store: string?
              level: int
              tags: list<string>
              notes: dictionary<string>
              note: link<Note>
              places: list<embedded<Place>>
              marks: set<int>
          Note: { primary_key: _id, properties: { _id: string, text: string } }
          Place: { embedded: true, properties: { city: string } }
        """

    @Test("All settings are read")
    func complete() throws {
        let (flexible, diagnostics) = try read(
            """
            sync:
              mode: flexible
              queryable_fields: { Order: [owner, store, level, tags], Note: [text] }
              indexed_field: store
              limits:
                body: 2MiB
                query: 1KiB
                classes: 10
                queries_per_class: 20
                nesting: 30
                comparisons: 40
                view_changes: 2MiB
                view_history: 3MiB
                bootstrap_message: 1MiB
                bootstrap_changeset: 64KiB
                filter: 2KiB
                user_list: 5
                user_text: 64
            rules:
              Order:
                - name: manager
                  apply_when: user.data.role == 'manager'
                  read: true
                  write: true
                - name: clerk
                  document_filters: { read: "store == $user.data.store", write: true }
                  read: "level < 5"
                  write: false
                  insert: "TRUEPREDICATE"
                  delete: false
                  fields: { store: { read: true }, level: { write: true } }
                  additional_fields: { read: true }
              default: { read: true, write: "_id == $user.id" }
            asymmetric: { command: [/bin/cat], timeout: 5s, spool: /srv/spool, spool_limit: 1GiB }
            """,
            schema: Self.schema
        )
        #expect(diagnostics.isEmpty)
        var views = ViewSizeLimits()
        views.changes = 2 << 20
        views.history = 3 << 20
        views.message = 1 << 20
        views.changeset = 64 << 10
        let expected = FlexibleSyncConfiguration(
            queryableFields: QueryableFields(
                classes: ["Order": ["owner", "store", "level", "tags"], "Note": ["text"]]
            ),
            indexedField: "store",
            roles: RoleDeclarations(
                classes: [
                    "Order": [
                        RoleDeclaration(
                            name: "manager",
                            applyWhen: "user.data.role == 'manager'",
                            read: .all,
                            write: .all
                        ),
                        RoleDeclaration(
                            name: "clerk",
                            readFilter: .matching("store == $user.data.store"),
                            writeFilter: .all,
                            read: .matching("level < 5"),
                            write: .nothing,
                            insert: .matching("TRUEPREDICATE"),
                            delete: .nothing,
                            fields: [
                                "store": FieldPermission(read: true),
                                "level": FieldPermission(write: true),
                            ],
                            additionalFields: FieldPermission(read: true)
                        ),
                    ]
                ],
                standard: [
                    RoleDeclaration(
                        name: "all users",
                        read: .all,
                        write: .matching("_id == $user.id")
                    )
                ]
            ),
            subscriptionLimits: SubscriptionLimits(
                bodySizeInBytes: 2 << 20,
                querySizeInBytes: 1 << 10,
                classes: 10,
                queriesPerClass: 20,
                nesting: 30,
                comparisons: 40
            ),
            filterLimits: FilterLimits(
                sizeInBytes: 2 << 10,
                nesting: 30,
                listElements: 5,
                textSizeInBytes: 64
            ),
            viewLimits: views,
            sink: AsymmetricSinkConfiguration(
                hook: HookConfiguration(command: ["/bin/cat"], timeout: .seconds(5)),
                spool: "/srv/spool",
                spoolSizeInBytes: 1 << 30
            )
        )
        #expect(flexible == expected)
    }

    @Test("Defaults, and one list of fields for all classes")
    func defaults() throws {
        let (flexible, diagnostics) = try read(
            """
            sync: { mode: flexible, queryable_fields: [owner, text] }
            rules: { default: { read: true } }
            """,
            schema: Self.schema
        )
        #expect(diagnostics == [])
        #expect(flexible?.queryableFields == QueryableFields(common: ["owner", "text"]))
        #expect(flexible?.indexedField == nil)
        #expect(flexible?.subscriptionLimits == SubscriptionLimits())
        #expect(flexible?.filterLimits == FilterLimits())
    }

    @Test("Settings of the other mode are refused, with their positions")
    func otherMode() throws {
        let (none, diagnostics) = try read(
            """
            sync: { queryable_fields: [a], indexed_field: a, limits: {} }
            rules: {}
            asymmetric: { command: [/bin/cat], spool: spool }
            """
        )
        #expect(none == nil)
        #expect(
            diagnostics == [
                "f:3:31: error: apps.a.sync.queryable_fields: does not go with mode \"partition\"; "
                    + "remove it; it is for flexible",
                "f:3:51: error: apps.a.sync.indexed_field: does not go with mode \"partition\"; "
                    + "remove it; it is for flexible",
                "f:3:62: error: apps.a.sync.limits: does not go with mode \"partition\"; "
                    + "remove it; it is for flexible",
                "f:4:12: error: apps.a.rules: does not go with sync.mode \"partition\"; "
                    + "use access, or sync.mode: flexible",
                "f:5:17: error: apps.a.asymmetric: does not go with sync.mode \"partition\"; "
                    + "remove it",
                "f:5:47: error: apps.a.asymmetric.spool: \"spool\" is not an absolute path; "
                    + "give a path that begins with \"/\" and has no \"..\" in it",
            ]
        )
        let (_, others) = try read(
            """
            sync: { mode: flexible, partition_key: a, partition_type: int }
            access: { read: "true" }
            """
        )
        #expect(
            others == [
                "f:3:5: warning: apps.a: has no rules, so that its users have access to nothing; "
                    + "add rules, such as { default: { read: true, write: true } }",
                "f:3:44: error: apps.a.sync.partition_key: a is not among the queryable fields; "
                    + "add it to sync.queryable_fields, or remove partition_key",
                "f:3:63: error: apps.a.sync.partition_type: does not go with mode \"flexible\"; "
                    + "remove it; it is for partition",
                "f:4:13: error: apps.a.access: does not go with sync.mode \"flexible\"; use rules",
            ]
        )
    }

    @Test("Mistakes in fields and roles are found against the schema")
    func mistakes() throws {
        let (_, diagnostics) = try read(
            """
            sync:
              mode: flexible
              queryable_fields:
                Order: [_id, owner, missing, tags, notes, note, places, marks]
                Notes: [text]
              indexed_field: tags
            rules:
              Order:
                - { name: a, apply_when: "user.name == 1", read: true }
                - { name: a, read: "level > 1" }
                - { name: b, document_filters: { read: "owner ==", write: "owner == $user.nam" } }
                - { name: c, write: "owner > 5", insert: "note.text == 'x'", delete: "level @ 1" }
                - { name: d, read: true, fields: { _id: { read: true }, x: { read: true } } }
                - { read: true }
                - { name: e, raed: true }
              Place: { read: true }
              Orders: { read: "a ==" }
              Note: { read: "text == $user.id", write: true }
            """,
            schema: Self.schema
        )
        #expect(
            diagnostics == [
                "f:6:29: error: apps.a.sync.queryable_fields.Order[2]: Order has no property "
                    + "missing; name a property of the class",
                "f:6:44: error: apps.a.sync.queryable_fields.Order[4]: Order.notes is a "
                    + "dictionary; name properties with one value, or a list or set of values",
                "f:6:51: error: apps.a.sync.queryable_fields.Order[5]: Order.note is a link; "
                    + "name properties with one value, or a list or set of values",
                "f:6:57: error: apps.a.sync.queryable_fields.Order[6]: Order.places holds "
                    + "embedded objects; name properties with one value, or a list or set of values",
                "f:7:16: error: apps.a.sync.queryable_fields.Notes: the schema has no class "
                    + "Notes; name a class of the schema file",
                "f:8:22: error: apps.a.sync.indexed_field: Order.tags is list<string>; name "
                    + "a property with one text, whole number, boolean or id in all classes",
                "f:11:34: error: apps.a.rules.Order[0].apply_when: column 1: \"user.name\" "
                    + "is unknown; use user.id, user.type, user.data.NAME or user.custom_data.NAME",
                "f:11:58: error: apps.a.rules.Order[0].read: column 1: key \"level\" is not "
                    + "a queryable field; make it one in the server's configuration, or leave it "
                    + "out",
                "f:12:11: error: apps.a.rules.Order[1]: has the name of another role, a; "
                    + "give each role of a class a name of its own",
                "f:13:48: error: apps.a.rules.Order[2].document_filters.read: column 9: the "
                    + "text ends where a value must follow; complete it",
                "f:13:67: error: apps.a.rules.Order[2].document_filters.write: column 10: "
                    + "this value of the user is unknown; use $user.id, $user.type, "
                    + "$user.data.NAME or $user.custom_data.NAME",
                "f:14:29: error: apps.a.rules.Order[3].write: column 7: string cannot be "
                    + "compared with int; write a value of type string",
                "f:14:50: error: apps.a.rules.Order[3].insert: column 1: a subscription "
                    + "cannot use a path with more than one property; use properties of the class "
                    + "itself, constants and comparisons",
                "f:14:78: error: apps.a.rules.Order[3].delete: column 7: unexpected \"@\"; "
                    + "remove it, or put text between quotes",
                "f:15:42: error: apps.a.rules.Order[4].fields: _id is the primary key, which "
                    + "every reader of an object sees; remove it from fields",
                "f:15:42: error: apps.a.rules.Order[4].fields: Order has no property x; name "
                    + "a property of Order",
                "f:16:11: error: apps.a.rules.Order[5].name: is missing; add it",
                "f:17:22: error: apps.a.rules.Order[6].raed: unknown key; did you mean "
                    + "\"read\"?",
                "f:18:14: error: apps.a.rules.Place: Place is embedded: its objects have the "
                    + "rights of their owners; give roles to the classes of the owners",
                "f:19:15: error: apps.a.rules.Orders: the schema has no class Orders; name a "
                    + "class of the schema file, or default",
                "f:19:23: error: apps.a.rules.Orders.read: column 5: the text ends where a "
                    + "value must follow; complete it",
                "f:20:21: error: apps.a.rules.Note.read: column 1: key \"text\" is not a "
                    + "queryable field; make it one in the server's configuration, or leave it out",
            ]
        )
    }

    @Test("Without a schema only the syntax is checked")
    func withoutSchema() throws {
        let (flexible, diagnostics) = try read(
            """
            sync: { mode: flexible, queryable_fields: { Any: [a] }, indexed_field: b }
            rules:
              Any: { read: "a == $user.data.x AND b < 5", write: "a ==" }
              default: { read: "a == $user.x", insert: "ANY links.a == 1", apply_when: "a = 1" }
            """
        )
        #expect(flexible != nil)
        #expect(
            diagnostics == [
                "f:3:76: error: apps.a.sync.indexed_field: b is not among the queryable fields; "
                    + "add it to sync.queryable_fields",
                "f:5:58: error: apps.a.rules.Any.write: column 5: the text ends where a value "
                    + "must follow; complete it",
                "f:6:24: error: apps.a.rules.default.read: column 6: this value of the user "
                    + "is unknown; use $user.id, $user.type, $user.data.NAME or "
                    + "$user.custom_data.NAME",
                "f:6:48: error: apps.a.rules.default.insert: column 5: a subscription cannot "
                    + "use a path with more than one property; use properties of the class itself, "
                    + "constants and comparisons",
                "f:6:80: error: apps.a.rules.default.apply_when: column 3: unexpected \"=\"; "
                    + "compare with ==, != or IN, and put text between quotes",
            ]
        )
    }

    @Test("A standard role may fail for some classes; in development mode classes may follow")
    func standardRoles() throws {
        let (_, diagnostics) = try read(
            """
            development_mode: true
            sync: { mode: flexible, queryable_fields: [owner, later] }
            rules:
              Later: { read: "later == 1" }
              default: { read: "owner == $user.id", write: "owner ==" }
            """,
            schema: Self.schema
        )
        #expect(
            diagnostics == [
                "f:4:55: warning: apps.a.sync.queryable_fields[1]: no class has a property "
                    + "later; name a property of a class with a primary key",
                "f:6:14: warning: apps.a.rules.Later: the schema has no class Later; name a "
                    + "class of the schema file, or default",
                "f:7:24: warning: apps.a.rules.default.read: the role allows nothing in "
                    + "Note: column 1: Note has no property owner; give it other roles, or name a "
                    + "property of Note",
                "f:7:52: error: apps.a.rules.default.write: column 9: the text ends where a "
                    + "value must follow; complete it",
            ]
        )
    }

    @Test("Custom user data is in the one realm of the app: there is no partition")
    func customUserData() throws {
        let (configuration, diagnostics) = try read(
            """
            sync: { mode: flexible }
            rules: { default: { read: true } }
            custom_user_data: { class: Order, user_id_field: owner }
            """
        )
        #expect(configuration != nil)
        #expect(diagnostics.isEmpty)
        let (_, refused) = try read(
            """
            sync: { mode: flexible }
            rules: { default: { read: true } }
            custom_user_data: { class: Order, partition: people, user_id_field: owner }
            """
        )
        #expect(
            refused == [
                "f:5:50: error: apps.a.custom_user_data.partition: does not go with sync.mode "
                    + "\"flexible\"; remove it"
            ]
        )
    }
}
