import AppServices
import TestSupport
import Testing

@Suite("A user's log-in over time", .timeLimit(.minutes(10)))
struct UserSessionTests {
    actor MemoryStore: AccountStore {
        var account: Account?
        private(set) var saves = 0
        private var hasLoggedOut = false
        private var hasBeenRefused = false
        private var hold: (isAsked: AsyncStream<Void>.Continuation, end: AsyncStream<Void>)?

        init(_ account: Account? = nil) {
            self.account = account
        }

        func load() -> Account? { account }

        func save(_ account: Account) {
            self.account = account
            hasBeenRefused = false
            saves += 1
        }

        func forgetTokens() {
            account = nil
            hasLoggedOut = false
            hasBeenRefused = true
        }

        func markRefused() { hasBeenRefused = true }

        func isRefused() -> Bool { hasBeenRefused }

        func isLoggedOut() async -> Bool {
            let answer = hasLoggedOut
            if let hold {
                self.hold = nil
                hold.isAsked.yield()
                for await _ in hold.end { break }
            }
            return answer
        }

        /// The next question whether the user is logged out is reported, and answered after `end`.
        func holdLogIn(_ isAsked: AsyncStream<Void>.Continuation, until end: AsyncStream<Void>) {
            hold = (isAsked, end)
        }

        func logOut() {
            account = nil
            hasLoggedOut = true
        }

        func remove() {
            forgetTokens()
            hasBeenRefused = false
        }
    }

    static let profile = ScriptedExchange.Step.reply(
        status: 200,
        json: #"{"identities":[{"id":"1","provider_type":"local-userpass"}],"data":{}}"#
    )

    func session(
        _ exchange: ScriptedExchange,
        _ store: MemoryStore = MemoryStore(),
        credential: Credential = .emailPassword(email: "a@b.c", password: "secret"),
        registers: Bool = false
    ) -> UserSession {
        UserSession(
            client: .scripted(exchange),
            store: store,
            registersAccount: registers,
            credential: { () throws(UserSession.Failure) in credential },
            now: { 50 }
        )
    }

    func script(
        logIn: [ScriptedExchange.Step] = [AppClientTests.logIn],
        refresh: [ScriptedExchange.Step] = [],
        register: [ScriptedExchange.Step] = []
    ) -> ScriptedExchange {
        ScriptedExchange([
            "GET /app/shop/location": [AppClientTests.location],
            "POST /app/shop/auth/providers/local-userpass/login": logIn,
            "POST /app/shop/auth/providers/anon-user/login": logIn,
            "POST /app/shop/auth/providers/local-userpass/register": register,
            "GET /auth/profile": [Self.profile],
            "POST /auth/session": refresh,
        ])
    }

    static func account(expiresAt: Int64, provider: String = "local-userpass") throws -> Account {
        Account(
            userID: "u1",
            deviceID: "d1",
            provider: provider,
            accessToken: try #require(Token(makeToken(expiresAt: expiresAt))),
            refreshToken: try #require(Token(makeToken(expiresAt: 900))),
            profile: Profile(identities: [.init(id: "1", providerType: provider)])
        )
    }

    static let refreshed = ScriptedExchange.Step.reply(
        status: 201,
        json: #"{"access_token":"\#(makeToken(expiresAt: 2000))"}"#
    )

