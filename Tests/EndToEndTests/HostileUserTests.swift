import FoundationEssentials
import Testing

/// Users who abuse the doors of a running server: log-ins, tokens and partition paths (app services, 14).
@Suite("Hostile users of a running server", .serialized)
struct HostileUserTests {
    private func server(_ deployment: Deployment, _ words: String...) async throws
        -> Programs.Outcome
    {
        let options = ["--config", "\(deployment.directory)/server.yaml", "--app", Deployment.app]
        return try await Programs.run("realm-server", words + options)
    }

    private func connect(_ deployment: Deployment, _ token: String) throws -> RawConnection {
        let connection = try RawConnection(port: deployment.port)
        try connection.upgrade(Deployment.app, token)
        return connection
    }

    // MARK: Memory

    @Test("Names as long as a body is allowed to be are refused, and none is kept")
    func longNames() async throws {
        let deployment = try Deployment()
        defer { deployment.remove() }
        try await deployment.withServer { server in
            let providers = "/app/\(Deployment.app)/auth/providers/local-userpass"
            // One letter with very many marks is a single character.
            let marks = String(repeating: "\u{301}", count: 1_900_000)
            func attempt(_ number: Int) throws {
                let name = "\(number)e\(marks)"
                let login = try deployment.logIn(name, "wrong horse")
                #expect(login.status == 401, "\(login.body)")
                let bodies = [
                    "confirm": #"{"tokenId":"\#(name)","token":"x"}"#,
                    "reset": #"{"tokenId":"\#(name)","token":"x","password":"new horse"}"#,
                    "reset/send": #"{"email":"\#(name)"}"#,
                ]
                for (path, body) in bodies {
                    let reply = try deployment.call("POST", "\(providers)/\(path)", body)
                    #expect(path == "reset/send" ? reply.status == 404 : reply.status == 400)
                }
            }
            try attempt(0)
            let before = try peakMemory(of: server.pid)
            for number in 1...8 { try attempt(number) }
            let after = try peakMemory(of: server.pid)
            // 32 names of 3.8 MB.
            #expect(after - before < 40, "\(before) MiB became \(after) MiB")
        }
    }

    @Test("A flood of registrations keeps no other address from logging in")
    func registrationFlood() async throws {
        let deployment = try Deployment()
        defer { deployment.remove() }
        let file = "\(deployment.directory)/server.yaml"
        let text = try String(contentsOfFile: file, encoding: .utf8)
        let limits = "server:\n  trusted_proxies: [127.0.0.1]\n  limits: { waiting_log_ins: 16 }\n"
        try deployment.write("server.yaml", text.replacing("server:\n", with: limits))
        try await deployment.withServer { _ in
            #expect(try deployment.register("ann@example.net", "correct horse").status == 201)
            let path = "/app/\(Deployment.app)/auth/providers/local-userpass/register"
            // All are sent before any answer is read.
            let flood = try (0..<100).map { number in
                let connection = try RawConnection(port: deployment.port)
                let body = #"{"email":"n\#(number)@example.net","password":"correct horse"}"#
                try connection.send(
                    "POST /api/client/v2.0\(path) HTTP/1.1\r\nHost: h\r\nConnection: close\r\n"
                        + "X-Forwarded-For: 203.0.113.9\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
                        + body
                )
                return connection
            }
            for _ in 0..<3 {
                let login = try deployment.logIn(
                    "ann@example.net",
                    "correct horse",
                    from: "198.51.100.7"
                )
                #expect(login.status == 200, "\(login.body)")
            }
            let answers = try flood.map { try $0.readToEnd() }
            let refused = answers.filter { $0.hasPrefix("HTTP/1.1 503 ") }
            #expect(!refused.isEmpty)
            #expect(refused.allSatisfy { $0.lowercased().contains("retry-after: 1\r\n") })
            #expect(answers.count { $0.hasPrefix("HTTP/1.1 201 ") } == 100 - refused.count)
        }
    }

    // MARK: Partition paths

    private static let longPath = String(repeating: "\u{905}", count: 480)

