import ServerFixtures
import Testing

@testable import ServerAccounts
@testable import ServerHTTP
@testable import ServerStore
@testable import Surroundings

/// Checklist lines S and P of app services, 16.
@Suite("App services: sessions and profile")
struct SessionTests {
    private struct LoggedIn {
        let apps: TestApps
        let access: String
        let refresh: String
        let user: UserID

        init(_ app: AppID = TestApps.shop) async throws {
            self.apps = try await TestApps()
            let reply = await apps.logInAnonymously(to: app)
            self.access = try #require(reply.fields["access_token"])
            self.refresh = try #require(reply.fields["refresh_token"])
            self.user = UserID(try #require(reply.fields["user_id"]))
        }

        func refreshed(_ token: String? = nil) async -> TestApps.Reply {
            await apps.call("POST", "/auth/session", token: token ?? refresh)
        }

        func profile(_ token: String? = nil) async -> TestApps.Reply {
            await apps.call("GET", "/auth/profile", token: token ?? access)
        }

        func logOut() async -> TestApps.Reply {
            await apps.call("DELETE", "/auth/session", token: refresh)
        }
    }

    @Test("S1 The refresh token gives any number of access tokens, also at the same time")
    func refresh() async throws {
        let user = try await LoggedIn()
        for _ in 0..<3 {
            let reply = await user.refreshed()
            #expect(reply.status == 201)
            #expect(reply.fields.keys.sorted() == ["access_token"])
            let token = try #require(reply.fields["access_token"])
            #expect(await user.profile(token).status == 200)
        }
        await withTaskGroup(of: Int.self) { group in
            for _ in 0..<8 { group.addTask { await user.refreshed().status } }
            for await status in group { #expect(status == 201) }
        }
    }

    @Test("S2 Neither token works in place of the other")
    func kinds() async throws {
        let user = try await LoggedIn()
        for reply in [await user.refreshed(user.access), await user.profile(user.refresh)] {
            #expect(reply.status == 401)
            #expect(reply.fields["error_code"] == "InvalidSession")
        }
    }

    @Test("S3 Revoked, expired, disabled and foreign tokens are InvalidSession")
    func refusals() async throws {
        let revoked = try await LoggedIn()
        _ = await revoked.logOut()
        let expired = try await LoggedIn()
        expired.apps.clock.advance(bySeconds: 5_184_000 + 61)
        let disabled = try await LoggedIn()
        try await disabled.apps.disable(disabled.user)
        let unknown = try await LoggedIn()
        try await unknown.apps.remove(unknown.user)
        for user in [revoked, expired, disabled, unknown] {
            let reply = await user.refreshed()
            #expect(reply.status == 401)
            #expect(reply.fields["error_code"] == "InvalidSession")
        }
        #expect(await disabled.profile().status == 401)
        // Revoking kills the refresh token only; the access token lives on to its end.
        #expect(await revoked.profile().status == 200)
    }

    @Test("S6 Log-out revokes, and a second log-out succeeds too")
    func logOut() async throws {
        let user = try await LoggedIn()
        for _ in 0..<2 {
            let reply = await user.logOut()
            #expect(reply.status == 204)
            #expect(reply.response.body == nil)
        }
    }

    @Test("S9 An access token is valid until a minute after its expiry")
    func leeway() async throws {
        let user = try await LoggedIn()
        user.apps.clock.advance(bySeconds: 1800 + 60)
        #expect(await user.profile().status == 200)
        user.apps.clock.advance(bySeconds: 1)
        #expect(await user.profile().status == 401)
    }

    @Test("S11 A server with new keys responds with 503 to tokens of other keys")
    func lostKeys() async throws {
        let before = try await LoggedIn()
        let after = try await TestApps(seed: 2)
        let reply = await after.call("POST", "/auth/session", token: before.refresh)
        #expect(reply.status == 503)
        #expect(reply.fields["error_code"] == "MaintenanceInProgress")
        // Once its keys are old, it is sure of them.
        let later = try await TestApps(store: after.store, seed: 3)
        #expect(await later.call("POST", "/auth/session", token: before.refresh).status == 401)
    }

    @Test("A restart keeps keys, users and sessions")
    func restart() async throws {
        let user = try await LoggedIn()
        let restarted = try await TestApps(store: user.apps.store, seed: 2)
        let reply = await restarted.call("POST", "/auth/session", token: user.refresh)
        #expect(reply.status == 201)
    }

    @Test("Expired log-in sessions are removed, and anonymous users without any other")
    func expiry() async throws {
        let apps = try await TestApps()
        let day: Int64 = 86_400
        _ = await apps.register("ann@example.net", "correct horse")
        let ann = await apps.logIn("ann@example.net", "correct horse").fields
        let gone = await apps.logInAnonymously().fields
        apps.clock.advance(bySeconds: 30 * day)
        let here = await apps.logInAnonymously().fields
        let base = "/app/shop-abcde/auth/providers/local-userpass"
        let email = #"{"email":"ann@example.net"}"#
        #expect(await apps.call("POST", "\(base)/reset/send", email).status == 202)

        func rows() async throws -> [Int] {
            try await apps.store.read { snapshot in
                let tokens = try snapshot.accountTokens(of: TestApps.shop)
                let users = try snapshot.users(of: TestApps.shop, after: nil, limit: 10)
                return [users.count, tokens.count]
            }
        }
        try await apps.accounts.removeExpired()
        #expect(try await rows() == [3, 1])
        // Its refresh token is at its end; an access token that it has brought may live on.
        apps.clock.advance(bySeconds: 30 * day + 1800)
        try await apps.accounts.removeExpired()
        #expect(try await rows() == [3, 0])
        apps.clock.advance(bySeconds: 120)
        try await apps.accounts.removeExpired()
        #expect(try await rows() == [2, 0])
        for login in [ann, gone] {
            let reply = await apps.call("POST", "/auth/session", token: login["refresh_token"])
            #expect(reply.status == 401)
        }
        let refreshed = await apps.call("POST", "/auth/session", token: here["refresh_token"])
        #expect(refreshed.status == 201)
        let again = await apps.logIn("ann@example.net", "correct horse").fields
        #expect(again["user_id"] == ann["user_id"])
    }

    @Test("Tokens that are damaged, unsigned or signed otherwise are refused")
    func badTokens() async throws {
        let user = try await LoggedIn()
        let bad = [
            "", "x", "a.b.c", user.access + "x", String(user.access.dropLast(4)),
            TokenText.spoilingSignature(of: user.access),
            TokenText.replacingHeader(of: user.access, with: "{\"alg\":\"none\",\"typ\":\"JWT\"}"),
            TokenText.replacingHeader(of: user.access, with: "{\"alg\":\"HS512\",\"typ\":\"JWT\"}"),
        ]
        for token in bad {
            #expect(await user.profile(token).status == 401, "\(token.prefix(20))")
        }
        let none = await user.apps.call("GET", "/auth/profile")
        #expect(none.status == 401)
        #expect(none.fields["error_code"] == "MissingAuthReq")
    }

    @Test("L6 Routes without app find it from the token, and apps do not mix")
    func apps() async throws {
        let user = try await LoggedIn(TestApps.office)
        #expect(await user.profile().status == 200)
        for (app, status) in [(TestApps.office, 200), (TestApps.shop, 401)] {
            let path = "/app/\(app)/auth/profile"
            #expect(await user.apps.call("GET", path, token: user.access).status == status)
        }
        // The app is not served any more: its users stay logged in.
        let only = try await TestApps(
            store: user.apps.store,
            apps: [TestApps.configurations[0]],
            seed: 2
        )
        let reply = await only.call("POST", "/auth/session", token: user.refresh)
        #expect(reply.status == 404)
        #expect(reply.text == "{\"error\":\"app not found\"}")
    }

    @Test("P1 A profile has identities and data, and data are strings")
    func profile() async throws {
        struct Profile: Decodable {
            struct Identity: Decodable {
                let id: String
                let provider_type: String
            }
            let user_id: String
            let identities: [Identity]
            let data: [String: String]
            let type: String
        }
        let apps = try await TestApps()
        _ = await apps.register("ann@example.net", "correct horse")
        let login = await apps.logIn("ann@example.net", "correct horse")
        let reply = await apps.call("GET", "/auth/profile", token: login.fields["access_token"])
        let profile = try #require(reply.decode(Profile.self))
        #expect(profile.user_id == login.fields["user_id"])
        #expect(profile.identities.map(\.provider_type) == ["local-userpass"])
        #expect(profile.data == ["email": "ann@example.net"])
        #expect(profile.type == "normal")

        let anonymous = await apps.logInAnonymously()
        let second = await apps.call(
            "GET",
            "/auth/profile",
            token: anonymous.fields["access_token"]
        )
        let plain = try #require(second.decode(Profile.self))
        #expect(plain.identities.map(\.provider_type) == ["anon-user"])
        #expect(plain.data.isEmpty)
        #expect(!second.text.contains("null"))
    }

    @Test("A token opens only its own app's sync endpoint, while its user has access")
    func sync() async throws {
        let user = try await LoggedIn()
        let admitted = try await user.apps.accounts.authorizeSync(user.access, app: TestApps.shop)
        #expect(admitted.id == user.user)
        let now = user.apps.clock.wallClock.millisecondsSince1970()
        #expect(admitted.mustLeaveAt == now + 3_600_000)

        func status(_ token: String?, _ app: AppID) async -> Int? {
            do {
                _ = try await user.apps.accounts.authorizeSync(token, app: app)
                return nil
            } catch {
                return ServiceRefusal(error)?.status
            }
        }
        #expect(await status(nil, TestApps.shop) == 401)
        #expect(await status("garbage", TestApps.shop) == 401)
        #expect(await status(user.refresh, TestApps.shop) == 401)
        #expect(await status(user.access, TestApps.office) == 401)
        #expect(await status(user.access, .named("unknown")) == 404)
        try await user.apps.disable(user.user)
        #expect(await status(user.access, TestApps.shop) == 403)
        try await user.apps.enable(user.user)
        user.apps.clock.advance(bySeconds: 1900)
        #expect(await status(user.access, TestApps.shop) == 401)
    }
}
