import FoundationEssentials
import ServerFixtures
import Testing

@testable import ServerAccounts
@testable import ServerConfig
@testable import ServerHTTP
@testable import ServerStore
@testable import Surroundings

/// Checklist lines A of app services, 16.
@Suite("App services: logging in")
struct LogInTests {
    @Test("A1 Each anonymous log-in makes a user; the answer has four strings")
    func anonymous() async throws {
        let apps = try await TestApps()
        let first = await apps.logInAnonymously()
        let second = await apps.logInAnonymously()
        #expect(first.status == 200)
        #expect(
            first.fields.keys.sorted() == ["access_token", "device_id", "refresh_token", "user_id"]
        )
        let user = try #require(first.fields["user_id"])
        #expect(user.count == 24 && user.allSatisfy { $0.isHexDigit && !$0.isUppercase })
        #expect(first.fields["device_id"]?.count == 24)
        #expect(second.fields["user_id"] != user)
    }

    @Test("A2 The right password opens; a wrong one and an unknown name get the same answer")
    func password() async throws {
        let apps = try await TestApps()
        #expect(await apps.register("ann@example.net", "correct horse").status == 201)
        let first = await apps.logIn("ann@example.net", "correct horse")
        #expect(first.status == 200)
        // Trimmed, and in any case.
        let second = await apps.logIn(" Ann@Example.NET ", "correct horse")
        #expect(second.fields["user_id"] == first.fields["user_id"])

        let refusal = "{\"error\":\"invalid username/password\",\"error_code\":\"InvalidPassword\"}"
        for (name, password) in [
            ("ann@example.net", "wrong horse"), ("bob@example.net", "correct horse"),
            ("no address", "correct horse"), ("ann@example.net", ""),
        ] {
            let reply = await apps.logIn(name, password)
            #expect(reply.status == 401)
            #expect(reply.text == refusal)
        }
    }

    @Test(
        "A3 The device block may be missing, old or strange",
        arguments: [
            "", "{}", "{\"options\":{}}", "{\"options\":{\"device\":{\"sdk\":\"Swift\",\"x\":5}}}",
            "{\"options\":5}", "{\"options\":{\"device\":[]}}", "{\"provider\":\"api-key\"}",
            "{\"options\":{\"device\":{\"deviceId\":\"65a1f0c2e4b0a1b2c3d4e5f7\"}}}",
        ]
    )
    func device(body: String) async throws {
        let apps = try await TestApps()
        let path = "/app/\(TestApps.shop)/auth/providers/anon-user/login"
        #expect(await apps.call("POST", path, body).status == 200)
    }

    @Test("A known device keeps its id, an unknown one gets a new one")
    func deviceID() async throws {
        let apps = try await TestApps()
        _ = await apps.register("ann@example.net", "correct horse")
        let device = try #require(
            await apps.logIn("ann@example.net", "correct horse").fields["device_id"]
        )
        func logIn(_ id: String) async -> String? {
            await apps.call(
                "POST",
                "/app/\(TestApps.shop)/auth/providers/local-userpass/login",
                """
                {"username":"ann@example.net","password":"correct horse",
                "options":{"device":{"deviceId":"\(id)"}}}
                """
            ).fields["device_id"]
        }
        #expect(await logIn(device) == device)
        let foreign = "65a1f0c2e4b0a1b2c3d4e5f7"
        #expect(await logIn(foreign) != foreign)
    }

    @Test("A7 A disabled or unknown provider is not found")
    func providers() async throws {
        let apps = try await TestApps()
        for (app, provider) in [
            (TestApps.office, "local-userpass"), (TestApps.shop, "api-key"),
            (TestApps.shop, "custom-token"), (TestApps.shop, "nonsense"),
        ] {
            let body = "{\"username\":\"a@b\",\"password\":\"x\"}"
            let reply = await apps.call(
                "POST",
                "/app/\(app)/auth/providers/\(provider)/login",
                body
            )
            #expect(reply.status == 404)
            #expect(reply.fields["error_code"] == "AuthProviderNotFound")
        }
    }

    @Test("A8 A disabled user gets that error only with the right password")
    func disabled() async throws {
        let apps = try await TestApps()
        _ = await apps.register("ann@example.net", "correct horse")
        let user = try #require(
            await apps.logIn("ann@example.net", "correct horse").fields["user_id"]
        )
        try await apps.disable(UserID(user))
        let reply = await apps.logIn("ann@example.net", "correct horse")
        #expect(reply.status == 401)
        #expect(reply.fields["error_code"] == "UserDisabled")
        let wrong = await apps.logIn("ann@example.net", "wrong")
        #expect(wrong.fields["error_code"] == "InvalidPassword")
    }

    @Test("A9 Both tokens are JWTs of three parts whose times are integers")
    func tokens() async throws {
        let apps = try await TestApps()
        let reply = await apps.logInAnonymously()
        for (name, kind, lifetime) in [
            ("access_token", "access", 1800), ("refresh_token", "refresh", 5_184_000),
        ] {
            let token = try #require(reply.fields[name])
            let parts = token.split(separator: ".", omittingEmptySubsequences: false)
            #expect(parts.count == 3 && parts.allSatisfy { !$0.isEmpty })
            let claims = try #require(TokenText.payload(of: token))
            let now = Int(apps.clock.wallClock.secondsSince1970)
            // No fraction, no exponent: clients end their process over 1.7e9.
            #expect(claims.contains("\"iat\":\(now)"))
            #expect(claims.contains("\"exp\":\(now + lifetime)"))
            #expect(claims.contains("\"typ\":\"\(kind)\""))
            #expect(claims.contains("\"app_id\":\"shop-abcde\""))
            #expect(claims.contains("\"sub\":\"\(reply.fields["user_id"] ?? "?")\""))
            #expect(claims.contains("baas_identity") == (kind == "refresh"))
            #expect(TokenText.header(of: token)?.contains("\"alg\":\"HS256\"") == true)
        }
    }

    @Test("A body that is not a JSON object, or lacks a field, is refused with that reason")
    func malformedBodies() async throws {
        let apps = try await TestApps()
        let path = "/app/\(TestApps.shop)/auth/providers/local-userpass/login"
        for body in ["[]", "5", "{", "\u{0}"] {
            let reply = await apps.call("POST", path, body)
            #expect(reply.status == 400)
            #expect(reply.fields["error_code"] == "BadRequest")
        }
        for body in ["", "{}", "{\"username\":\"a@b.c\"}", "{\"username\":5,\"password\":\"x\"}"] {
            let reply = await apps.call("POST", path, body)
            #expect(reply.status == 400)
            #expect(reply.fields["error_code"] == "MissingParameter")
        }
    }

    @Test("Guessing is slowed down, only for the guesser")
    func guessing() async throws {
        let apps = try await TestApps()
        _ = await apps.register("ann@example.net", "correct horse")
        for _ in 0..<10 {
            #expect(await apps.logIn("ann@example.net", "wrong").status == 401)
        }
        let refused = await apps.logIn("ann@example.net", "correct horse")
        #expect(refused.status == 429)
        #expect(refused.response.retryAfterInSeconds == 6)
        #expect(
            await apps.logIn("ann@example.net", "correct horse", address: "192.0.2.2").status == 200
        )
        apps.clock.advance(bySeconds: 6)
        #expect(await apps.logIn("ann@example.net", "correct horse").status == 200)
    }

    @Test("New users from one address are limited, other addresses are not affected")
    func newUsers() async throws {
        let apps = try await TestApps()
        for _ in 0..<1000 { try await apps.accounts.loginGuard.admitNewUser(from: "192.0.2.1") }
        let refused = [
            await apps.logInAnonymously(), await apps.register("ann@example.net", "correct horse"),
        ]
        for reply in refused {
            #expect(reply.status == 429)
            #expect(reply.response.retryAfterInSeconds == 4)
            #expect(reply.fields["error_code"] == "AuthError")
        }
        let path = "/app/shop-abcde/auth/providers/anon-user/login"
        #expect(await apps.call("POST", path, "{}", address: "192.0.2.2").status == 200)
        apps.clock.advance(bySeconds: 4)
        #expect(await apps.register("ann@example.net", "correct horse").status == 201)
    }

    @Test("All spellings of a name share one limit")
    func spellings() async throws {
        let apps = try await TestApps()
        _ = await apps.register("ann@example.net", "correct horse")
        let names = ["ann", "Ann", "aNn", "anN", "ANn", "aNN", "AnN", "ANN", " ann", "  ann"]
        for name in names {
            #expect(await apps.logIn("\(name)@example.net", "wrong").status == 401)
        }
        #expect(await apps.logIn("aNN@Example.net", "wrong").status == 429)
    }

    /// Guesses names from an address until it may not guess any more.
    private func exhaust(_ apps: TestApps) async {
        for number in 0..<101 {
            let status = await apps.logIn("unknown-\(number)@example.net", "wrong").status
            #expect(status == (number < 100 ? 401 : 429))
        }
    }

    @Test(
        "Wrong passwords of others at an address do not keep out a name that has logged in from there"
    )
    func acquaintances() async throws {
        let apps = try await TestApps()
        for name in ["ann", "bob"] {
            #expect(await apps.register("\(name)@example.net", "correct horse").status == 201)
        }
        #expect(await apps.logIn("ann@example.net", "correct horse").status == 200)
        await exhaust(apps)
        #expect(await apps.logIn("ann@example.net", "correct horse").status == 200)
        // Bob might be one more guess.
        #expect(await apps.logIn("bob@example.net", "correct horse").status == 429)
        // To ask for a mail proves nothing.
        apps.clock.advance(bySeconds: 3600)
        let path = "/app/shop-abcde/auth/providers/local-userpass/reset/send"
        #expect(await apps.call("POST", path, #"{"email":"bob@example.net"}"#).status == 202)
        await exhaust(apps)
        #expect(await apps.logIn("bob@example.net", "correct horse").status == 429)
        // Guesses at ann's password are counted all the same.
        for _ in 0..<10 { #expect(await apps.logIn("ann@example.net", "wrong").status == 401) }
        #expect(await apps.logIn("ann@example.net", "wrong").status == 429)
    }

    @Test("Guesses from elsewhere do not block a device that the user has logged in from")
    func devices() async throws {
        let apps = try await TestApps()
        _ = await apps.register("ann@example.net", "correct horse")
        let device = try #require(
            await apps.logIn("ann@example.net", "correct horse").fields["device_id"]
        )
        func logIn(_ password: String, _ device: String) async -> Int {
            await apps.call(
                "POST",
                "/app/\(TestApps.shop)/auth/providers/local-userpass/login",
                """
                {"username":"ann@example.net","password":"\(password)",
                "options":{"device":{"deviceId":"\(device)"}}}
                """
            ).status
        }
        for _ in 0..<10 { #expect(await logIn("wrong", "65a1f0c2e4b0a1b2c3d4e5f7") == 401) }
        #expect(await logIn("correct horse", "65a1f0c2e4b0a1b2c3d4e5f7") == 429)
        #expect(await logIn("correct horse", device) == 200)
        // A thief of the device's id has no more guesses than anyone else.
        for _ in 0..<10 { #expect(await logIn("wrong", device) == 401) }
        #expect(await logIn("wrong", device) == 429)
    }

    @Test("Wrong API keys and password tokens never block right ones")
    func unguessable() async throws {
        var app = TestApps.configurations[0]
        app.apiKey = true
        let apps = try await TestApps(apps: [app])
        let admin = TestAdmin(apps, .testing(apps))
        let key = try await admin.call("POST", "apps/shop-abcde/server_keys", "{\"name\":\"till\"}")
            .decode(KeyReport.self)
        func logIn(_ key: String) async -> Int {
            await apps.call(
                "POST",
                "/app/shop-abcde/auth/providers/api-key/login",
                "{\"key\":\"\(key)\"}"
            ).status
        }
        await exhaust(apps)
        for _ in 0..<200 { #expect(await logIn("wrong") == 401) }
        #expect(await logIn(key.key ?? "") == 200)

        _ = await apps.register("ann@example.net", "correct horse")
        apps.clock.advance(bySeconds: 60)
        let base = "/app/shop-abcde/auth/providers/local-userpass"
        let asked = await apps.call("POST", "\(base)/reset/send", #"{"email":"ann@example.net"}"#)
        #expect(asked.status == 202)
        let pending = try await admin.call("GET", "apps/shop-abcde/pending")
            .decode([PendingReport].self)
        let token = try #require(pending.first)
        func reset(_ text: String) async -> Int {
            let fields = #""tokenId":"\#(token.tokenId)","token":"\#(text)""#
            let body = #"{\#(fields),"password":"battery staple"}"#
            return await apps.call("POST", "\(base)/reset", body).status
        }
        for number in 0..<110 { #expect(await reset("wrong") == (number < 100 ? 400 : 429)) }
        #expect(await reset(token.token) == 200)
    }

    @Test("Unknown names at the routes for mails count as guesses")
    func triedNames() async throws {
        let apps = try await TestApps()
        let base = "/app/shop-abcde/auth/providers/local-userpass"
        for path in ["confirm/send", "reset/send"] {
            var statuses: [Int] = []
            for number in 0..<60 {
                let body = #"{"email":"\#(path.prefix(3))\#(number)@example.net"}"#
                statuses.append(await apps.call("POST", "\(base)/\(path)", body).status)
            }
            let expected = path == "confirm/send" ? 60 : 40
            #expect(statuses.count { $0 == 404 } == expected)
            #expect(statuses.count { $0 == 429 } == 60 - expected)
        }
        let other = await apps.call(
            "POST",
            "\(base)/reset/send",
            #"{"email":"x@example.net"}"#,
            address: "192.0.2.2"
        )
        #expect(other.status == 404)
    }

    @Test("Log-ins that succeed do not count as guesses")
    func successesAreFree() async throws {
        let apps = try await TestApps()
        _ = await apps.register("ann@example.net", "correct horse")
        for _ in 0..<30 {
            #expect(await apps.logIn("ann@example.net", "correct horse").status == 200)
        }
    }

    @Test("Impossible names are refused before they are counted or stored")
    func longNames() async throws {
        let apps = try await TestApps()
        // One letter with many marks is a single character.
        let name = "e" + String(repeating: "\u{301}", count: 300) + "@example.net"
        let base = "/app/shop-abcde/auth/providers/local-userpass"
        for _ in 0..<120 {
            let login = await apps.logIn(name, "correct horse")
            #expect(login.fields["error_code"] == "InvalidPassword")
            for path in ["confirm", "reset"] {
                let body = #"{"tokenId":"\#(name)","token":"x","password":"correct horse"}"#
                let reply = await apps.call("POST", "\(base)/\(path)", body)
                #expect(reply.fields["error_code"] == "UserpassTokenInvalid")
            }
            for path in ["confirm/send", "reset/send"] {
                let reply = await apps.call("POST", "\(base)/\(path)", #"{"email":"\#(name)"}"#)
                #expect(reply.fields["error_code"] == "UserNotFound")
            }
        }
        #expect(await apps.logIn("ann@example.net", "wrong").status == 401)
    }

    @Test("Linking without a token is refused, and creates no user")
    func linking() async throws {
        let apps = try await TestApps()
        let path = "/app/\(TestApps.shop)/auth/providers/anon-user/login?link=true"
        #expect(await apps.call("POST", path, "{}").status == 401)
    }
}
