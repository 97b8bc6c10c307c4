import FoundationEssentials
import SQLite
import Subprocess
import TestSupport
import Testing

@Suite(
    "Subscriptions and rejected writes with the real programs",
    .serialized,
    .timeLimit(.minutes(30))
)
struct FlexibleVerbTests {
    private static let everything = "[ { name: all, class: Item } ]"

    /// A manager's agent with rows in three stores, and a clerk's that subscribes to store `a`.
    private func with(
        _ body: (FlexibleDeployment, Deployment.Daemon) async throws -> Void
    ) async throws {
        let flexible = try FlexibleDeployment()
        defer { flexible.base.remove() }
        try flexible.configure("boss", user: .emailPassword, subscriptions: Self.everything)
        try flexible.configure(
            "clerk",
            subscriptions: "[ { name: own, class: Item, query: \"store == 'a'\" } ]"
        )
        try await flexible.base.withServer { _ in
            try await flexible.base.withAgent("boss") { _ in
                let first = try await flexible.base.sync("boss")
                #expect(first.status == 0, "\(first.errors)\(flexible.base.log("boss"))")
                try await flexible.insert("boss", 1...10, store: "a")
                try await flexible.insert("boss", 11...15, store: "b")
                try await flexible.insert("boss", 16...18, store: "secret")
                #expect(try await flexible.base.sync("boss").status == 0)
                try await flexible.base.withAgent("clerk") { clerk in
                    let sync = try await flexible.base.sync("clerk")
                    #expect(sync.status == 0, "\(sync.errors)\(flexible.base.log("clerk"))")
                    try await body(flexible, clerk)
                }
            }
        }
    }

