import FoundationEssentials
import Glibc
import TestSupport
import Testing

/// A fault has one code, and one remedy, wherever an operator looks.
@Suite(
    "Faults in status, doctor, log and exit status, with the real programs",
    .serialized,
    .timeLimit(.minutes(30))
)
struct FaultWordsTests {
    @Test("A server that is gone, and returns")
    func serverGone() async throws {
        let world = try ResetWorld()
        defer { world.remove() }
        try world.configure("north")
        let first = try await world.deployment.withServer { _ in
            try await world.deployment.sync("north")
        }
        #expect(first.status == 0)
        // Also from the start, when nothing has been reached yet.
        try await world.deployment.withAgent("north") { _ in
            try await world.expectWords(
                "connection.failed",
                "offline",
                exit: 3,
                remedy: "`realm-agent check --connect`"
            )
            try await world.deployment.withServer { _ in
                try await world.expectState("open", on: "north")
            }
        }
    }

    @Test("An app that the server does not know, until app_id is corrected")
    func unknownApp() async throws {
        let world = try ResetWorld()
        defer { world.remove() }
        try world.configure("north")
        let right = "app_id: \(Deployment.app)"
        try world.change("north.yaml", right, "app_id: another")
        try await world.deployment.withServer { _ in
            try await world.deployment.withAgent("north") { _ in
                try await world.expectWords(
                    "auth.unknown_app",
                    "login-required",
                    exit: 4,
                    remedy: "correct `app_id` or `base_url`"
                )
            }
            try world.change("north.yaml", "app_id: another", right)
            #expect(try await world.deployment.sync("north").status == 0)
        }
    }

    @Test("A server that is frozen, until it runs again")
    func serverSilent() async throws {
        let world = try ResetWorld()
        defer { world.remove() }
        try world.configure("north")
        try world.change(
            "north.yaml",
            "backoff: { initial: 100ms, maximum: 1s }",
            """
            backoff: { initial: 20s, maximum: 20s, jitter: 0 }
                timeouts: { connect: 1s, request: 1s }
            """
        )
        try await world.deployment.withServer { server in
            defer { kill(server.pid, SIGCONT) }
            #expect(try await world.deployment.sync("north").status == 0)
            kill(server.pid, SIGSTOP)
            try await world.deployment.withAgent("north") { _ in
                try await world.expectWords(
                    "connection.failed",
                    "offline",
                    exit: 3,
                    remedy: "`realm-agent check --connect`"
                )
                kill(server.pid, SIGCONT)
                #expect(try await world.agent("north", "reconnect").status == 0)
                try await world.expectState("open", on: "north")
            }
        }
    }

    @Test("A name that no server knows")
    func noName() async throws {
        let world = try ResetWorld()
        defer { world.remove() }
        try world.configure("north")
        try world.change(
            "north.yaml",
            "http://127.0.0.1:\(world.deployment.port)",
            "https://no-such-host.invalid"
        )
        try await world.deployment.withAgent("north") { _ in
            try await world.expectWords(
                "connection.failed",
                "waiting-for-user",
                exit: 3,
                remedy: "`realm-agent check --connect`"
            )
            #expect(try await world.agent("north", "doctor").output.contains("PROBLEM  dns  app: "))
        }
    }

    @Test("A wrong password, until it is corrected as the remedy says")
    func wrongPassword() async throws {
        let world = try ResetWorld()
        defer { world.remove() }
        try world.configure("north", user: .emailPassword)
        try await world.deployment.withServer { _ in
            #expect(try await world.deployment.sync("north").status == 0)
            _ = try await world.deployment.withAgent("north") { _ in
                try await world.agent("north", "users", "logout", "north")
            }
            try world.deployment.write("password", "wrong horse\n")
            try await world.deployment.withAgent("north") { _ in
                _ = try await world.agent("north", "users", "login", "north")
                try await world.expectWords(
                    "auth.refused",
                    "login-required",
                    exit: 4,
                    remedy: "`realm-agent users login north`"
                )
                try world.deployment.write("password", "correct horse\n")
                #expect(try await world.agent("north", "users", "login", "north").status == 0)
                try await world.expectState("open", on: "north")
            }
        }
    }

    @Test("A permission that is withdrawn and granted again, with the remedy and with a handler")
    func permission() async throws {
        let world = try ResetWorld()
        defer { world.remove() }
        let directory = world.deployment.directory
        func allow(_ partition: String) async throws {
            try world.deployment.write(
                "server.d/10.yaml",
                """
                apps: { test-app: { access: { read: "partition == '\(partition)'" } } }
                """
            )
            let reload = try await Programs.run(
                "realm-server",
                ["reload", "--config", "\(directory)/server.yaml"]
            )
            #expect(reload.status == 0, "\(reload.errors)")
        }
        try FileManager.default.createDirectory(
            atPath: "\(directory)/server.d",
            withIntermediateDirectories: true
        )
        let retry = try world.program("retry", #"echo '{"decision":"retry","after":"100ms"}'"#)
        try world.configure("north")
        try await world.deployment.withServer { _ in
            try await allow("main")
            try await world.deployment.withAgent("north") { _ in
                #expect(try await world.deployment.sync("north").status == 0)
                try await allow("other")
                // A session that runs meets the new rules when it binds again.
                #expect(try await world.agent("north", "restart", "stock").status == 0)
                try await world.expectWords(
                    "sync.permission_denied",
                    "failed",
                    exit: 1,
                    remedy: "`realm-agent restart stock`"
                )
                try await allow("main")
                #expect(try await world.agent("north", "restart", "stock").status == 0)
                try await world.expectState("open", on: "north")
                // A handler that retries does without an operator.
                try world.configure(
                    "north",
                    realm: "on_error: [again]",
                    plugins: "again: { use: exec, command: [\(retry)] }"
                )
                try await allow("other")
                #expect(try await world.agent("north", "reload").status == 0)
                try await world.expectState("failed", "sync.permission_denied", on: "north")
                try await allow("main")
                try await world.expectState("open", on: "north")
                #expect(try await world.deployment.sync("north").status == 0)
            }
        }
    }

    @Test("A schema that the server does not allow")
    func schemaConflict() async throws {
        let world = try ResetWorld()
        defer { world.remove() }
        try world.configure("south")
        try await world.deployment.withServer { _ in
            #expect(try await world.deployment.sync("south").status == 0)
            try world.change("schema.yaml", "amount: int?", "amount: string?")
            try world.configure("north")
            try await world.deployment.withAgent("north") { _ in
                // The agent's schema and the server's history cross: either end may see the conflict first.
                var first = ""
                _ = try await eventually {
                    first = try await world.faultStatus()?.error?.code ?? ""
                    return ["sync.invalid_schema_change", "reset.schema_breaking"].contains(first)
                }
                if first == "reset.schema_breaking" {
                    try await world.expectWords(
                        first,
                        "needs-reset",
                        exit: 5,
                        remedy: "adapt the schemas, or start over with `--mode manual`"
                    )
                } else {
                    try await world.expectWords(
                        "sync.invalid_schema_change",
                        "failed",
                        exit: 1,
                        remedy: "then `realm-agent reload` and `realm-agent restart stock`"
                    )
                }
            }
        }
    }
}
