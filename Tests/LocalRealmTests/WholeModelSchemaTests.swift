import Changesets
import LocalRealm
import SQLite
import Schemas
import Testing
import Versions

@Suite("Tables of the whole data model")
struct WholeModelSchemaTests {
    @Test("A realm with every kind of class and property is the same after opening it again")
    func reopening() throws {
        let fixture = try RealmFixture(.wholeModel)
        #expect(try fixture.realm.schema == .wholeModel)
        try fixture.reopen()
        #expect(try fixture.realm.schema == .wholeModel)
        try fixture.reopen(.wholeModel)
        #expect(try fixture.realm.schema == .wholeModel)
        // Declared once, it is sent once.
        #expect(try fixture.drained().filter { $0.hasPrefix("AddTable") }.count == 6)
        #expect(try fixture.drained() == [])
    }

    @Test("A learned schema gives the same tables, indexes and triggers as a declared one")
    func learned() throws {
        let declared = try RealmFixture(.wholeModel)
        let learned = try RealmFixture()
        var sorted = RealmSchema()
        try learned.receive { writer in
            RealmSchema.wholeModel.writeAdditions(to: RealmSchema(), into: &writer)
        }
        for name in ["Address", "Bare", "Event", "Holder", "Person", "Point"] as [Text] {
            let owner = try #require(RealmSchema.wholeModel[name])
            sorted.update(owner)
        }
        #expect(try learned.realm.schema == sorted)
        let count = "SELECT count(*) FROM sqlite_schema"
        #expect(try learned.rows(count) == declared.rows(count))
        try learned.reopen(.wholeModel)
        #expect(try learned.realm.schema == sorted)
    }

    @Test("Only classes whose objects have keys have tables")
    func tables() throws {
        let fixture = try RealmFixture(.wholeModel)
        let tables = try fixture.rows(
            """
            SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT GLOB '_realm_*'
            ORDER BY name
            """
        )
        #expect(tables == ["Bare", "Event", "Holder", "Person"])
    }

