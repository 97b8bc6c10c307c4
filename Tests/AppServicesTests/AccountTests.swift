import AppServices
import Testing

@Suite("What becomes of an account (app services, 13)", .timeLimit(.minutes(10)))
struct AccountTests {
    typealias Store = UserSessionTests.MemoryStore

    static let trouble = ScriptedExchange.Step.reply(status: 503, json: #"{"error":"x"}"#)
    static let unauthorized = ScriptedExchange.Step.reply(
        status: 401,
        json: #"{"error":"x","error_code":"InvalidSession"}"#
    )

    func exchange(
        profile: [ScriptedExchange.Step] = [UserSessionTests.profile],
        logOut: [ScriptedExchange.Step] = [.reply(status: 200, json: "{}")]
    ) -> ScriptedExchange {
        ScriptedExchange([
            "GET /app/shop/location": [AppClientTests.location],
            "POST /app/shop/auth/providers/anon-user/login": [AppClientTests.logIn],
            "POST /app/shop/auth/providers/local-userpass/login": [AppClientTests.logIn],
            "GET /auth/profile": profile,
            "POST /auth/session": [UserSessionTests.refreshed],
            "DELETE /auth/session": logOut,
            "DELETE /auth/delete": [.reply(status: 200, json: "{}")],
        ])
    }

    func session(
        _ exchange: ScriptedExchange,
        _ store: Store = Store(),
        _ credential: Credential = .anonymous
    ) -> UserSession {
        UserSession(
            client: .scripted(exchange),
            store: store,
            registersAccount: false,
            credential: { () throws(UserSession.Failure) in credential },
            now: { 50 }
        )
    }

    @Test("Without a profile a log-in is not done, but the anonymous user is kept and completed")
    func profileFails() async throws {
        let exchange = exchange(profile: [Self.trouble, UserSessionTests.profile])
        let store = Store()
        let session = session(exchange, store)
        await #expect(throws: UserSession.Failure.self) { try await session.logIn() }
        #expect(await store.account?.userID == "u1")
        #expect(try await session.cachedAccount() == nil)
        // Also by the next process, which knows what the store knows.
        let next = self.session(exchange, store)
        #expect(try await next.logIn().profile?.identities.count == 1)
        #expect(try await next.cachedAccount() != nil)
        #expect(exchange.calls.filter { $0.hasSuffix("login") }.count == 1)
    }

    @Test("A profile refused with 401 is asked for once more with a fresh token")
    func profileRefreshes() async throws {
        let exchange = exchange(profile: [Self.unauthorized, UserSessionTests.profile])
        let account = try await session(exchange).logIn()
        #expect(account.accessToken.expiresAt == 2000)
        #expect(
            exchange.calls.suffix(3) == [
                "GET /auth/profile", "POST /auth/session", "GET /auth/profile",
            ]
        )
        let refused = self.exchange(profile: [Self.unauthorized])
        await #expect(throws: UserSession.Failure.self) { try await session(refused).logIn() }
        #expect(refused.calls.filter { $0 == "GET /auth/profile" }.count == 2)
    }

    @Test("A log-out takes effect here at once, even without the server, until the next log-in")
    func logOut() async throws {
        let exchange = exchange(logOut: [.unreachable])
        let store = Store()
        let session = session(exchange, store, .emailPassword(email: "a@b.c", password: "s"))
        let account = try await session.logIn()
        #expect(try await session.logOut() == false)
        #expect(await store.account == nil)
        let request = try #require(exchange.requests.last)
        #expect(request.headers.contains { $0.value == "Bearer \(account.refreshToken.text)" })
        await #expect(throws: UserSession.Failure.loggedOut) { try await session.logIn() }
        await #expect(throws: UserSession.Failure.loggedOut) {
            try await self.session(exchange, store).logIn()
        }
        #expect(try await session.logOut() == nil)
        #expect(try await session.logInAgain().userID == "u1")
    }

    @Test("A log-in that is ordered while a realm's is being refused succeeds all the same")
    func logInBesideRefusal() async throws {
        let store = Store()
        let session = session(exchange(), store, .emailPassword(email: "a@b.c", password: "s"))
        _ = try await session.logIn()
        _ = try await session.logOut()
        let (asked, isAsked) = AsyncStream<Void>.makeStream()
        let (ends, end) = AsyncStream<Void>.makeStream()
        await store.holdLogIn(isAsked, until: ends)
        let ofRealm = Task { try await session.logIn() }
        for await _ in asked { break }
        let ordered = Task { try await session.logInAgain() }
        for _ in 0..<100 { await Task.yield() }
        end.yield()
        await #expect(throws: UserSession.Failure.loggedOut) { _ = try await ofRealm.value }
        #expect(try await ordered.value.userID == "u1")
    }

    @Test("After its log-out an anonymous user is gone: the next one may be another")
    func anonymousLogOut() async throws {
        let exchange = exchange(
            profile: [
                .reply(
                    status: 200,
                    json: #"{"identities":[{"id":"1","provider_type":"anon-user"}],"data":{}}"#
                )
            ]
        )
        let session = session(exchange)
        #expect(try await session.logIn().isAnonymous)
        #expect(try await session.logOut() == true)
        #expect(try await session.logInAgain().userID == "u1")
        #expect(exchange.calls.filter { $0.hasSuffix("login") }.count == 2)
    }

    @Test("Removing and deleting clear the local data; only deleting also informs the server")
    func remove() async throws {
        for deletes in [false, true] {
            let exchange = exchange()
            let store = Store(try UserSessionTests.account(expiresAt: 500))
            let session = session(exchange, store)
            if deletes {
                try await session.deleteUser()
                #expect(exchange.calls.last == "DELETE /auth/delete")
            } else {
                try await session.remove()
                #expect(exchange.calls.last == "DELETE /auth/session")
            }
            #expect(await store.account == nil)
            #expect(await store.isLoggedOut() == false)
        }
    }

    @Test(
        "A linked identity makes an anonymous user an ordinary one; anonymous ones are not linked"
    )
    func link() async throws {
        let exchange = ScriptedExchange([
            "GET /app/shop/location": [AppClientTests.location],
            "POST /app/shop/auth/providers/api-key/login": [UserSessionTests.refreshed],
            "GET /auth/profile": [
                .reply(
                    status: 200,
                    json: """
                        {"identities":[{"id":"1","provider_type":"anon-user"},
                        {"id":"2","provider_type":"api-key"}],"data":{"name":"till"}}
                        """
                )
            ],
        ])
        let store = Store(try UserSessionTests.account(expiresAt: 500, provider: "anon-user"))
        let session = session(exchange, store)
        await #expect(throws: UserSession.Failure.self) { try await session.link(.anonymous) }
        #expect(exchange.calls.isEmpty)
        let account = try await session.link(.apiKey("k"))
        #expect(!account.isAnonymous)
        #expect(account.accessToken.expiresAt == 2000)
        #expect(account.profile?.data == #"{"name":"till"}"#)
        #expect(exchange.requests[1].url.hasSuffix("/auth/providers/api-key/login?link=true"))
    }
}