    @Test(
        "A path in another encoding is refused; a store that holds bad paths heals, and is usable"
    )
    func paths() async throws {
        let deployment = try Deployment()
        defer { deployment.remove() }
        let store = "\(deployment.directory)/server/server.sqlite"
        func expectAdministration() async throws {
            let list = try await server(deployment, "realms", "list")
            #expect(list.status == 0 && list.output.contains("\"good\""), "\(list.errors)")
            for words in [["status"], ["pause"], ["enable"], ["terminate", "--yes"], ["enable"]] {
                let outcome = try await Programs.run(
                    "realm-server",
                    ["sync"] + words
                        + ["--config", "\(deployment.directory)/server.yaml", "--app"]
                        + [Deployment.app]
                )
                #expect(outcome.status == 0, "\(words): \(outcome.errors)")
            }
        }
        try await deployment.withServer { _ in
            let token = try #require(try deployment.logInAnonymously().field("access_token"))
            let connection = try connect(deployment, token)
            let utf16 = "\"\(Self.longPath)\"".utf16.flatMap { [UInt8($0 & 0xff), UInt8($0 >> 8)] }
            let mark: [UInt8] = [0xef, 0xbb, 0xbf]
            let bad: [[UInt8]] = [
                utf16, [0xff, 0xfe] + utf16, mark + Array("\"good\"".utf8),
                Array("\"\(Self.longPath)\"".utf8), Array("\"a\u{0}\"".utf8), [0x22, 0xff, 0x22],
            ]
            for (number, path) in bad.enumerated() {
                try connection.sendFrame(
                    Array("bind \(number + 2) \(path.count) 0 1 0\n".utf8) + path
                )
                guard case .message(let report)? = try connection.receiveFrame() else {
                    throw RawConnection.Failure(what: "no answer to path \(number)")
                }
                #expect(report.hasPrefix("json_error 204 "), "path \(number): \(report)")
            }
            let good = try connect(deployment, token)
            try good.sendFrame("bind 1 6 0 1 0\n\"good\"")
            _ = try good.receiveFrame()
            try await expectAdministration()
        }
        // As a server without these checks has left them.
        let rows = """
            ('test-app', '"\(Self.longPath)"'), ('test-app', 'nothing'), ('test-app', '"x" "y"')
            """
        let poison = """
            INSERT INTO server_file (app_id, partition) VALUES \(rows);
            INSERT INTO client_file (file_id, ident, salt, user_id, generation, client_version,
                recip_base_version, locked_server_version, is_expired, session_epoch, last_seen_at)
                SELECT file_id, 2, 1, 'u', 0, 0, 0, 0, 0, 0, 0 FROM server_file WHERE partition <> '"good"';
            INSERT INTO history (file_id, version, version_salt, origin_file_ident, client_version,
                origin_timestamp, cumulative_bytes, changeset)
                SELECT file_id, 1, 1, 2, 2, 1, 0, x'00' FROM server_file
                WHERE partition <> '"good"';
            """
        try await Programs.sqlite3(store, poison)
        try await deployment.withServer { _ in
            try await expectAdministration()
            let log = deployment.log("server")
            #expect(log.ranges(of: "an unusable realm was removed").count == 3, "\(log)")
            let left = try await Programs.sqlite3(
                store,
                """
                SELECT count(*) FROM server_file; SELECT count(*) FROM client_file WHERE user_id = 'u';
                SELECT count(*) FROM history WHERE version_salt = 1;
                """
            )
            #expect(left == "1\n0\n0\n")
            // One that appears now is skipped, and named.
            try await Programs.sqlite3(store, poison)
            try await expectAdministration()
            #expect(deployment.log("server").contains("a realm was skipped"))
        }
    }

    // MARK: Quotas

    @Test("One user does not fill the store with realms; others can still make theirs")
    func manyRealms() async throws {
        let deployment = try Deployment()
        defer { deployment.remove() }
        let file = "\(deployment.directory)/server.yaml"
        let text = try String(contentsOfFile: file, encoding: .utf8)
        try deployment.write(
            "server.yaml",
            text + "\n    quotas: { realms: 50, client_files: 60 }\n"
        )
        try deployment.configure("north")
        try await deployment.withServer { _ in
            let token = try #require(try deployment.logInAnonymously().field("access_token"))
            let connection = try connect(deployment, token)
            var refused = 0
            for number in 1...300 {
                let path = "\"realm \(number)\""
                try connection.sendFrame("bind \(number) \(path.utf8.count) 0 1 0\n\(path)")
                guard case .message(let answer)? = try connection.receiveFrame() else {
                    throw RawConnection.Failure(what: "no answer to BIND \(number)")
                }
                if answer.hasPrefix("ident \(number) ") { continue }
                refused += 1
                #expect(answer.hasPrefix("json_error 201 "), "\(answer)")
                #expect(answer.contains("\"tryAgain\":true"))
                #expect(answer.contains("\"action\":\"Transient\""))
            }
            #expect(refused == 250)
            let sync = try await deployment.sync("north")
            #expect(sync.status == 0, "\(sync.errors)")
            let list = try await server(deployment, "realms", "list")
            #expect(list.output.split(separator: "\n").count == 51)
        }
    }

    // MARK: Addresses

