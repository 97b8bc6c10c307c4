import AppServices
import Synchronization
import Testing

@Suite("What becomes of a user's log-in, and who hears of it", .timeLimit(.minutes(10)))
struct LogInEventTests {
    /// The reported changes, in order.
    private final class Reports: Sendable {
        private let heard = Mutex<[LogInEvent]>([])

        var all: [LogInEvent] { heard.withLock { $0 } }

        func hear(_ news: LogInEvent) {
            heard.withLock { $0.append(news) }
        }
    }

    private let news = Reports()

    private func session(
        _ exchange: ScriptedExchange,
        _ account: Account? = nil,
        credential: Credential = .emailPassword(email: "a@b.c", password: "secret"),
        registers: Bool = false
    ) -> UserSession {
        UserSession(
            client: .scripted(exchange),
            store: UserSessionTests.MemoryStore(account),
            registersAccount: registers,
            credential: { () throws(UserSession.Failure) in credential },
            now: { 50 },
            report: news.hear
        )
    }

    private func exchange(
        refresh: [ScriptedExchange.Step] = [UserSessionTests.refreshed],
        delete: [ScriptedExchange.Step] = []
    ) -> ScriptedExchange {
        ScriptedExchange([
            "GET /app/shop/location": [AppClientTests.location],
            "POST /app/shop/auth/providers/local-userpass/login": [AppClientTests.logIn],
            "POST /app/shop/auth/providers/local-userpass/register": [
                .reply(status: 201, json: "{}")
            ],
            "GET /auth/profile": [UserSessionTests.profile],
            "POST /auth/session": refresh,
            "DELETE /auth/session": [.reply(status: 204, json: "")],
            "DELETE /auth/delete": delete,
        ])
    }

    private static let unauthorized = ScriptedExchange.Step.reply(
        status: 401,
        json: #"{"error":"expired","error_code":"InvalidSession"}"#
    )

    @Test("Log-in, refresh, log-out, log-in again and removal are told, each once")
    func life() async throws {
        let session = session(exchange())
        _ = try await session.logIn()
        _ = try await session.logIn()
        _ = try await session.refresh()
        _ = try await session.logOut()
        _ = try await session.logInAgain()
        try await session.remove()
        #expect(
            news.all == [.loggedIn, .tokenRefreshed, .loggedOut, .loggedIn, .loggedOut, .removed]
        )
    }

    @Test("A session that the server ended is reported, and so is the automatic log-in")
    func ended() async throws {
        let account = try UserSessionTests.account(expiresAt: 60)
        let session = session(exchange(refresh: [Self.unauthorized]), account)
        #expect(try await session.validAccount().accessToken.expiresAt == 100)
        #expect(news.all == [.sessionEnded, .loggedIn])
    }

    @Test("Who asks for a refresh gets one, also while the token holds")
    func refresh() async throws {
        let account = try UserSessionTests.account(expiresAt: 500)
        let exchange = exchange()
        #expect(try await session(exchange, account).refresh().accessToken.expiresAt == 2000)
        #expect(exchange.calls.suffix(1) == ["POST /auth/session"])
    }

    @Test(
        "A deletion refused with 401 is asked for once more with a fresh token, and no third time"
    )
    func deletion() async throws {
        let account = try UserSessionTests.account(expiresAt: 500)
        let done = exchange(delete: [Self.unauthorized, .reply(status: 204, json: "")])
        try await session(done, account).deleteUser()
        #expect(
            done.calls.suffix(3) == [
                "DELETE /auth/delete", "POST /auth/session", "DELETE /auth/delete",
            ]
        )
        #expect(news.all == [.removed])

        let refused = exchange(delete: [Self.unauthorized])
        await #expect(throws: UserSession.Failure.self) {
            try await session(refused, account).deleteUser()
        }
        #expect(refused.calls.filter { $0 == "DELETE /auth/delete" }.count == 2)

        // Where the refresh fails, the first answer counts.
        let stale = exchange(refresh: [.unreachable], delete: [Self.unauthorized])
        await #expect(
            throws: UserSession.Failure.logInRefused(code: "InvalidSession", message: "expired")
        ) {
            try await session(stale, account).deleteUser()
        }
        #expect(stale.calls.filter { $0 == "DELETE /auth/delete" }.count == 1)
    }

    @Test(
        "The configured credential is linked to the logged-in user, registered first if need be"
    )
    func linkConfigured() async throws {
        for registers in [false, true] {
            let account = try UserSessionTests.account(expiresAt: 500, provider: "anon-user")
            let exchange = exchange()
            let linked = try await session(exchange, account, registers: registers).linkConfigured()
            #expect(linked.userID == account.userID)
            let userpass = "POST /app/shop/auth/providers/local-userpass"
            #expect(exchange.calls.contains("\(userpass)/register") == registers)
            let request = try #require(exchange.requests.first { $0.url.hasSuffix("?link=true") })
            #expect(
                request.headers.contains { $0.value == "Bearer \(account.accessToken.text)" }
            )
        }
    }

    @Test("A linking refused with 401 is not tried again")
    func refusedLink() async throws {
        let exchange = ScriptedExchange([
            "GET /app/shop/location": [AppClientTests.location],
            "POST /app/shop/auth/providers/local-userpass/login": [Self.unauthorized],
        ])
        let account = try UserSessionTests.account(expiresAt: 500, provider: "anon-user")
        await #expect(throws: UserSession.Failure.self) {
            try await session(exchange, account).linkConfigured()
        }
        #expect(exchange.calls.count == 2)
    }

    @Test("Custom data is what the token says, and empty where it says nothing")
    func customData() throws {
        // {"exp":9,"iat":1,"user_data":{"n":7,"team":"blue"}}
        let told = try #require(
            Token("h.eyJleHAiOjksImlhdCI6MSwidXNlcl9kYXRhIjp7InRlYW0iOiJibHVlIiwibiI6N319.s")
        )
        #expect(told.customData == #"{"n":7,"team":"blue"}"#)
        #expect(try #require(Token(makeToken(expiresAt: 9))).customData == "{}")
    }
}