    @Test("Subscriptions are declared, added, updated and removed; roles decide, too")
    func subscriptions() async throws {
        try await with { flexible, _ in
            #expect(try await flexible.stores("clerk") == "a 10")
            let list = try await flexible.agent("clerk", "subscriptions", "list", "stock")
            #expect(list.status == 0, "\(list.errors)")
            #expect(list.output.contains("active set 1: complete"), "\(list.output)")
            #expect(list.output.contains("configuration  own"), "\(list.output)")

            let add = try await flexible.agent(
                "clerk",
                "subscriptions",
                "add",
                "stock",
                "Item",
                "store IN {'b', 'secret'}",
                "--name",
                "more",
                "--wait",
                "--timeout",
                "60s"
            )
            #expect(add.status == 0, "\(add.output)\(add.errors)")
            #expect(add.output.contains("set 2 complete"))
            #expect(try await flexible.stores("clerk") == "a 10, b 5")

            let update = try await flexible.agent(
                "clerk",
                "subscriptions",
                "update",
                "stock",
                "store == 'b' AND amount > 13",
                "--name",
                "more",
                "--wait",
                "--timeout",
                "60s"
            )
            #expect(update.status == 0, "\(update.output)\(update.errors)")
            #expect(try await flexible.stores("clerk") == "a 10, b 2")
            // Rows that left the view were not deleted for others.
            #expect(try await flexible.base.sync("clerk").status == 0)
            #expect(try await flexible.base.sync("boss").status == 0)
            #expect(try await flexible.stores("boss") == "a 10, b 5, secret 3")

            let same = try await flexible.agent(
                "clerk",
                "subscriptions",
                "update",
                "stock",
                "store == 'b' AND amount > 13",
                "--name",
                "more"
            )
            #expect(same.output.contains("unchanged"), "\(same.output)")

            let taken = try await flexible.agent(
                "clerk",
                "subscriptions",
                "add",
                "stock",
                "Item",
                "--name",
                "more"
            )
            #expect(taken.status == 1)
            #expect(taken.errors.contains("[subscription.name_taken]"))
            let declared = try await flexible.agent(
                "clerk",
                "subscriptions",
                "remove",
                "stock",
                "--name",
                "own"
            )
            #expect(declared.status == 1)
            #expect(declared.errors.contains("[subscription.declared]"), "\(declared.errors)")

            let nothing = try await flexible.agent(
                "clerk",
                "subscriptions",
                "add",
                "stock",
                "Item",
                "store == 'nowhere'",
                "--wait",
                "--timeout",
                "60s"
            )
            #expect(nothing.status == 0, "\(nothing.output)\(nothing.errors)")
            let doctor = try await Programs.run(
                "realm-agent",
                ["doctor", "--config", "\(flexible.base.directory)/clerk.yaml"]
            )
            #expect(
                doctor.output.contains("where store == \"nowhere\" selects no object"),
                "\(doctor.output)"
            )
            #expect(!doctor.output.contains("where store == \"a\""))

            let remove = try await flexible.agent(
                "clerk",
                "subscriptions",
                "remove",
                "stock",
                "--all",
                "--wait",
                "--timeout",
                "60s"
            )
            #expect(remove.status == 0, "\(remove.output)\(remove.errors)")
            #expect(try await flexible.stores("clerk") == "a 10")
        }
    }

    @Test("A set that the server rejects is reported with its subscription; the active one stays")
    func rejectedSet() async throws {
        try await with { flexible, _ in
            let bad = try await flexible.agent(
                "clerk",
                "subscriptions",
                "add",
                "stock",
                "Item",
                "note == 'x'",
                "--name",
                "notes",
                "--wait",
                "--timeout",
                "60s"
            )
            #expect(bad.status == 1)
            #expect(bad.output.contains("rejected by the server"), "\(bad.output)\(bad.errors)")
            #expect(bad.output.contains("\"notes\""), "\(bad.output)")
            let list = try await flexible.agent("clerk", "subscriptions", "list", "stock")
            #expect(list.output.contains("added, rejected  notes"), "\(list.output)")
            let status = try await flexible.agent("clerk", "status", "stock")
            #expect(
                status.output.contains("the server rejected subscription set 2"),
                "\(status.output)"
            )
            let events = try await flexible.agent("clerk", "events", "--realm", "stock")
            #expect(events.output.contains(#""state":"error""#), "\(events.output)")
            // The active set still syncs, and the next good set works.
            try await flexible.insert("boss", 101...102, store: "a")
            #expect(try await flexible.base.sync("boss").status == 0)
            #expect(try await flexible.base.sync("clerk").status == 0)
            #expect(try await flexible.stores("clerk") == "a 12")
            let good = try await flexible.agent(
                "clerk",
                "subscriptions",
                "remove",
                "stock",
                "--name",
                "notes",
                "--wait",
                "--timeout",
                "60s"
            )
            #expect(good.status == 0, "\(good.output)\(good.errors)")
        }
    }

    @Test("A write outside of the view or the rights is undone, with its reason")
    func rejectedWrites() async throws {
        try await with { flexible, _ in
            let other = try await Programs.attemptSQL(
                flexible.base.file("clerk"),
                "INSERT INTO Item(_id, store, amount) VALUES (200, 'b', 1), (201, 'a', 1);"
            )
            #expect(other.status == 0, "\(other.errors)")
            try await Programs.sqlite3(
                flexible.base.file("clerk"),
                "UPDATE Item SET amount = 99, note = 'mine' WHERE _id = 3;"
            )
            #expect(try await flexible.base.sync("clerk").status == 0)
            let isUndone = try await eventually {
                try await flexible.agent("clerk", "rejects", "stock", "--json").output
                    .split(separator: "\n").count == 2
            }
            #expect(isUndone)
            let rejects = try await flexible.agent("clerk", "rejects", "stock")
            #expect(rejects.output.contains("outside of the current query view"))
            #expect(rejects.output.contains("clerk"), "\(rejects.output)")
            let row = try await Programs.sqlite3(
                flexible.base.file("clerk"),
                "SELECT amount, note FROM Item WHERE _id = 3;"
            )
            #expect(row == "3|note 3\n")
            #expect(try await flexible.stores("clerk") == "a 11")

            // The first of the two is allowed once there is a subscription for it.
            let path = "\(flexible.base.directory)/rejects.jsonl"
            let export = try await flexible.agent("clerk", "rejects", "stock", "--export", path)
            #expect(export.status == 0, "\(export.errors)")
            let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
            #expect(lines.count == 2)
            let created = try #require(lines.first { $0.contains(#""store":"b""#) })
            #expect(created.contains(#""row":{"_id":200"#), "\(created)")
            let id = try #require(created.firstMatch(of: /"id":([0-9]+)/)?.1)
            let add = try await flexible.agent(
                "clerk",
                "subscriptions",
                "add",
                "stock",
                "Item",
                "store == 'b'",
                "--wait",
                "--timeout",
                "60s"
            )
            #expect(add.status == 0, "\(add.output)\(add.errors)")
            let retry = try await flexible.agent("clerk", "rejects", "stock", "--retry", "\(id)")
            #expect(retry.status == 0, "\(retry.errors)")
            #expect(retry.output == "Item written again\n")
            #expect(try await flexible.base.sync("clerk").status == 0)
            #expect(try await flexible.base.sync("boss").status == 0)
            #expect(try await flexible.stores("boss") == "a 11, b 6, secret 3")
            #expect(try await flexible.stores("clerk") == "a 11, b 6")
            let unknown = try await flexible.agent("clerk", "rejects", "stock", "--retry", "999")
            #expect(unknown.status == 1)
            #expect(unknown.errors.contains("[reject.unknown]"))
        }
    }

    @Test("A reload with other subscriptions makes a new set, without a reset")
    func reload() async throws {
        try await with { flexible, _ in
            func ident() async throws -> String {
                try await Programs.sqlite3(
                    flexible.base.file("clerk"),
                    "SELECT client_file_ident FROM _realm_state;"
                )
            }
            let before = try await ident()
            try flexible.configure(
                "clerk",
                subscriptions: "[ { class: Item, query: \"store == 'b'\" } ]"
            )
            let reload = try await flexible.agent("clerk", "reload")
            #expect(reload.status == 0, "\(reload.errors)")
            let hasChanged = try await eventually { try await flexible.stores("clerk") == "b 5" }
            #expect(hasChanged, "\(flexible.base.log("clerk"))")
            #expect(try await ident() == before)
            let bad = "[ { class: Item, query: \"stor == 'b'\" } ]"
            try flexible.configure("clerk", subscriptions: bad)
            let refused = try await flexible.agent("clerk", "reload")
            #expect(refused.status == 2)
            #expect(refused.errors.contains("Item has no property stor"), "\(refused.errors)")
        }
    }

    @Test("Lines are ingested into classes with a subscription, and only into these")
    func ingest() async throws {
        try await with { flexible, _ in
            let files = ["--config", "\(flexible.base.directory)/clerk.yaml"]
            let item = try await Programs.run(
                "realm-agent",
                ["ingest", "stock", "Item"] + files,
                input: #"{"_id":300,"store":"a"}"# + "\n" + #"{"_id":301,"store":"a"}"# + "\n"
            )
            #expect(item.status == 0, "\(item.errors)")
            #expect(try await flexible.base.sync("clerk").status == 0)
            #expect(try await flexible.base.sync("boss").status == 0)
            #expect(try await flexible.stores("boss") == "a 12, b 5, secret 3")
            let tag = try await Programs.run(
                "realm-agent",
                ["ingest", "stock", "Tag"] + files,
                input: #"{"_id":1}"# + "\n"
            )
            #expect(tag.status == 1)
            #expect(
                tag.errors.contains(
                    "Cannot write to class Tag when no flexible sync subscription has been created."
                ),
                "\(tag.errors)"
            )
        }
    }

    @Test("A realm with subscriptions is compared within its view")
    func comparison() async throws {
        try await with { flexible, _ in
            let equal = try await flexible.agent("clerk", "verify", "stock")
            #expect(equal.status == 0, "\(equal.output)\(equal.errors)")
            #expect(equal.output.contains("Item: 10 objects, equal"))
            let connection = try Connection(
                path: flexible.base.file("clerk"),
                .init(mode: .readWrite)
            )
            try connection.setTriggersEnabled(false)
            try connection.execute(
                "UPDATE Item SET note = 'x' WHERE _id = 4; DELETE FROM Item WHERE _id = 5"
            )
            connection.close()
            let different = try await flexible.agent("clerk", "verify", "stock")
            #expect(different.status == 1)
            #expect(different.output.contains("  different  Item 4: note"), "\(different.output)")
            #expect(different.output.contains("  missing  Item 5"), "\(different.output)")
        }
    }

    @Test("Killed at ten moments of a bootstrap and of a change of the set, the agent arrives")
    func killed() async throws {
        let flexible = try FlexibleDeployment()
        defer { flexible.base.remove() }
        try flexible.configure("boss", user: .emailPassword, subscriptions: Self.everything)
        try flexible.configure(
            "clerk",
            subscriptions: "[ { name: own, class: Item, query: \"store == 'a'\" } ]"
        )
        try await flexible.base.withServer { _ in
            try await flexible.base.withAgent("boss") { _ in
                #expect(try await flexible.base.sync("boss").status == 0)
                try await flexible.insert("boss", 1...20_000, store: "a")
                try await flexible.insert("boss", 20_001...40_000, store: "b")
                #expect(try await flexible.base.sync("boss").status == 0)
            }
            for moment in 0..<10 {
                try await flexible.base.withAgent("clerk") { clerk in
                    // From the third on, the set changes, too.
                    if moment >= 3 {
                        let query = "store == 'b' AND amount > \(20_000 + moment * 1000)"
                        _ = try await flexible.agent(
                            "clerk",
                            "subscriptions",
                            "add",
                            "stock",
                            "Item",
                            query,
                            "--name",
                            "more",
                            "--replace"
                        )
                    }
                    try await Task.sleep(for: .milliseconds(moment * 40))
                    clerk.signal(.kill)
                }
            }
            try await flexible.base.withAgent("clerk") { _ in
                let add = try await flexible.agent(
                    "clerk",
                    "subscriptions",
                    "add",
                    "stock",
                    "Item",
                    "store == 'b' AND amount > 39000",
                    "--name",
                    "more",
                    "--replace",
                    "--wait",
                    "--timeout",
                    "600s"
                )
                #expect(add.status == 0, "\(add.output)\(add.errors)\(flexible.base.log("clerk"))")
                #expect(try await flexible.stores("clerk") == "a 20000, b 1000")
                let verify = try await flexible.agent("clerk", "verify", "stock")
                #expect(verify.status == 0, "\(verify.output)\(verify.errors)")
            }
        }
    }
}
