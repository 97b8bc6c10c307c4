import Testing

@testable import AppServices

@Suite("A user's own API keys", .timeLimit(.minutes(10)))
struct UserKeyTests {
    private static let key =
        #"{"_id":"65a1f0c2e4b0a1b2c3d4e600","name":"printer-7","disabled":false"#

    @Test("The calls have the form of app services, 7.5, and the refresh token")
    func calls() async throws {
        let exchange = ScriptedExchange([
            "GET /app/shop/location": [AppClientTests.location],
            "POST /auth/api_keys": [.reply(status: 201, json: Self.key + #","key":"j8Vb"}"#)],
            "GET /auth/api_keys": [.reply(status: 200, json: "[\(Self.key)}]")],
            "PUT /auth/api_keys/65a1/disable": [.reply(status: 204, json: "")],
            "PUT /auth/api_keys/65a1/enable": [.reply(status: 204, json: "")],
            "DELETE /auth/api_keys/65a1": [.reply(status: 204, json: "")],
        ])
        let client = AppClient.scripted(exchange)
        let text = makeToken(expiresAt: 900)
        let token = try #require(Token(text))
        let created = try await client.createKey(named: "printer-7", token)
        #expect(created.secret == "j8Vb" && created.name == "printer-7" && !created.isDisabled)
        #expect(!"\(created)".contains("j8Vb") && !String(reflecting: created).contains("j8Vb"))
        #expect(try await client.keys(token).map(\.secret) == [nil])
        let id = try #require(KeyID("65a1"))
        try await client.setKey(id, isDisabled: true, token)
        try await client.setKey(id, isDisabled: false, token)
        try await client.deleteKey(id, token)
        let calls = exchange.requests.dropFirst()
        #expect(calls.count == 5)
        for call in calls {
            #expect(call.headers.contains { $0 == ("Authorization", "Bearer \(text)") })
        }
        let body = String(decoding: calls.first?.body ?? [], as: UTF8.self)
        #expect(body == #"{"name":"printer-7"}"#)
    }

    @Test(
        "An id that could change the path is refused",
        arguments: ["", "a/b", "..", "a?b", "é", "%2e"]
    )
    func badID(text: String) {
        #expect(KeyID(text) == nil)
        #expect(KeyID(String(repeating: "a", count: 65)) == nil)
    }
}
