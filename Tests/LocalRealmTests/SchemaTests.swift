import Changesets
import LocalRealm
import SQLite
import Schemas
import TestSupport
import Testing
import Versions

@Suite("Classes and their tables")
struct SchemaTests {
    private func conflict(
        _ existing: RealmSchema,
        _ declared: RealmSchema
    ) throws -> LocalRealmError {
        let fixture = try RealmFixture(existing)
        fixture.realm.close()
        return try #require(throws: LocalRealmError.self) {
            try RealmFixture.open(fixture.path, declared)
        }
    }

    private func schema(_ properties: PropertySchema..., key: PrimaryKeySchema = .int)
        -> RealmSchema
    {
        RealmSchema([ClassSchema(name: "Note", kind: .topLevel(key), properties: properties)])
    }

    @Test("A class's table, index and triggers are those of the specification")
    func definitions() throws {
        let key = PrimaryKeySchema(name: "_id", type: .objectID, isNullable: false)
        let fixture = try RealmFixture(
            RealmSchema([
                ClassSchema(
                    name: "Task",
                    kind: .topLevel(key),
                    properties: [
                        .init(name: "title", type: .string, isNullable: false),
                        .init(name: "owner", type: .link(target: "Task"), isNullable: true),
                    ]
                )
            ])
        )
        let stored = try fixture.rows(
            "SELECT sql FROM sqlite_schema WHERE tbl_name = 'Task' AND sql IS NOT NULL ORDER BY rowid"
        )
        #expect(
            stored == [
                """
                CREATE TABLE "Task"(
                  "_id" TEXT NOT NULL ON CONFLICT REPLACE DEFAULT \
                (lower(printf('%08x', CAST(strftime('%s','now') AS INTEGER)) || \
                hex(randomblob(8)))) CONSTRAINT "Task._id must be an ObjectId (24 lower-case hex \
                digits)" CHECK (length(CAST("_id" AS BLOB)) = 24 AND "_id" NOT GLOB \
                '*[^0-9a-f]*') PRIMARY KEY,
                  "title" TEXT NOT NULL DEFAULT '',
                  "owner" TEXT CONSTRAINT "Task.owner must be the _id of a Task" CHECK ("owner" IS \
                NULL OR length(CAST("owner" AS BLOB)) = 24 AND "owner" NOT GLOB '*[^0-9a-f]*')
                ) STRICT
                """,
                """
                CREATE INDEX "_realm_x_2" ON "Task"("owner") WHERE "owner" IS NOT NULL
                """,
                """
                CREATE TRIGGER "_realm_1_key" BEFORE UPDATE OF "_id" ON "Task" WHEN OLD."_id" IS NOT \
                NEW."_id" BEGIN
                  SELECT RAISE(ABORT, 'Task._id is the primary key and cannot change');
                END
                """,
                """
                CREATE TRIGGER "_realm_1_exists" BEFORE INSERT ON "Task"
                WHEN EXISTS (SELECT 1 FROM "Task" WHERE "_id" = NEW."_id") BEGIN
                  INSERT INTO _realm_capture(class, key, prop, old)
                    SELECT 1, r."_id", c.column1, CASE c.column1
                        WHEN 1 THEN r."title"
                        WHEN 2 THEN r."owner" END
                    FROM "Task" r CROSS JOIN (VALUES (-2), (1), (2)) c
                    WHERE r."_id" = NEW."_id" AND CASE c.column1 WHEN -2 THEN 1
                        WHEN 1 THEN r."title" IS NOT NEW."title"
                        WHEN 2 THEN r."owner" IS NOT NEW."owner" END;
                END
                """,
                """
                CREATE TRIGGER "_realm_1_insert" AFTER INSERT ON "Task" BEGIN
                  INSERT INTO _realm_capture(class, key, prop) VALUES (1, NEW."_id", 0);
                END
                """,
                """
                CREATE TRIGGER "_realm_1_delete" AFTER DELETE ON "Task" BEGIN
                  INSERT INTO _realm_capture(class, key, prop) VALUES (1, OLD."_id", -1);
                END
                """,
                """
                CREATE TRIGGER "_realm_1_u1" AFTER UPDATE OF "title" ON "Task" WHEN OLD."title" IS \
                NOT NEW."title" BEGIN
                  INSERT INTO _realm_capture(class, key, prop, old) VALUES (1, OLD."_id", 1, \
                OLD."title");
                END
                """,
                """
                CREATE TRIGGER "_realm_1_u2" AFTER UPDATE OF "owner" ON "Task" WHEN OLD."owner" IS \
                NOT NEW."owner" BEGIN
                  INSERT INTO _realm_capture(class, key, prop, old) VALUES (1, OLD."_id", 2, \
                OLD."owner");
                END
                """,
            ]
        )
    }

    @Test("Declared classes are sent once, classes by name, then their properties")
    func publication() throws {
        let schema = RealmSchema([
            ClassSchema(
                name: "Zebra",
                kind: .topLevel(.string),
                properties: [
                    .init(name: "stripes", type: .int, isNullable: true),
                    .init(name: "friend", type: .link(target: "Ape"), isNullable: true),
                ]
            ),
            ClassSchema(name: "Ape", kind: .topLevel(.objectID)),
        ])
        let fixture = try RealmFixture(schema)
        #expect(
            try fixture.drained() == [
                "AddTable Ape _id objectID", "AddTable Zebra _id string",
                "AddColumn Zebra.stripes int?", "AddColumn Zebra.friend link? Ape",
            ]
        )
        #expect(try fixture.drained() == [])
        try fixture.reopen(schema)
        #expect(try fixture.drained() == [])
    }

    @Test("New classes and properties come with the first data that needs them, in one changeset")
    func publicationWithData() throws {
        let fixture = try RealmFixture(.notes)
        try fixture.connect().execute("INSERT INTO Note VALUES (1, 'x')")
        #expect(
            try fixture.drained() == [
                "AddTable Note _id int", "AddColumn Note.text string", "CreateObject Note 1",
                "Note 1: text = \"x\"",
            ]
        )
        #expect(try fixture.history().count == 1)
    }

    @Test(
        "A property declared later is added under open connections, and old rows have its default"
    )
    func addedProperty() throws {
        let fixture = try RealmFixture(.notes)
        _ = try fixture.realm.drain()
        let program = try fixture.connect()
        try program.execute("INSERT INTO Note VALUES (1, 'pending')")
        let done = PropertySchema(name: "done", type: .bool, isNullable: false)
        let text = PropertySchema(name: "text", type: .string, isNullable: false)
        let options = PropertyOptions(defaultValue: .bool(true))
        try fixture.reopen(
            schema(text, done),
            options: [PropertyName(className: "Note", property: "done"): options]
        )
        try program.execute("INSERT INTO Note(_id, text) VALUES (2, 'new')")
        try program.execute("UPDATE Note SET done = 1 WHERE _id = 1")
        #expect(try fixture.rows("SELECT * FROM Note") == ["1|pending|1", "2|new|1"])
        #expect(
            try fixture.drained() == [
                "AddColumn Note.done bool", "CreateObject Note 1", "CreateObject Note 2",
                "Note 1: text = \"pending\"", "Note 1: done = true (default)",
                "Note 2: text = \"new\"", "Note 2: done = true (default)",
            ]
        )
    }

    @Test("Rows that exist get the type's default for a new property, not the declared one")
    func addedPropertyDefault() throws {
        let fixture = try RealmFixture(.notes)
        try fixture.receive { $0.createObject(.init("Note", 1)) }
        let text = PropertySchema(name: "text", type: .string, isNullable: false)
        let done = PropertySchema(name: "done", type: .bool, isNullable: false)
        let options = PropertyOptions(defaultValue: .bool(true))
        try fixture.reopen(
            schema(text, done),
            options: [PropertyName(className: "Note", property: "done"): options]
        )
        #expect(try fixture.rows("SELECT done FROM Note") == ["0"])
        #expect(try fixture.drained() == ["AddColumn Note.done bool"])
    }

    @Test("Classes from the server are usable at once and not sent back")
    func learned() throws {
        let fixture = try RealmFixture()
        let report = try fixture.receive { writer in
            writer.addTopLevelClass("Note", primaryKey: "_id", type: .int, isNullable: false)
            writer.addColumn(
                "text",
                to: "Note",
                type: .string,
                isNullable: false,
                collection: .single
            )
            writer.createObject(.init("Note", 1))
            writer.update(.init("Note", 1), "text", to: .scalar(.string("theirs")))
        }
        #expect(report.learnedClasses == ["Note"])
        try fixture.connect().execute("INSERT INTO Note VALUES (2, 'ours')")
        #expect(try fixture.rows("SELECT * FROM Note") == ["1|theirs", "2|ours"])
        #expect(try fixture.drained() == ["CreateObject Note 2", "Note 2: text = \"ours\""])
        // Declaring the same afterwards changes nothing.
        try fixture.reopen(.notes)
        #expect(try fixture.drained() == [])
    }

    @Test("A definition that contradicts the realm's is refused, and both are named")
    func conflicts() throws {
        let number = PropertySchema(name: "size", type: .int, isNullable: false)
        let existing = schema(number)
        var error = try conflict(
            existing,
            schema(.init(name: "size", type: .string, isNullable: true))
        )
        #expect(error.kind == .schemaConflict)
        #expect(error.message == "Note.size is int, but is declared as string?")
        error = try conflict(existing, schema(number, key: .string))
        #expect(error.kind == .schemaConflict)
        #expect(error.message.contains("primary key _id: int"))
        #expect(error.message.contains("primary key _id: string"))
    }

    @Test(
        "Names that SQLite reserves or treats as equal get their own SQL names, and stay distinct"
    )
    func names() throws {
        let awkward = #"a "quoted" select; name"#
        let property = PropertySchema(name: "Value", type: .int, isNullable: false)
        let names: [Text] = [
            "sqlite_master", "_realm_state", "task", "Task", "TASK", "select", Text(awkward),
            "o'clock",
        ]
        let schema = RealmSchema(
            names.map { name in
                ClassSchema(
                    name: name,
                    kind: .topLevel(.int),
                    properties: [
                        property, .init(name: "value", type: .int, isNullable: false),
                        .init(name: "_ID", type: .int, isNullable: false),
                        .init(name: "group", type: .link(target: name), isNullable: true),
                    ]
                )
            }
        )
        let fixture = try RealmFixture(schema)
        _ = try fixture.realm.drain()
        let tables = [
            "~sqlite_master", "~_realm_state", "task", "Task~2", "TASK~3", "select", awkward,
            "o'clock",
        ]
        #expect(try fixture.rows("SELECT table_name FROM _realm_class ORDER BY id") == tables)
        for (name, table) in zip(names, tables) {
            let quoted = Connection.quoted(table)
            try fixture.connect().execute(
                """
                INSERT INTO \(quoted)(_id, "Value", "value~2", "_ID~2", "group") \
                VALUES (1, 2, 3, 4, 1)
                """
            )
            #expect(
                try fixture.drained() == [
                    "CreateObject \(name) 1", "\(name) 1: Value = 2", "\(name) 1: value = 3",
                    "\(name) 1: _ID = 4", "\(name) 1: group = \(name)(1)",
                ]
            )
        }
        try fixture.reopen(schema)
        let seen = fixture.realm.status.localVersion.rawValue
        try fixture.receive(after: seen) {
            $0.update(.init("TASK", 1), "value", to: .scalar(.int(9)))
        }
        let rows = try fixture.rows("SELECT * FROM \"TASK~3\"")
        #expect(rows == ["1|2|9|4|1"])
    }

    @Test("A changed default applies to rows inserted from then on, even in an altered table")
    func changedDefaults() throws {
        let schema = RealmSchema([
            ClassSchema(
                name: "Note",
                kind: .topLevel(.int),
                properties: [
                    .init(name: "text", type: .string, isNullable: false),
                    .init(name: "size", type: .int, isNullable: true),
                ]
            )
        ])
        func options(_ text: Text?, _ size: Int64?) -> [PropertyName: PropertyOptions] {
            [
                .init(className: "Note", property: "text"): .init(
                    defaultValue: text.map(Scalar.string)
                ),
                .init(className: "Note", property: "size"): .init(
                    defaultValue: size.map(Scalar.int)
                ),
            ]
        }
        let fixture = try RealmFixture(.notes)
        let program = try fixture.connect()
        try program.execute("INSERT INTO Note(_id) VALUES (1)")
        try program.execute("CREATE INDEX own ON Note(text); CREATE VIEW v AS SELECT * FROM Note")
        // The column is added with a default, which earlier rows do not get.
        try fixture.reopen(schema, options: options(nil, 7))
        try program.execute("INSERT INTO Note(_id) VALUES (2)")
        try fixture.reopen(schema, options: options("it's\u{0}new", 8))
        try program.execute("INSERT INTO Note(_id) VALUES (3)")
        try fixture.reopen(schema, options: options("x", nil))
        try program.execute("INSERT INTO Note(_id) VALUES (4)")
        try fixture.reopen(schema)
        try program.execute("INSERT INTO Note(_id) VALUES (5)")
        #expect(
            try fixture.rows("SELECT _id, hex(text), size FROM Note ORDER BY _id") == [
                "1||null", "2||7", "3|69742773006E6577|8", "4|78|null", "5||null",
            ]
        )
        #expect(try fixture.rows("PRAGMA integrity_check") == ["ok"])
        #expect(try fixture.rows("SELECT count(*) FROM v") == ["5"])
        #expect(try fixture.realm.drain().notices == [])
        let model = try fixture.history().flatMap(\.lines)
        #expect(model.contains("Note 3: size = 8 (default)") || model.contains("Note 3: size = 8"))
    }

    private static func erasing(_ properties: Text...) -> Changeset {
        var changeset = Changeset()
        let className = changeset.strings.intern("Int")
        for property in properties {
            let field = changeset.strings.intern(property)
            changeset.instructions.append(.eraseColumn(className: className, field: field))
        }
        return changeset
    }

    @Test(
        "Properties and classes erased by the server are removed, unless the application's objects need them"
    )
    func erasing() throws {
        let fixture = try RealmFixture(.everything)
        _ = try fixture.realm.drain()
        let program = try fixture.connect()
        try program.execute("INSERT INTO Int(_id, int) VALUES (1, 5)")
        try fixture.receive(Self.erasing("int", "toString"))
        #expect(try fixture.rows("SELECT intOrNull FROM Int") == ["null"])
        #expect(throws: SQLiteError.self) { try program.row("SELECT int FROM Int") }
        try program.execute("UPDATE Int SET string = 'still captured'")
        #expect(try fixture.drained() == ["Int 1: string = \"still captured\""])

        try program.execute("CREATE INDEX own ON Int(double)")
        let error = try #require(throws: LocalRealmError.self) {
            try fixture.receive(Self.erasing("double"))
        }
        #expect(error.kind == .badChangeset)
        #expect(error.message.contains("own"))
        #expect(try fixture.rows("SELECT double FROM Int") == ["0.0"])

        var changeset = Changeset()
        let bare = changeset.strings.intern("Bare")
        let key = changeset.strings.intern("_id")
        changeset.instructions = [
            .addTable(
                .init(
                    className: bare,
                    kind: .topLevel(.init(field: key, type: .int, isNullable: false))
                )
            ),
            .eraseTable(className: bare),
            .addTable(
                .init(
                    className: bare,
                    kind: .topLevel(.init(field: key, type: .string, isNullable: false))
                )
            ),
        ]
        try fixture.receive(changeset)
        #expect(try fixture.rows("SELECT type FROM pragma_table_info('Bare')") == ["TEXT"])
        changeset.instructions = [.eraseTable(className: bare)]
        try fixture.receive(changeset)
        #expect(try fixture.rows("SELECT * FROM pragma_table_info('Bare')") == [])
    }
}