    @Test("Many callers at once cause one log-in, which is kept for the next run")
    func oneLogIn() async throws {
        let exchange = script()
        let store = MemoryStore()
        let session = session(exchange, store)
        try await withThrowingTaskGroup { group in
            for _ in 0..<10 { group.addTask { try await session.logIn().userID } }
            for try await user in group { #expect(user == "u1") }
        }
        #expect(exchange.calls.filter { $0.hasSuffix("login") }.count == 1)
        #expect(await store.account?.userID == "u1")
    }

    @Test("A remembered account needs no request")
    func offlineStart() async throws {
        let exchange = ScriptedExchange([:])
        let store = MemoryStore(try Self.account(expiresAt: 500))
        _ = try await session(exchange, store).validAccount()
        #expect(exchange.calls.isEmpty)
    }

    @Test("A token about to expire is refreshed first, by one request for all")
    func refreshAhead() async throws {
        let exchange = script(refresh: [Self.refreshed])
        let store = MemoryStore(try Self.account(expiresAt: 100))
        let session = session(exchange, store)
        async let first = session.validAccount()
        async let second = session.validAccount()
        #expect(try await first.accessToken.expiresAt == 2000)
        #expect(try await second.accessToken.expiresAt == 2000)
        #expect(exchange.calls.filter { $0 == "POST /auth/session" }.count == 1)
    }

    @Test("A refresh that is refused leads to a log-in with the configured credential")
    func logInAgain() async throws {
        let refusal = ScriptedExchange.Step.reply(
            status: 401,
            json: #"{"error":"x","error_code":"InvalidSession"}"#
        )
        let exchange = script(refresh: [refusal])
        let session = session(exchange, MemoryStore(try Self.account(expiresAt: 10)))
        #expect(try await session.validAccount().userID == "u1")
        #expect(exchange.calls.filter { $0.hasSuffix("login") }.count == 1)
    }

    @Test("An anonymous user whose session ended is not silently replaced by another")
    func anonymousEnds() async throws {
        let refusal = ScriptedExchange.Step.reply(status: 403, json: #"{"error":"x"}"#)
        let store = MemoryStore(try Self.account(expiresAt: 10, provider: "anon-user"))
        let exchange = script(refresh: [refusal])
        for _ in 0..<2 {
            // The second time as after a restart.
            let session = session(exchange, store, credential: .anonymous)
            await #expect(throws: UserSession.Failure.anonymousSessionEnded) {
                try await session.validAccount()
            }
        }
        #expect(exchange.calls.filter { $0.hasSuffix("login") }.isEmpty)
        #expect(await store.account?.userID == "u1")
        #expect(await store.isRefused())
    }

    @Test("An anonymous user whom the server accepts again keeps its identity")
    func anonymousComesBack() async throws {
        let refusal = ScriptedExchange.Step.reply(status: 403, json: #"{"error":"x"}"#)
        let store = MemoryStore(try Self.account(expiresAt: 10, provider: "anon-user"))
        let exchange = script(refresh: [refusal, Self.refreshed])
        let session = session(exchange, store, credential: .anonymous)
        await #expect(throws: UserSession.Failure.anonymousSessionEnded) {
            try await session.validAccount()
        }
        #expect(try await !session.hasLostAnonymousUser())
        #expect(try await session.validAccount().userID == "u1")
        #expect(await !store.isRefused())
    }

    @Test("A server that refuses an anonymous user within a session is asked for a fresh token")
    func anonymousForgotten() async throws {
        let store = MemoryStore(try Self.account(expiresAt: 900, provider: "anon-user"))
        let exchange = script(refresh: [Self.refreshed])
        let session = session(exchange, store, credential: .anonymous)
        _ = try await session.validAccount()
        try await session.forget()
        #expect(try await session.validAccount().accessToken.expiresAt == 2000)
        #expect(exchange.calls.filter { $0.hasSuffix("login") }.isEmpty)
    }

    @Test("Only an operator's log-in makes a new anonymous user")
    func newAnonymousUser() async throws {
        let refusal = ScriptedExchange.Step.reply(status: 403, json: #"{"error":"x"}"#)
        let store = MemoryStore(try Self.account(expiresAt: 10, provider: "anon-user"))
        let exchange = script(refresh: [refusal, refusal])
        let session = session(exchange, store, credential: .anonymous)
        await #expect(throws: UserSession.Failure.anonymousSessionEnded) {
            try await session.validAccount()
        }
        #expect(try await session.hasLostAnonymousUser())
        try await session.giveUpAnonymousUser()
        _ = try await session.logInAgain()
        #expect(exchange.calls.count { $0.hasSuffix("login") } == 1)
        #expect(try await !session.hasLostAnonymousUser())
    }

    @Test(
        "Trouble of the server keeps the account",
        arguments: [
            ScriptedExchange.Step.unreachable,
            .reply(status: 503, json: #"{"error":"x","error_code":"MaintenanceInProgress"}"#),
            .reply(status: 404, json: #"{"error":"x"}"#), .reply(status: 429, json: "{}"),
        ]
    )
    func serverTrouble(step: ScriptedExchange.Step) async throws {
        let store = MemoryStore(try Self.account(expiresAt: 10))
        let session = session(script(refresh: [step]), store)
        do {
            _ = try await session.validAccount()
            Issue.record("a token came from nowhere")
        } catch {
            guard case .unavailable = error else {
                Issue.record("unexpected \(error)")
                return
            }
        }
        #expect(await store.account != nil)
    }

    @Test("A wrong password is refused, with the server's code")
    func wrongPassword() async {
        let refusal = ScriptedExchange.Step.reply(
            status: 401,
            json: #"{"error":"invalid username/password","error_code":"InvalidPassword"}"#
        )
        await #expect(
            throws: UserSession.Failure.logInRefused(
                code: "InvalidPassword",
                message: "invalid username/password"
            )
        ) {
            try await self.session(self.script(logIn: [refusal])).logIn()
        }
    }

    @Test("An account that exists already is not an error of registering")
    func registered() async throws {
        let taken = ScriptedExchange.Step.reply(
            status: 409,
            json: #"{"error":"name already in use","error_code":"AccountNameInUse"}"#
        )
        let exchange = script(register: [taken])
        #expect(try await session(exchange, registers: true).logIn().userID == "u1")
    }

    @Test(
        "A session never changes its user",
        arguments: ["anon-user", "local-userpass"]
    )
    func sameUser(provider: String) async throws {
        let refusal = ScriptedExchange.Step.reply(status: 401, json: #"{"error":"x"}"#)
        let access = makeToken(expiresAt: 900)
        let other = ScriptedExchange.Step.reply(
            status: 200,
            json: """
                {"access_token":"\(access)","refresh_token":"\(access)","user_id":"u2",\
                "device_id":"d2"}
                """
        )
        let exchange = script(logIn: [other], refresh: [refusal])
        let store = MemoryStore(try Self.account(expiresAt: 10, provider: provider))
        let isAnonymous = provider == "anon-user"
        let session = session(
            exchange,
            store,
            credential: isAnonymous ? .anonymous : .emailPassword(email: "a@b.c", password: "x")
        )
        // Neither the call that finds the session ended nor one after it.
        for _ in 0..<2 {
            do {
                _ = try await session.validAccount()
                Issue.record("another user took over")
            } catch {
                switch error {
                case .anonymousSessionEnded: #expect(isAnonymous)
                case .logInRefused(let code, _): #expect(code == "auth.other_user")
                default: Issue.record("unexpected \(error)")
                }
            }
        }
        // Tokens are the only way back to an anonymous user.
        #expect(await store.account?.userID == (isAnonymous ? "u1" : nil))
    }

    @Test("A permanent redirect of the refresh ends the log-in", arguments: [301, 308])
    func redirect(status: Int) async throws {
        let exchange = script(refresh: [.reply(status: status, json: "")])
        let session = session(exchange, MemoryStore(try Self.account(expiresAt: 10)))
        #expect(try await session.validAccount().userID == "u1")
        #expect(exchange.calls.contains { $0.hasSuffix("login") })
    }

    @Test("A log-in that the server does not answer ends when its caller is cancelled")
    func cancelled() async throws {
        let exchange = ScriptedExchange([
            "GET /app/shop/location": [AppClientTests.location],
            "POST /app/shop/auth/providers/local-userpass/login": [.silence],
        ])
        let session = session(exchange)
        let logIn = Task { try await session.logIn() }
        try await until { exchange.calls.count >= 2 }
        logIn.cancel()
        await #expect(
            throws: UserSession.Failure.unavailable(reason: "cancelled", kind: .connection)
        ) {
            try await logIn.value
        }
    }
}