    @Test("Behind a trusted proxy, one client's guesses lock out no other client")
    func proxy() async throws {
        let deployment = try Deployment()
        defer { deployment.remove() }
        let file = "\(deployment.directory)/server.yaml"
        let text = try String(contentsOfFile: file, encoding: .utf8)
        let trusting = text.replacing(
            "server:\n",
            with: "server:\n  trusted_proxies: [127.0.0.1]\n"
        )
        try await deployment.withServer { _ in
            #expect(try deployment.register("ann@example.net", "correct horse").status == 201)
            func guess(_ client: String) throws -> Int {
                try deployment.logIn("ann@example.net", "wrong horse", from: client).status
            }
            // Without trust in the proxy, all its clients are one.
            for _ in 0..<10 { #expect(try guess("203.0.113.9") == 401) }
            #expect(try guess("198.51.100.7") == 429)
            #expect(deployment.log("server").contains("a proxy is not trusted"))

            try deployment.write("server.yaml", trusting)
            let reload = try await Programs.run("realm-server", ["reload", "--config", file])
            #expect(reload.output == "applied: server.trusted_proxies\n", "\(reload.errors)")
            for _ in 0..<10 { #expect(try guess("203.0.113.9") == 401) }
            // What the client says of itself comes first, and is not believed.
            #expect(try guess("198.51.100.7, 203.0.113.9") == 429)
            let owner = try deployment.logIn(
                "ann@example.net",
                "correct horse",
                from: "203.0.113.9, 198.51.100.7"
            )
            #expect(owner.status == 200)
            // Nor does a network of IPv6 have more guesses than an address of IPv4.
            for host in 1...10 { #expect(try guess("2001:db8:1:2::\(host)") == 401) }
            #expect(try guess("2001:db8:1:2:ffff::1") == 429)
            #expect(try guess("2001:db8:1:3::1") == 401)
        }
    }

    // MARK: Tokens

    @Test(
        "A session that has ended has no connections, and its token links, deletes and syncs nothing"
    )
    func stolenToken() async throws {
        let deployment = try Deployment()
        defer { deployment.remove() }
        try await deployment.withServer { _ in
            #expect(try deployment.register("eve@example.net", "evil horse").status == 201)
            let victim = try deployment.logInAnonymously()
            let access = try #require(victim.field("access_token"))
            let refresh = try #require(victim.field("refresh_token"))
            let open = try connect(deployment, access)
            #expect(try deployment.call("DELETE", "/auth/session", token: refresh).status == 204)
            #expect(try open.receiveFrame() == .closed(4001))
            let link = try deployment.logIn("eve@example.net", "evil horse", linking: access)
            #expect(link.status == 401, "\(link.body)")
            #expect(link.field("error_code") == "InvalidSession")
            let login = try deployment.logIn("eve@example.net", "evil horse")
            #expect(login.field("user_id") != victim.field("user_id"))
            #expect(try deployment.call("DELETE", "/auth/delete", token: access).status == 401)
            let upgrade = #expect(throws: RawConnection.Failure.self) {
                try connect(deployment, access)
            }
            #expect(upgrade?.what.hasPrefix("HTTP/1.1 401 ") == true)
        }
    }

    @Test("What a link issues ends with the session that asked for it")
    func linkedSession() async throws {
        let deployment = try Deployment()
        defer { deployment.remove() }
        try await deployment.withServer { _ in
            _ = try deployment.register("ann@example.net", "correct horse")
            let first = try deployment.logInAnonymously()
            let link = try deployment.logIn(
                "ann@example.net",
                "correct horse",
                linking: first.field("access_token")
            )
            #expect(link.status == 200)
            #expect(link.field("user_id") == first.field("user_id"))
            let issued = link.field("refresh_token")
            #expect(try deployment.call("POST", "/auth/session", token: issued).status == 201)
            let original = first.field("refresh_token")
            #expect(try deployment.call("DELETE", "/auth/session", token: original).status == 204)
            #expect(try deployment.call("POST", "/auth/session", token: issued).status == 401)
        }
    }

    private struct Pending: Decodable {
        let token_id: String
        let token: String
    }

    @Test("A password reset ends the sessions and the connections of its user")
    func passwordReset() async throws {
        let deployment = try Deployment()
        defer { deployment.remove() }
        try await deployment.withServer { _ in
            _ = try deployment.register("ann@example.net", "correct horse")
            let login = try deployment.logIn("ann@example.net", "correct horse")
            let access = try #require(login.field("access_token"))
            let connection = try connect(deployment, access)
            let providers = "/app/\(Deployment.app)/auth/providers/local-userpass"
            let asked = try deployment.call(
                "POST",
                "\(providers)/reset/send",
                #"{"email":"ann@example.net"}"#
            )
            #expect(asked.status == 202)
            let outcome = try await server(deployment, "users", "pending", "--json")
            let tokens = try JSONDecoder().decode([Pending].self, from: Data(outcome.output.utf8))
            let token = try #require(tokens.first)
            let fields = #""tokenId":"\#(token.token_id)","token":"\#(token.token)""#
            let reset = try deployment.call(
                "POST",
                "\(providers)/reset",
                #"{\#(fields),"password":"battery staple"}"#
            )
            #expect(reset.status == 200, "\(reset.body)")
            var last: RawConnection.Frame?
            while let frame = try connection.receiveFrame() {
                last = frame
                if case .closed = frame { break }
            }
            #expect(last == .closed(4001))
            let refresh = login.field("refresh_token")
            #expect(try deployment.call("POST", "/auth/session", token: refresh).status == 401)
            #expect(throws: RawConnection.Failure.self) { try connect(deployment, access) }
            #expect(try deployment.logIn("ann@example.net", "battery staple").status == 200)
        }
    }
}
