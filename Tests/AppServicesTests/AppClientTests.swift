import AppServices
import FoundationEssentials
import Testing

@testable import struct AppServices.Location

@Suite("Calls of the App Services API", .timeLimit(.minutes(10)))
struct AppClientTests {
    static let location = ScriptedExchange.Step.reply(
        status: 200,
        json: #"{"hostname":"http://real","ws_hostname":"ws://real","deployment_model":"LOCAL"}"#
    )
    static let logIn = ScriptedExchange.Step.reply(
        status: 200,
        json: """
            {"access_token":"\(makeToken(expiresAt: 100))","refresh_token":"\(makeToken(expiresAt: 900))",
            "user_id":"u1","device_id":"d1"}
            """
    )

    @Test("The location is asked once, before the first call, and later calls go to its host")
    func locationFirst() async throws {
        let exchange = ScriptedExchange([
            "GET /app/shop/location": [Self.location],
            "POST /app/shop/auth/providers/anon-user/login": [Self.logIn],
        ])
        let client = AppClient.scripted(exchange)
        #expect(await client.syncRoute.isVerified == false)
        _ = try await client.logIn(.anonymous)
        _ = try await client.logIn(.anonymous)
        #expect(
            exchange.requests.map(\.url) == [
                "http://server/api/client/v2.0/app/shop/location",
                "http://real/api/client/v2.0/app/shop/auth/providers/anon-user/login",
                "http://real/api/client/v2.0/app/shop/auth/providers/anon-user/login",
            ]
        )
        let route = await client.syncRoute
        #expect(route == ("ws://real/api/client/v2.0/app/shop/realm-sync", true))
    }

    @Test(
        "An earlier run's location leads to the sync endpoint, unverified, and nowhere else"
    )
    func rememberedLocation() async throws {
        let exchange = ScriptedExchange([
            "GET /app/shop/location": [Self.location],
            "POST /app/shop/auth/providers/anon-user/login": [Self.logIn],
        ])
        let old = Location(httpHost: "http://old", syncRoute: "ws://old/sync")
        let client = AppClient.scripted(exchange, recall: { old })
        let remembered = await client.syncRoute
        #expect(remembered == ("ws://old/sync", false))
        #expect(exchange.requests.isEmpty)
        _ = try await client.logIn(.anonymous)
        #expect(exchange.requests.map(\.url).allSatisfy { !$0.contains("old") })
        let route = await client.syncRoute
        #expect(route == ("ws://real/api/client/v2.0/app/shop/realm-sync", true))
    }

    @Test("A remembered address without TLS is not used if TLS was requested")
    func insecureMemory() async {
        let client = AppClient.scripted(
            ScriptedExchange([:]),
            baseURL: "https://server",
            recall: { Location(httpHost: "https://old", syncRoute: "ws://old/sync") }
        )
        let route = await client.syncRoute
        #expect(route == ("wss://server/api/client/v2.0/app/shop/realm-sync", false))
    }

    @Test("Tokens travel in the header that is configured")
    func authorizationHeader() async throws {
        let exchange = ScriptedExchange([
            "GET /app/shop/location": [Self.location],
            "DELETE /auth/session": [.reply(status: 204, json: "")],
        ])
        let client = AppClient.scripted(exchange, authorizationHeader: "X-Token")
        try await client.logOut(try #require(Token(makeToken(expiresAt: 9))))
        let headers = exchange.requests[1].headers
        #expect(headers.contains { $0 == ("X-Token", "Bearer \(makeToken(expiresAt: 9))") })
        #expect(!headers.contains { $0.name == "Authorization" })
    }

    @Test("A failed location fails the call")
    func locationFails() async {
        let client = AppClient.scripted(ScriptedExchange([:]))
        await #expect(throws: ServiceError.unreachable(.connection, reason: "no route")) {
            try await client.logIn(.anonymous)
        }
    }

    @Test("The log-in body carries the provider, the credential and all twelve device fields")
    func logInBody() async throws {
        let exchange = ScriptedExchange([
            "GET /app/shop/location": [Self.location],
            "POST /app/shop/auth/providers/local-userpass/login": [Self.logIn],
        ])
        _ = try await AppClient.scripted(exchange)
            .logIn(.emailPassword(email: "a@b.c", password: "secret"))
        struct Body: Decodable {
            struct Options: Decodable {
                let device: [String: String]
            }
            let provider: String
            let username: String
            let password: String
            let options: Options
        }
        let body = try JSONDecoder().decode(Body.self, from: Data(exchange.requests[1].body))
        #expect(body.provider == "local-userpass")
        #expect((body.username, body.password) == ("a@b.c", "secret"))
        #expect(body.options.device.count == 12)
        #expect(body.options.device["platformVersion"] == "6.1")
        #expect(exchange.requests[0].headers.isEmpty)
        #expect(
            exchange.requests[1].headers.map { "\($0.name): \($0.value)" } == [
                "Content-Type: application/json;charset=utf-8", "Accept: application/json",
            ]
        )
    }

    @Test(
        "Refusals are distinguished as by every client",
        arguments: [
            (
                200, "application/json", #"{"error":"no","error_code":"InvalidSession"}"#,
                "InvalidSession"
            ),
            (401, "application/json", #"{"error":"no"}"#, "AppUnknownError"),
            (401, "application/json; charset=utf-8", #"{"error":"no"}"#, "HTTPError"),
            (401, "application/json", #"{"error":"no","link":null}"#, "HTTPError"),
            (502, "text/html", "<html>", "HTTPError"),
        ]
    )
    func refusals(status: Int, type: String, body: String, code: String) async {
        let reply = ServiceResponse(status: status, contentType: type, body: Array(body.utf8))
        let exchange = ScriptedExchange([
            "GET /app/shop/location": [.raw(reply)]
        ])
        do {
            try await AppClient.scripted(exchange).refreshLocation()
            Issue.record("the reply counts as success")
        } catch {
            guard case .refused(let refusal) = error else {
                Issue.record("unexpected \(error)")
                return
            }
            #expect(refusal.code == code)
            #expect(refusal.status == status)
        }
    }

    @Test(
        "A successful response must have all required members, without null",
        arguments: [
            (#"{"hostname":""}"#, "MissingJsonKey"),
            (#"{"hostname":"","ws_hostname":null}"#, "MalformedJson"),
            (#"{"hostname":"","ws_hostname":"","sync_route":null}"#, "MalformedJson"),
            ("nonsense", "MalformedJson"),
        ]
    )
    func unusable(json: String, code: String) async {
        let exchange = ScriptedExchange([
            "GET /app/shop/location": [.reply(status: 200, json: json)]
        ])
        do {
            try await AppClient.scripted(exchange).refreshLocation()
            Issue.record("the answer was accepted")
        } catch {
            guard case .unusableResponse(let found, _) = error else {
                Issue.record("unexpected \(error)")
                return
            }
            #expect(found == code)
        }
    }

    @Test(
        "The sync host follows from the HTTP host",
        arguments: [
            ("http://localhost:9090", "ws://localhost:9090"),
            ("https://a.example", "wss://a.example"),
            ("ftp://a", "ftp://a"),
            ("https://us-east-1.aws.realm.mongodb.com", "wss://ws.us-east-1.aws.realm.mongodb.com"),
            ("https://services.cloud.mongodb.com", "wss://ws.services.cloud.mongodb.com"),
            (
                "https://eu.services.cloud.mongodb.com/x",
                "wss://eu.ws.services.cloud.mongodb.com/x"
            ),
        ]
    )
    func derivedHost(http: String, webSocket: String) {
        #expect(Location.webSocketHost(of: http) == webSocket)
    }

    @Test("Tokens need three parts and integer times, and never show")
    func tokens() {
        #expect(Token("a.b") == nil)
        #expect(Token("a..c") == nil)
        #expect(Token("a.b!.c") == nil)
        let fraction = Data(#"{"exp":1.5,"iat":1}"#.utf8).base64EncodedString()
        #expect(Token("a.\(fraction).c") == nil)
        let token = Token(makeToken(expiresAt: 100))
        #expect(token?.expiresAt == 100)
        #expect(token?.isExpired(at: 100) == false)
        #expect(token?.isExpired(at: 101) == true)
        #expect(token.map { "\($0)" } == "<redacted>")
        #expect(
            String(reflecting: Credential.emailPassword(email: "e", password: "p")).contains("p\"")
                == false
        )
    }
}
