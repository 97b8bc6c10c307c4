import FoundationEssentials
import Glibc
import TestSupport
import Testing

@Suite("The operator's console", .serialized, .timeLimit(.minutes(10)))
struct ConsoleTests {
    private static let hostile = "<img/src=x/onerror=alert(1)>@example.com"
    private static let pending = "waiting@example.com"

    /// A server with a user of a hostile name, an account that waits, and a console; `body` gets the
    /// console's address with its key.
    private func withConsole(_ body: (Deployment, String) async throws -> Void) async throws {
        let deployment = try Deployment()
        defer { deployment.remove() }
        let configuration = "\(deployment.directory)/server.yaml"
        let text = try String(contentsOfFile: configuration, encoding: .utf8)
        try deployment.write(
            "server.yaml",
            text.replacing("auto_confirm: true", with: "auto_confirm: false")
        )
        try deployment.configure("a")
        try await deployment.withServer { _ in
            try await deployment.sync("a")
            let created = try await Programs.run(
                "realm-server",
                [
                    "users", "create", "--app", Deployment.app, Self.hostile, "--config",
                    configuration,
                ],
                input: "correct horse\n"
            )
            #expect(created.status == 0, "\(created.errors)")
            #expect(try deployment.logIn(Self.hostile, "correct horse").status == 200)
            let registration = try await curl(
                [
                    "--json", #"{"email":"\#(Self.pending)","password":"correct horse"}"#,
                    "http://127.0.0.1:\(deployment.port)/api/client/v2.0/app/\(Deployment.app)"
                        + "/auth/providers/local-userpass/register",
                ]
            )
            #expect(registration.hasSuffix("201"), "\(registration)")
            let file = "\(deployment.directory)/address"
            try await deployment.withDaemon(
                "realm-server",
                ["console", "--port", "0", "--config", configuration],
                through: ["/bin/bash", "-c", "exec \"$@\" >\(file)", "console"],
                log: "console",
                isUp: { FileManager.default.contents(atPath: file)?.contains(10) == true }
            ) { _ in
                let address = try String(contentsOfFile: file, encoding: .utf8)
                try await body(deployment, String(address.prefix { $0 != "\n" }))
            }
        }
    }

    /// The response and its status.
    private func curl(_ arguments: [String]) async throws -> String {
        let common = ["--silent", "--max-time", "60", "--write-out", "%{http_code}"]
        return try await Programs.run("curl", common + arguments).output
    }

    private func syncState(_ deployment: Deployment) async throws -> String {
        try await Programs.run(
            "realm-server",
            [
                "sync", "status", "--app", Deployment.app, "--config",
                "\(deployment.directory)/server.yaml",
            ]
        ).output
    }

    @Test("The console shows and controls the server, for the holder of its key only")
    func console() async throws {
        try await withConsole { deployment, address in
            let site = String(address.prefix { $0 != "?" })
            #expect(site.hasPrefix("http://127.0.0.1:"))
            #expect(try await curl([site]).hasSuffix("403"))
            let jar = "\(deployment.directory)/cookies"
            let page = try await curl(["--location", "--cookie-jar", jar, "--cookie", jar, address])
            #expect(page.hasSuffix("200"))
            #expect(page.contains(">\(Deployment.app)</a>"))
            #expect(page.contains("&lt;img/src=x/onerror=alert(1)&gt;@example.com"))
            #expect(!page.contains("<img"))
            #expect(page.contains(#"value="\#(Self.pending)""#))

            let mark = #"name="token" value=""#
            let rest = try #require(page.firstRange(of: mark)).upperBound
            let token = String(page[rest...].prefix { $0 != "\"" })
            let origin = String(site.dropLast())
            func pause(_ token: String, origin: String, cookies: Bool = true) async throws -> String
            {
                try await curl(
                    (cookies ? ["--cookie", jar] : []) + [
                        "--header", "Origin: \(origin)", "--data-urlencode", "token=\(token)",
                        "--data", "verb=pause", "--data", "app=\(Deployment.app)", site,
                    ]
                )
            }
            #expect(try await pause("0", origin: origin).hasSuffix("403"))
            #expect(try await pause(token, origin: "http://127.0.0.1:1").hasSuffix("403"))
            #expect(try await pause(token, origin: origin, cookies: false).hasSuffix("403"))
            #expect(try await syncState(deployment).contains("sync enabled"))
            #expect(try await pause(token, origin: origin).hasSuffix("303"))
            #expect(try await syncState(deployment).contains("sync paused"))

            // Nothing of it is on the clients' port, and nothing of the admin API on the console's.
            let query = String(address.dropFirst(site.count))
            let port = "http://127.0.0.1:\(deployment.port)/"
            for path in [query, "style.css", "console"] {
                #expect(try await curl(["\(port)\(path)"]).hasSuffix("404"), "\(path)")
            }
            #expect(try await curl(["--cookie", jar, "\(site)admin/v1/apps"]).hasSuffix("404"))
            // The calls are in the server's log, like those of the commands.
            #expect(deployment.log("server").contains("/admin/v1/apps/\(Deployment.app)/sync"))
        }
    }

    @Test("Without a server the console does not start")
    func noServer() async throws {
        let deployment = try Deployment()
        defer { deployment.remove() }
        let outcome = try await Programs.run(
            "realm-server",
            ["console", "--port", "0", "--config", "\(deployment.directory)/server.yaml"]
        )
        #expect(outcome.status == 3)
        #expect(outcome.output.isEmpty)
    }

    @Test(
        "An operator uses the console in a real browser, without JavaScript",
        .enabled(
            if: access("/usr/bin/chromedriver", X_OK) == 0 || ConsoleTests.isRequired,
            "chromium and chromium-driver are not installed"
        )
    )
    func browser() async throws {
        let script = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "scripts/browser/console.py").path
        try await withConsole { deployment, address in
            let outcome = try await Programs.run(
                "timeout",
                [
                    "300", "python3", script, address, Deployment.app, Self.pending,
                    "\(deployment.directory)/pictures", "\(Programs.directory)/realm-server",
                    "--config", "\(deployment.directory)/server.yaml",
                ]
            )
            #expect(outcome.status == 0, "\(outcome.output)\(outcome.errors)")
        }
    }

    /// With this variable a missing browser is a failure.
    static let isRequired = ProcessInfo.processInfo.environment["REALM_REQUIRE_BROWSER"] == "1"
}