    @Test(
        "Values that a CHECK or trigger can reject are refused in the statement",
        arguments: [
            ("any", "'note'", "CHECK constraint failed: Holder.any must be Extended JSON"),
            (
                "listOfInt", "'nonsense'",
                "CHECK constraint failed: Holder.listOfInt must be a JSON array"
            ),
            ("listOfInt", "'{}'", "CHECK constraint failed: Holder.listOfInt must be a JSON array"),
            (
                "dictionaryOfInt", "'[]'",
                "CHECK constraint failed: Holder.dictionaryOfInt must be a JSON object"
            ),
            ("listOfInt", "'[1,\"2\"]'", "Holder.listOfInt must hold integers"),
            ("listOfInt", "'[1,null]'", "Holder.listOfInt must hold integers"),
            ("setOfBool", "'[1]'", "Holder.setOfBool must hold booleans"),
            ("listOfString", "'[1]'", "Holder.listOfString must hold strings"),
            ("listOfString", "'[{\"a\":1}]'", "Holder.listOfString must hold strings"),
            ("listOfBinary", "'[1]'", "Holder.listOfBinary must hold base64 strings"),
            ("setOfTimestamp", "'[\"tomorrow\"]'", "Holder.setOfTimestamp must hold timestamps"),
            ("listOfDouble", "'[\"1\"]'", "Holder.listOfDouble must hold numbers"),
            ("listOfFloat", "'[true]'", "Holder.listOfFloat must hold numbers"),
            (
                "listOfDecimal", "'[\"ten\"]'",
                "Holder.listOfDecimal must hold decimal numbers as strings"
            ),
            ("listOfObjectId", "'[\"5f\"]'", "Holder.listOfObjectId must hold ObjectIds"),
            ("dictionaryOfUuid", "'{\"a\":\"b\"}'", "Holder.dictionaryOfUuid must hold UUIDs"),
            (
                "dictionaryOfInt", "'{\"a.b\":1}'",
                "Holder.dictionaryOfInt has a key with \".\" or leading \"$\""
            ),
            (
                "dictionaryOfMixed", "'{\"$x\":1}'",
                "Holder.dictionaryOfMixed has a key with \".\" or leading \"$\""
            ),
            ("dictionaryOfInt", "'{\"a\":null}'", "Holder.dictionaryOfInt must hold integers"),
            (
                "listOfPerson", "'[1]'",
                "Holder.listOfPerson must hold the _id of objects of Person"
            ),
            ("setOfMixed", "'[[1]]'", "Holder.setOfMixed must not hold collections"),
            ("setOfMixed", "'[{\"a\":1}]'", "Holder.setOfMixed must not hold collections"),
            (
                "listOfAddress", "'[null]'",
                "Holder.listOfAddress must hold objects of class Address"
            ),
            ("address", "'{\"plz\":1}'", "Holder.address does not fit class Address"),
            ("address", "'{\"zip\":\"1010\"}'", "Holder.address does not fit class Address"),
            ("address", "'{\"street\":null}'", "Holder.address does not fit class Address"),
            ("address", "'{\"since\":\"never\"}'", "Holder.address does not fit class Address"),
            ("address", "'{\"tags\":{}}'", "Holder.address does not fit class Address"),
            ("address", "'[]'", "CHECK constraint failed: Holder.address must be a JSON object"),
        ]
    )
    func refusals(column: String, value: String, message: String) throws {
        let fixture = try RealmFixture(.wholeModel)
        let program = try fixture.connect()
        let insert = try #require(throws: SQLiteError.self) {
            try program.execute("INSERT INTO Holder(_id, \(column)) VALUES (1, \(value))")
        }
        #expect(insert.message == message)
        try program.execute("INSERT INTO Holder(_id) VALUES (1)")
        let update = try #require(throws: SQLiteError.self) {
            try program.execute("UPDATE Holder SET \(column) = \(value)")
        }
        #expect(update.message == message)
        #expect(try fixture.captured() == ["1,insert"])
    }

    @Test(
        "Valid values are accepted, in every form that the agent itself may write",
        arguments: [
            ("any", #"{"$oid":"5f63e882536d46e4718779a0"}"#), ("listOfInt", "[9007199254740993]"),
            ("setOfBool", "[true,false]"), ("listOfIntOrNull", "[null,1]"),
            ("listOfString", #"["é",{"$string":{"base64":"AA=="}}]"#),
            ("dictionaryOfString", #"{"$string:AA==":"x","":"y"}"#),
            ("listOfDouble", #"[1,1.5,{"$numberDouble":"-0.0"}]"#),
            ("setOfFloat", #"[{"$numberFloat":"NaN"}]"#),
            ("listOfTimestamp", #"["@-9223372036854775808.-999999999"]"#),
            ("listOfDecimal", ##"["1.00","-NaN","#00000000000000000000000000000000"]"##),
            ("listOfPerson", #"["kim",{"$string":{"base64":"AA=="}}]"#),
            ("dictionaryOfPerson", #"{"a":null,"b":"kim"}"#),
            ("listOfMixed", #"[[{"a":[]}],null,1]"#), ("dictionaryOfAddress", #"{"home":null}"#),
            ("setOfMixed", #"[ { "$date" : "2026-01-01" }, 1]"#),
            ("address", #"{"tags":null,"geo":{"x":1}}"#), ("address", "{}"),
        ]
    )
    func accepted(column: String, value: String) throws {
        let fixture = try RealmFixture(.wholeModel)
        let program = try fixture.connect()
        try program.run("INSERT INTO Holder(_id, \(column)) VALUES (1, ?)", [.text(value)])
        try program.run("INSERT INTO Holder(_id) VALUES (2)")
        try program.run("UPDATE Holder SET \(column) = ? WHERE _id = 2", [.text(value)])
        let report = try fixture.realm.drain()
        #expect(report.rejected == [])
    }

    @Test("NULL in a collection's column stores the empty one")
    func emptyCollections() throws {
        let fixture = try RealmFixture(.wholeModel)
        let program = try fixture.connect()
        try program.execute(
            """
            INSERT INTO Holder(_id, listOfInt, setOfInt) VALUES (1, NULL, '[1]');
            UPDATE Holder SET setOfInt = NULL, dictionaryOfInt = NULL
            """
        )
        let row = "SELECT listOfInt, setOfInt, dictionaryOfInt, any FROM Holder"
        #expect(try fixture.rows(row) == ["[]|[]|{}|null"])
    }

    @Test("Objects of an asymmetric class cannot be changed, and are deleted when drained")
    func asymmetric() throws {
        let fixture = try RealmFixture(.wholeModel)
        _ = try fixture.realm.drain()
        let program = try fixture.connect()
        try program.execute("INSERT INTO Event(what, \"values\") VALUES ('boot', '[1]')")
        for sql in ["UPDATE Event SET what = 'x'", "DELETE FROM Event"] {
            let error = try #require(throws: SQLiteError.self) { try program.execute(sql) }
            #expect(error.message.hasPrefix("objects of Event are sent as they were inserted"))
        }
        let sent = try fixture.drained()
        #expect(sent.count == 3)
        #expect(sent[1].hasSuffix(": what = \"boot\""))
        #expect(try fixture.rows("SELECT * FROM Event") == [])
        #expect(try fixture.drained() == [])
    }

    @Test("Objects of a class without primary key can be changed and deleted, but not inserted")
    func withoutKey() throws {
        let fixture = try RealmFixture(.wholeModel)
        let object = ObjectReference(className: "Bare", key: .globalKey(GlobalKey(high: 2, low: 7)))
        _ = try fixture.realm.drain()
        try fixture.receive { writer in
            writer.createObject(object)
            writer.update(object, "text", to: .scalar(.string("theirs")))
            writer.update(object, "next", to: .scalar(.link(object)))
        }
        #expect(try fixture.rows("SELECT _realm_key, text, next FROM Bare") == ["2:7|theirs|2:7"])
        let program = try fixture.connect()
        let error = try #require(throws: SQLiteError.self) {
            try program.execute("INSERT INTO Bare(text) VALUES ('x')")
        }
        #expect(
            error.message == "Bare has no primary key: its objects can only come from the server"
        )
        try program.execute("UPDATE Bare SET text = 'ours'")
        #expect(try fixture.drained() == ["Bare 2:7: text = \"ours\""])
        try program.execute("DELETE FROM Bare")
        #expect(try fixture.drained() == ["EraseObject Bare 2:7"])
    }

    @Test("A new property of an embedded class changes the checks of the classes that hold it")
    func embeddedProperty() throws {
        let fixture = try RealmFixture(.wholeModel)
        _ = try fixture.realm.drain()
        let program = try fixture.connect()
        try program.execute(#"INSERT INTO Holder(_id, address) VALUES (1, '{"street":"A"}')"#)
        var schema = RealmSchema.wholeModel
        var address = try #require(schema["Address"])
        address.update(.init(name: "city", type: .string, isNullable: false))
        schema.update(address)
        try fixture.reopen(schema)
        let update = #"UPDATE Holder SET address = '{"street":"A","city":"Wien"}'"#
        try program.execute(update)
        #expect(try fixture.drained().first == "AddColumn Address.city string")
        var erasure = Changeset()
        let (className, field) = (
            erasure.strings.intern("Address"), erasure.strings.intern("city")
        )
        erasure.instructions.append(.eraseColumn(className: className, field: field))
        try fixture.receive(erasure)
        let stored =
            #"{"street":"A","zip":null,"since":null,"visits":0,"owner":null,"tags":[],"#
            + #""any":null,"geo":null,"points":[]}"#
        #expect(try fixture.rows("SELECT address FROM Holder") == [stored])
        #expect(throws: SQLiteError.self) { try program.execute(update) }
        #expect(try fixture.drained() == [])
    }
}
