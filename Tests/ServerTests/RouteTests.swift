import FoundationEssentials
import Testing

@testable import SQLiteServerStore
@testable import ServerConfig
@testable import ServerHTTP
@testable import ServerStore

/// Checklist lines L, E and X of app services, 16.
@Suite("App services: routes, accounts and errors")
struct RouteTests {
    @Test("L1 The location has host names as strings")
    func location() async throws {
        let apps = try await TestApps(publicURL: PublicURL("https://sync.example.com/"))
        let reply = await apps.call("GET", "/app/shop-abcde/location")
        #expect(reply.status == 200)
        #expect(
            reply.text
                == """
                {"deployment_model":"LOCAL","hostname":"https://sync.example.com",\
                "location":"US-VA","ws_hostname":"wss://sync.example.com"}
                """
        )
    }

    @Test("Without a public URL the location mirrors the request")
    func mirroredLocation() async throws {
        let reply = try await TestApps().call("GET", "/app/shop-abcde/location")
        #expect(reply.fields["hostname"] == "http://sync.test:9090")
        #expect(reply.fields["ws_hostname"] == "ws://sync.test:9090")
    }

    @Test(
        "L4 Unknown apps and routes are 404, wrong methods 405, all with an error body",
        arguments: [
            ("GET", "/app/unknown/location", 404), ("GET", "/app/a.b/location", 404),
            ("POST", "/app/unknown/auth/providers/anon-user/login", 404),
            ("GET", "/app/shop-abcde/nonsense", 404), ("GET", "/auth", 404), ("GET", "/", 404),
            ("GET", "/app", 404), ("GET", "/app/shop-abcde", 404),
            ("POST", "/app/shop-abcde/location", 405), ("PATCH", "/auth/session", 405),
            ("GET", "/app/shop-abcde/auth/providers/anon-user/login", 405),
            ("POST", "/auth/profile", 405), ("GET", "/app/shop-abcde/realm-sync", 400),
            ("POST", "/app/shop-abcde/functions/call", 401),
            ("GET", "/app/shop-abcde/functions/call", 401),
            ("PUT", "/app/shop-abcde/push/providers/gcm/registration", 404),
        ]
    )
    func refusals(method: String, path: String, status: Int) async throws {
        let reply = try await TestApps().call(method, path)
        #expect(reply.status == status)
        #expect(reply.fields["error"]?.isEmpty == false)
        #expect(!reply.text.contains("null"))
    }

    @Test("A logged-in user gets the error for an unknown function")
    func functions() async throws {
        let apps = try await TestApps()
        let token = try #require(await apps.logInAnonymously().fields["access_token"])
        let path = "/app/shop-abcde/functions/call"
        let body = #"{"arguments":[],"name":"sum"}"#
        for reply in [
            await apps.call("POST", path, body, token: token),
            await apps.call("GET", "\(path)?baas_request=e30=&baas_at=\(token)"),
        ] {
            #expect(reply.status == 404)
            #expect(reply.fields["error_code"] == "FunctionNotFound")
        }
    }

    @Test("E1 E2 An account can be registered once, and logs in at once")
    func register() async throws {
        let apps = try await TestApps()
        #expect(await apps.register("ann@example.net", "correct horse").status == 201)
        #expect(await apps.logIn("ann@example.net", "correct horse").status == 200)
        let again = await apps.register("ANN@example.net", "another horse")
        #expect(again.status == 409)
        #expect(
            again.text == "{\"error\":\"name already in use\",\"error_code\":\"AccountNameInUse\"}"
        )
    }

    @Test(
        "E3 Passwords have 6 to 128 characters",
        arguments: [(5, 400), (6, 201), (128, 201), (129, 400)]
    )
    func passwordLength(count: Int, status: Int) async throws {
        let apps = try await TestApps()
        let reply = await apps.register("ann@example.net", String(repeating: "ö", count: count))
        #expect(reply.status == status)
        if status == 400 {
            #expect(reply.fields["error_code"] == "BadRequest")
            #expect(
                reply.fields["error"] == "password must be between 6 and 128 characters"
            )
        }
    }

    @Test(
        "Registration wants an address and both fields",
        arguments: ["", "ann", "a@b@c", "a b@c"]
    )
    func badNames(name: String) async throws {
        let apps = try await TestApps()
        #expect(await apps.register(name, "correct horse").status == 400)
        let path = "/app/shop-abcde/auth/providers/local-userpass/register"
        let reply = await apps.call("POST", path, "{\"email\":\"a@b.c\"}")
        #expect(reply.fields["error_code"] == "MissingParameter")
    }

    @Test("E5 Accounts are confirmed from the start")
    func confirmation() async throws {
        let apps = try await TestApps()
        _ = await apps.register("ann@example.net", "correct horse")
        let base = "/app/shop-abcde/auth/providers/local-userpass"
        let known = await apps.call(
            "POST",
            "\(base)/confirm/send",
            "{\"email\":\"ann@example.net\"}"
        )
        #expect(known.status == 400)
        #expect(
            known.text
                == "{\"error\":\"already confirmed\",\"error_code\":\"UserAlreadyConfirmed\"}"
        )
        let unknown = await apps.call("POST", "\(base)/confirm/call", "{\"email\":\"bob@x.y\"}")
        #expect(unknown.status == 404)
        #expect(unknown.text == "{\"error\":\"user not found\",\"error_code\":\"UserNotFound\"}")
        let token = await apps.call(
            "POST",
            "\(base)/confirm",
            "{\"token\":\"a\",\"tokenId\":\"b\"}"
        )
        #expect(
            token.text
                == "{\"error\":\"invalid token data\",\"error_code\":\"UserpassTokenInvalid\"}"
        )
    }

    @Test("X7 No successful response has a member that clients treat as an error")
    func successes() async throws {
        let apps = try await TestApps()
        let login = await apps.logInAnonymously()
        let replies = [
            login,
            await apps.call("GET", "/app/shop-abcde/location"),
            await apps.call("GET", "/auth/profile", token: login.fields["access_token"]),
            await apps.call("POST", "/auth/session", token: login.fields["refresh_token"]),
        ]
        for reply in replies {
            #expect((200..<300).contains(reply.status))
            #expect(!reply.text.contains("\"error"))
        }
    }

    @Test("The word before the token may be in any case")
    func bearer() {
        #expect(BearerToken.parse("Bearer a.b.c") == "a.b.c")
        #expect(BearerToken.parse("bearer a.b.c") == "a.b.c")
        #expect(BearerToken.parse("Basic a.b.c") == nil)
        #expect(BearerToken.parse("Bearer") == nil)
    }

    @Test("A failed store gives 503, and logs no user out")
    func brokenStore() async throws {
        let store = try await SQLiteStore(.memory)
        let apps = try await TestApps(store: store)
        let refresh = try #require(await apps.logInAnonymously().fields["refresh_token"])
        await store.close()
        let reply = await apps.call("POST", "/auth/session", token: refresh)
        #expect(reply.status == 503)
        #expect(reply.fields["error_code"] == "MaintenanceInProgress")
    }
}
