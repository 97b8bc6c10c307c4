import FoundationEssentials
import TestSupport
import Testing

/// Client reset, 10: the modes of resets, for realms with subscriptions.
@Suite("Client resets of realms with subscriptions", .serialized, .timeLimit(.minutes(20)))
struct FlexibleResetTests {
    private static let mine =
        "INSERT INTO Item(_id, store, amount) VALUES (300, 'a', 1), (301, 'b', 1);"

    /// Sync was terminated while the clerk's realm was suspended, with three changes and a set pending: one
    /// object in the view, one outside of it, one changed.
    private func with(
        mode: String,
        _ body: (FlexibleDeployment) async throws -> Void
    ) async throws {
        let flexible = try FlexibleDeployment()
        defer { flexible.base.remove() }
        try flexible.configure(
            "boss",
            user: .emailPassword,
            subscriptions: "[ { name: all, class: Item } ]"
        )
        try flexible.configure(
            "clerk",
            subscriptions: "[ { name: own, class: Item, query: \"store == 'a'\" } ]"
        )
        let path = "\(flexible.base.directory)/clerk.yaml"
        let text = try String(contentsOfFile: path, encoding: .utf8)
        try flexible.base.write("clerk.yaml", text + "\n    client_reset: { mode: \(mode) }\n")
        try await flexible.base.withServer { _ in
            try await flexible.base.withAgent("boss") { _ in
                #expect(try await flexible.base.sync("boss").status == 0)
                try await flexible.insert("boss", 1...5, store: "a")
                try await flexible.insert("boss", 6...8, store: "b")
                #expect(try await flexible.base.sync("boss").status == 0)
            }
            try await flexible.base.withAgent("clerk") { _ in
                let sync = try await flexible.base.sync("clerk")
                #expect(sync.status == 0, "\(sync.errors)\(flexible.base.log("clerk"))")
                #expect(try await flexible.agent("clerk", "suspend", "stock").status == 0)
                try await Programs.sqlite3(
                    flexible.base.file("clerk"),
                    "\(Self.mine) UPDATE Item SET note = 'mine' WHERE _id = 1;"
                )
                let add = try await flexible.agent(
                    "clerk",
                    "subscriptions",
                    "add",
                    "stock",
                    "Item",
                    "store == 'b'",
                    "--name",
                    "more"
                )
                #expect(add.status == 0, "\(add.errors)")
                for command in [["terminate", "--yes"], ["enable"]] {
                    let outcome = try await Programs.run(
                        "realm-server",
                        ["sync"] + command
                            + [
                                "--config", "\(flexible.base.directory)/server.yaml", "--app",
                                Deployment.app,
                            ]
                    )
                    #expect(outcome.status == 0, "\(outcome.errors)")
                }
                try await body(flexible)
            }
        }
    }

    private func rehearsal(_ flexible: FlexibleDeployment, _ mode: String) async throws -> String {
        let outcome = try await flexible.agent(
            "clerk",
            "reset",
            "stock",
            "--dry-run",
            "--mode",
            mode
        )
        return outcome.output + outcome.errors
    }

    private func subscriptions(_ flexible: FlexibleDeployment) async throws -> String {
        try await Programs.sqlite3(
            flexible.base.file("clerk"),
            """
            SELECT group_concat(name, ' ') FROM (SELECT name FROM _realm_subscription
            WHERE set_version = (SELECT max(version) FROM _realm_subscription_set) ORDER BY name);
            """
        ).filter { $0 != "\n" }
    }

    private func expectRecovered(_ flexible: FlexibleDeployment) async throws {
        try await until { flexible.base.log("clerk").contains("client reset finished") }
        let sync = try await flexible.base.sync("clerk")
        #expect(sync.status == 0, "\(sync.errors)\(flexible.base.log("clerk"))")
        // The forbidden write was uploaded before the pending set, which is complete now.
        try await until { try await flexible.stores("clerk") == "a 6, b 3" }
        #expect(try await subscriptions(flexible) == "more yaml:own")
        let rejects = try await flexible.agent("clerk", "rejects", "stock", "--json")
        #expect(rejects.output.split(separator: "\n").count == 1, "\(rejects.output)")
        #expect(rejects.output.contains("301"))
        #expect(rejects.output.contains("outside of the current query view"))
        #expect(try await flexible.base.sync("boss").status == 0)
        #expect(try await flexible.stores("boss") == "a 6, b 3")
        let note = try await Programs.sqlite3(
            flexible.base.file("boss"),
            "SELECT note FROM Item WHERE _id = 1;"
        )
        #expect(note == "mine\n")
    }

    @Test(
        "Recovery keeps the subscriptions and the pending set; forbidden writes end in rejects",
        arguments: ["recover-unsynced-changes", "recover-or-discard-unsynced-changes"]
    )
    func recover(mode: String) async throws {
        try await with(mode: mode) { flexible in
            let rehearsed = try await rehearsal(flexible, mode)
            #expect(rehearsed.contains("recover  Item 300"), "\(rehearsed)")
            #expect(rehearsed.contains("recover  Item 1: note"), "\(rehearsed)")
            // Nothing has changed.
            #expect(try await flexible.stores("clerk") == "a 6, b 1")
            #expect(try await subscriptions(flexible) == "more yaml:own")
            #expect(try await flexible.agent("clerk", "resume", "stock").status == 0)
            try await expectRecovered(flexible)
        }
    }

    @Test("Discarding keeps the active set and drops the pending one with the changes")
    func discard() async throws {
        try await with(mode: "discard-unsynced-changes") { flexible in
            let rehearsed = try await rehearsal(flexible, "discard-unsynced-changes")
            #expect(rehearsed.contains("discard  Item 300"), "\(rehearsed)")
            #expect(try await flexible.stores("clerk") == "a 6, b 1")
            #expect(try await flexible.agent("clerk", "resume", "stock").status == 0)
            try await until { flexible.base.log("clerk").contains("client reset finished") }
            let sync = try await flexible.base.sync("clerk")
            #expect(sync.status == 0, "\(sync.errors)\(flexible.base.log("clerk"))")
            #expect(try await flexible.stores("clerk") == "a 5")
            #expect(try await subscriptions(flexible) == "yaml:own")
            let rejects = try await flexible.agent("clerk", "rejects", "stock", "--json")
            #expect(rejects.output == "")
            #expect(try await flexible.base.sync("boss").status == 0)
            #expect(try await flexible.stores("boss") == "a 5, b 3")
        }
    }

    @Test("A manual reset waits with everything in place, until its owner chooses to recover")
    func manual() async throws {
        try await with(mode: "manual") { flexible in
            #expect(try await flexible.agent("clerk", "resume", "stock").status == 0)
            try await until {
                try await flexible.agent("clerk", "status").output.contains("reset.manual")
            }
            #expect(try await flexible.stores("clerk") == "a 6, b 1")
            #expect(try await subscriptions(flexible) == "more yaml:own")
            let rehearsed = try await rehearsal(flexible, "recover-unsynced-changes")
            #expect(rehearsed.contains("recover  Item 300"), "\(rehearsed)")
            let reset = try await flexible.agent(
                "clerk",
                "reset",
                "stock",
                "--mode",
                "recover-unsynced-changes"
            )
            #expect(reset.status == 0, "\(reset.output)\(reset.errors)")
            try await expectRecovered(flexible)
        }
    }
}
