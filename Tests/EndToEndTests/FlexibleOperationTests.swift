import FoundationEssentials
import SQLite
import TestSupport
import Testing

/// Operations of the agent on realms with subscriptions.
@Suite(
    "Copies, handlers and comparisons of realms with subscriptions",
    .serialized,
    .timeLimit(.minutes(20))
)
struct FlexibleOperationTests {
    private static let own = "[ { name: own, class: Item, query: \"store == 'a'\" } ]"

    private func with(
        realm: String = "",
        _ body: (FlexibleDeployment) async throws -> Void
    ) async throws {
        let flexible = try FlexibleDeployment()
        defer { flexible.base.remove() }
        try flexible.configure(
            "boss",
            user: .emailPassword,
            subscriptions: "[ { name: all, class: Item } ]"
        )
        try flexible.configure("clerk", subscriptions: Self.own)
        try append(realm, to: flexible)
        try await flexible.base.withServer { _ in
            try await flexible.base.withAgent("boss") { _ in
                #expect(try await flexible.base.sync("boss").status == 0)
                try await flexible.insert("boss", 1...5, store: "a")
                try await flexible.insert("boss", 6...8, store: "b")
                #expect(try await flexible.base.sync("boss").status == 0)
            }
            try await body(flexible)
        }
    }

    private func append(_ text: String, to flexible: FlexibleDeployment) throws {
        let path = "\(flexible.base.directory)/clerk.yaml"
        let configuration = try String(contentsOfFile: path, encoding: .utf8)
        try flexible.base.write("clerk.yaml", configuration + "\n" + text + "\n")
    }

    private func sync(_ flexible: FlexibleDeployment, _ agent: String) async throws {
        let outcome = try await flexible.base.sync(agent)
        #expect(outcome.status == 0, "\(outcome.errors)\(flexible.base.log(agent))")
    }

    @Test("A copy is a file that is not synced; its objects come back by a merge")
    func copies() async throws {
        try await with { flexible in
            try await flexible.base.withAgent("clerk") { _ in
                try await sync(flexible, "clerk")
                let copy = "\(flexible.base.directory)/copy.sqlite"
                let made = try await flexible.agent("clerk", "copy", "stock", copy, "--to-local")
                #expect(made.status == 0, "\(made.errors)")
                let mode = try await Programs.sqlite3(
                    copy,
                    """
                    SELECT sync_mode, (SELECT count(*) FROM Item),
                      (SELECT count(*) FROM _realm_subscription_set) FROM _realm_state;
                    """
                )
                #expect(mode == "2|5|0\n")
                // Without a server any class can be written.
                try await Programs.sqlite3(
                    copy,
                    "INSERT INTO Item(_id, store) VALUES (100, 'a'); INSERT INTO Tag VALUES (1);"
                )
                let refused = try await flexible.agent(
                    "clerk",
                    "copy",
                    copy,
                    flexible.base.file("clerk"),
                    "--merge"
                )
                #expect(refused.status == 1)
                #expect(refused.errors.contains("Cannot write to class Tag"), "\(refused.errors)")
                try await Programs.sqlite3(copy, "DELETE FROM Tag;")
                let merged = try await flexible.agent(
                    "clerk",
                    "copy",
                    copy,
                    flexible.base.file("clerk"),
                    "--merge"
                )
                #expect(merged.status == 0, "\(merged.errors)")
                try await sync(flexible, "clerk")
            }
            try await sync(flexible, "boss")
            #expect(try await flexible.stores("boss") == "a 6, b 3")
        }
    }

    @Test("A copy continues with its subscriptions, for another user")
    func replica() async throws {
        try await with { flexible in
            try await sync(flexible, "clerk")
            let copy = "\(flexible.base.directory)/copy.sqlite"
            let made = try await flexible.agent("clerk", "copy", "stock", copy)
            #expect(made.status == 0, "\(made.errors)")
            let sets = try await Programs.sqlite3(
                copy,
                "SELECT name, query FROM _realm_subscription;"
            )
            #expect(sets == "yaml:own|store == \"a\"\n")
            try flexible.configure("other", subscriptions: Self.own)
            let path = "\(flexible.base.directory)/other.yaml"
            let text = try String(contentsOfFile: path, encoding: .utf8)
            try flexible.base.write("other.yaml", text + "\n    seed: \(copy)\n")
            try await flexible.base.withAgent("other") { _ in
                try await sync(flexible, "other")
                #expect(try await flexible.stores("other") == "a 5")
                let verify = try await flexible.agent("other", "verify", "stock")
                #expect(verify.status == 0, "\(verify.output)\(verify.errors)")
            }
        }
    }

