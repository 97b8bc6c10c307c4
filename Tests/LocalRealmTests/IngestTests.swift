import FoundationEssentials
import LocalRealm
import SQLite
import TestSupport
import Testing

@Suite("Importing objects from JSON lines")
struct IngestTests {
    private func lines(_ text: String) -> [Ingest.Line] {
        text.split(separator: "\n").enumerated().map { index, line in
            Ingest.Line(number: index + 1, bytes: Array(line.utf8))
        }
    }

    private func ingest(
        _ text: String,
        into fixture: RealmFixture,
        _ form: Ingest.Form,
        isRehearsal: Bool = false
    ) throws {
        let ingest = try Ingest(into: fixture.path, form)
        defer { ingest.close() }
        try ingest.write(lines(text), isRehearsal: isRehearsal)
    }

    private func refusal(
        _ text: String,
        into fixture: RealmFixture,
        _ form: Ingest.Form
    ) -> String? {
        do {
            try ingest(text, into: fixture, form)
        } catch {
            return (error as? Ingest.Refusal).map { "\($0)" } ?? "\(error)"
        }
        return nil
    }

    @Test("Objects of every type are imported from JSON, and captured")
    func everything() throws {
        let fixture = try RealmFixture(.everything)
        try ingest(
            #"""
            {"_id":1,"int":-9007199254740993,"bool":true,"string":"a\u0000é","binary":"AAE=",
            """#.replacing("\n", with: "")
                + #"""
                "timestamp":"2026-03-04T05:06:07Z","double":{"$numberDouble":"-0.0"},"float":1.5,
                """#.replacing("\n", with: "")
                    + #"""
                    "decimal":"12.50","objectId":"0123456789abcdef01234567","toInt":1,"stringOrNull":null,
                    """#.replacing("\n", with: "")
                    + #"""
                    "uuid":"3b241101-e2bb-4255-8caf-4136c566a962"}
                    {"_id":2}
                    """#,
            into: fixture,
            .objects(className: "Int")
        )
        #expect(
            try fixture.rows(
                "SELECT _id, int, bool, binary, timestamp, decimal, toInt, stringOrNull FROM Int"
            ) == [
                "1|-9007199254740993|1|x0001|2026-03-04T05:06:07.000000000Z|12.50|1|null",
                "2|0|0|x|1970-01-01T00:00:00.000000000Z|0|null|null",
            ]
        )
        #expect(try fixture.realm.drain().rejected == [])
        #expect(try fixture.history().count == 1)
    }

    @Test("Asymmetric objects are sent, and leave no row")
    func asymmetric() throws {
        let fixture = try RealmFixture(.wholeModel)
        try ingest(
            #"""
            {"what":"started","values":[1,2],"where":{"street":"Main 1","tags":["a"]}}
            {"_id":"0123456789abcdef01234567","what":"stopped"}
            """#,
            into: fixture,
            .objects(className: "Event")
        )
        #expect(try fixture.rows("SELECT count(*) FROM Event") == ["2"])
        #expect(try fixture.realm.drain().changesetCount == 1)
        #expect(try fixture.rows("SELECT count(*) FROM Event") == ["0"])
    }

    @Test("An invalid line is named with the position in it, and its batch is not written")
    func refusals() throws {
        let fixture = try RealmFixture(.wholeModel)
        let form = Ingest.Form.objects(className: "Person")
        try ingest(#"{"_id":"kim"}"#, into: fixture, form)
        let good = #"{"_id":"good"}"# + "\n"
        let cases = [
            (#"{"_id":"a","#, ":2:12: error: ingest.bad_object: is not JSON at byte 11: "),
            ("[]", ":2: error: ingest.bad_object: must be a JSON object; "),
            (#"{"_id":7}"#, ":2: error: ingest.bad_object: _id must be "),
            (#"{"_id":"a","nam":"x"}"#, ":2: error: ingest.bad_object: must not have a member nam"),
            (#"{"_id":"a","friends":["b",1]}"#, ":2: error: ingest.bad_object: friends[1] must be"),
            (#"{"_id":"kim"}"#, ":2: error: ingest.exists: an object of Person with this key al"),
            (#"{"name":"no key"}"#, ":2: error: ingest.bad_object: NOT NULL constraint failed"),
        ]
        for (line, message) in cases {
            let refusal = refusal(good + line, into: fixture, form)
            #expect(refusal?.hasPrefix(message) == true, "\(refusal ?? "taken")")
        }
        #expect(try fixture.rows("SELECT _id FROM Person") == ["kim"])
        let unknown = refusal("{}", into: fixture, .objects(className: "Persn"))
        #expect(unknown?.hasPrefix(": error: ingest.unknown_class: ") == true)
        #expect(unknown?.contains("Person") == true)
        // An embedded class has no objects of its own.
        #expect(refusal("{}", into: fixture, .objects(className: "Address")) != nil)
    }

    @Test("A rehearsal finds errors, and keeps nothing")
    func rehearsal() throws {
        let fixture = try RealmFixture(.notes)
        let form = Ingest.Form.objects(className: "Note")
        try ingest(#"{"_id":1,"text":"x"}"#, into: fixture, form, isRehearsal: true)
        #expect(throws: Ingest.Refusal.self) {
            try ingest(#"{"_id":"1"}"#, into: fixture, form, isRehearsal: true)
        }
        #expect(try fixture.rows("SELECT count(*) FROM Note") == ["0"])
        #expect(try fixture.rows("SELECT count(*) FROM _realm_capture") == ["0"])
    }

    @Test("Discarded changes of a reset are written again; another file is refused")
    func recovered() throws {
        let fixture = try RealmFixture(.notes)
        try fixture.connect().execute("INSERT INTO Note VALUES (2, 'server'), (3, 'server')")
        // As written by version 1.
        func line(_ key: String, _ object: String, isDeleted: Bool = false) -> String {
            #"{"class":"Note","isDeleted":\#(isDeleted),"key":"\#(key)","properties":["text"],"#
                + #""sql":"DROP TABLE Note","object":\#(object)}"#
        }
        try ingest(
            [
                line("1", #"{"_id":1,"text":"mine"}"#), line("2", #"{"_id":2,"text":"mine"}"#),
                line("3", "null", isDeleted: true),
            ].joined(separator: "\n"),
            into: fixture,
            .recovered
        )
        let rows = try fixture.rows("SELECT _id, text FROM Note ORDER BY _id")
        #expect(rows == ["1|mine", "2|mine"])
        let bad = [
            line("1; DROP TABLE Note", "{}"), line("'a' OR 1 IS 'a'", "{}"), line("1", "null"),
            line("1", #"{"text":7}"#), line("1", "{}").replacing(#""text""#, with: #""gone""#),
            line("1", "{}").replacing("{\"class", with: "{\"version\":3,\"class"),
        ]
        for line in bad {
            let refusal = refusal(line, into: fixture, .recovered)
            #expect(refusal?.hasPrefix(":1: error: ingest.bad_object: ") == true, "\(line)")
        }
        #expect(refusal("{}", into: fixture, .recovered)?.contains("client reset") == true)
    }
}