    @Test("Handlers of errors are asked about rejected writes and rejected sets")
    func handlers() async throws {
        try await with(
            realm: """
                    on_error: [tell]
                plugins:
                  tell: { use: exec, command: [/bin/sh, -c, "cat >> $REQUESTS"], environment: { REQUESTS: REQUESTS_FILE } }
                """
        ) { flexible in
            let file = "\(flexible.base.directory)/requests"
            let path = "\(flexible.base.directory)/clerk.yaml"
            let text = try String(contentsOfFile: path, encoding: .utf8)
            try flexible.base.write("clerk.yaml", text.replacing("REQUESTS_FILE", with: file))
            func requests() -> String {
                (try? String(contentsOfFile: file, encoding: .utf8)) ?? ""
            }
            try await flexible.base.withAgent("clerk") { _ in
                try await sync(flexible, "clerk")
                try await Programs.sqlite3(
                    flexible.base.file("clerk"),
                    "INSERT INTO Item(_id, store) VALUES (200, 'b');"
                )
                try await sync(flexible, "clerk")
                try await until { requests().contains(#""kind":"write_rejected""#) }
                #expect(
                    requests().contains(#""rejects":[{"class":"Item","key":"200","reason":"#),
                    "\(requests())"
                )
                let add = try await flexible.agent(
                    "clerk",
                    "subscriptions",
                    "add",
                    "stock",
                    "Item",
                    "note == 'x'",
                    "--name",
                    "notes"
                )
                #expect(add.status == 0, "\(add.errors)")
                try await until { requests().contains(#""kind":"subscriptions_rejected""#) }
                #expect(requests().contains(#""rejected":[{"class":"Item","name":"notes""#))
                #expect(requests().contains(#""set":2"#), "\(requests())")
                // Neither stops the realm.
                try await sync(flexible, "clerk")
                #expect(try await flexible.stores("clerk") == "a 5")
            }
        }
    }

    @Test("A start sends unchanged subscriptions again only if the configuration says so")
    func rerun() async throws {
        try await with { flexible in
            func version() async throws -> String {
                try await Programs.sqlite3(
                    flexible.base.file("clerk"),
                    "SELECT max(version) FROM _realm_subscription_set;"
                )
            }
            for _ in 0..<2 {
                try await sync(flexible, "clerk")
                #expect(try await version() == "1\n")
            }
            try append("    rerun_subscriptions_on_open: true", to: flexible)
            let check = try await flexible.agent("clerk", "check")
            #expect(check.status == 0, "\(check.output)\(check.errors)")
            for expected in ["2\n", "3\n"] {
                try await flexible.base.withAgent("clerk") { _ in
                    try await sync(flexible, "clerk")
                    try await sync(flexible, "clerk")
                    #expect(try await version() == expected)
                    #expect(try await flexible.stores("clerk") == "a 5")
                }
            }
        }
    }

    @Test("Fields that the user may not read are the same on both ends")
    func masked() async throws {
        let flexible = try FlexibleDeployment()
        defer { flexible.base.remove() }
        let path = "\(flexible.base.directory)/server.yaml"
        let text = try String(contentsOfFile: path, encoding: .utf8)
        try flexible.base.write(
            "server.yaml",
            text.replacing(
                #"- { name: clerk, read: "store != 'secret'", write: "store != 'secret' AND amount != 99" }"#,
                with:
                    "- { name: clerk, read: true, fields: { note: { read: false } }, additional_fields: { read: true } }"
            )
        )
        try flexible.configure(
            "boss",
            user: .emailPassword,
            subscriptions: "[ { class: Item } ]"
        )
        try flexible.configure("clerk", subscriptions: "[ { class: Item } ]")
        try await flexible.base.withServer { _ in
            try await flexible.base.withAgent("boss") { _ in
                try await sync(flexible, "boss")
                try await flexible.insert("boss", 1...5, store: "a")
                try await sync(flexible, "boss")
                let whole = try await flexible.agent("boss", "verify", "stock")
                #expect(whole.status == 0, "\(whole.output)\(whole.errors)")
            }
            try await flexible.base.withAgent("clerk") { _ in
                try await sync(flexible, "clerk")
                let notes = try await Programs.sqlite3(
                    flexible.base.file("clerk"),
                    "SELECT count(*), count(note) FROM Item;"
                )
                #expect(notes == "5|0\n")
                let equal = try await flexible.agent("clerk", "verify", "stock")
                #expect(equal.status == 0, "\(equal.output)\(equal.errors)")
                #expect(equal.output.contains("Item: 5 objects, equal"), "\(equal.output)")
                let connection = try Connection(
                    path: flexible.base.file("clerk"),
                    .init(mode: .readWrite)
                )
                try connection.setTriggersEnabled(false)
                try connection.execute("UPDATE Item SET note = 'note 4' WHERE _id = 4")
                connection.close()
                // What the server has, but this user must not: a difference.
                let different = try await flexible.agent("clerk", "verify", "stock")
                #expect(different.status == 1)
                #expect(
                    different.output.contains("  different  Item 4: note"),
                    "\(different.output)"
                )
            }
        }
    }

    @Test("Links to classes without a subscription are a warning in the status")
    func unsubscribedTargets() async throws {
        let flexible = try FlexibleDeployment()
        defer { flexible.base.remove() }
        try flexible.base.write(
            "schema.yaml",
            """
            classes:
              Item:
                primary_key: _id
                properties: { _id: int, store: string, note: string?, amount: int?, tag: link<Tag>, box: embedded<Box> }
              Tag: { primary_key: _id, properties: { _id: int } }
              Label: { primary_key: _id, properties: { _id: int } }
              Box: { embedded: true, properties: { labels: list<link<Label>> } }
            """
        )
        try flexible.configure("clerk", subscriptions: Self.own)
        try await flexible.base.withServer { _ in
            try await flexible.base.withAgent("clerk") { _ in
                try await sync(flexible, "clerk")
                let status = try await flexible.agent("clerk", "status")
                #expect(
                    status.output.contains("links to Label, Tag read as null"),
                    "\(status.output)"
                )
                let add = try await flexible.agent("clerk", "subscriptions", "add", "stock", "Tag")
                #expect(add.status == 0, "\(add.errors)")
                let less = try await flexible.agent("clerk", "status")
                #expect(less.output.contains("links to Label read as null"), "\(less.output)")
            }
        }
    }
}
