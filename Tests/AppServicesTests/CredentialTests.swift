import FoundationEssentials
import JSON
import Testing

@testable import AppServices

@Suite("What a log-in sends for each provider (app services, 4.1)", .timeLimit(.minutes(10)))
struct CredentialTests {
    /// The body that a log-in sends, without its options.
    func body(_ credential: Credential) async throws -> [String: JSONValue] {
        let exchange = ScriptedExchange([
            "GET /app/shop/location": [AppClientTests.location],
            "POST /app/shop/auth/providers/\(credential.provider)/login": [AppClientTests.logIn],
        ])
        _ = try await AppClient.scripted(exchange).logIn(credential)
        let body = try JSONDecoder().decode(
            [String: JSONValue].self,
            from: Data(exchange.requests[1].body)
        )
        guard case .object(let options)? = body["options"] else {
            Issue.record("no options")
            return body
        }
        #expect(options.keys.sorted() == ["device"])
        return body.filter { $0.key != "options" }
    }

    @Test("Keys and tokens are sent under the server's names")
    func secrets() async throws {
        #expect(
            try await body(.apiKey("k1"))
                == ["provider": .string("api-key"), "key": .string("k1")]
        )
        #expect(
            try await body(.customToken("a.b.c"))
                == ["provider": .string("custom-token"), "token": .string("a.b.c")]
        )
        #expect(try await body(.anonymous) == ["provider": .string("anon-user")])
    }

    @Test("A function gets its payload and no provider; numbers in canonical form, no own options")
    func function() async throws {
        let text = """
            {"device": 7, "big": 5000000000, "half": 0.5, "on": true, "none": null,
             "list": [1], "options": {"mine": 1}, "when": {"$date": {"$numberLong": "1"}}}
            """
        let payload = try #require(FunctionPayload(json: text))
        #expect(
            try await body(.customFunction(payload)) == [
                "device": .object(["$numberInt": .string("7")]),
                "big": .object(["$numberLong": .string("5000000000")]),
                "half": .object(["$numberDouble": .string("0.5")]),
                "on": .bool(true), "none": .null,
                "list": .array([.object(["$numberInt": .string("1")])]),
                "when": .object(["$date": .object(["$numberLong": .string("1")])]),
            ]
        )
        #expect(FunctionPayload(json: "[1]") == nil)
        #expect(FunctionPayload(json: "{") == nil)
    }

    @Test(
        "No credential shows its secret",
        arguments: [
            Credential.emailPassword(email: "a@b.c", password: "s3cret"), .apiKey("s3cret"),
            .customToken("s3cret"),
        ]
    )
    func redacted(credential: Credential) {
        var dumped = ""
        dump(credential, to: &dumped)
        #expect(!dumped.contains("s3cret"))
        #expect(!"\(credential)".contains("s3cret"))
    }

    @Test(
        "E-mail accounts are registered, confirmed and reset by their routes",
        arguments: [
            "register", "confirm", "confirm/send", "confirm/call", "reset", "reset/send",
            "reset/call",
        ]
    )
    func emailPassword(path: String) async throws {
        let exchange = ScriptedExchange([
            "GET /app/shop/location": [AppClientTests.location],
            "POST /app/shop/auth/providers/local-userpass/\(path)": [
                .raw(ServiceResponse(status: 202, contentType: nil, body: []))
            ],
        ])
        let client = AppClient.scripted(exchange)
        switch path {
        case "register": try await client.register(email: "a@b.c", password: "p")
        case "confirm": try await client.confirm(token: "t", tokenID: "i")
        case "confirm/send": try await client.sendConfirmation(email: "a@b.c")
        case "confirm/call": try await client.sendConfirmation(email: "a@b.c", callsFunction: true)
        case "reset": try await client.resetPassword("p", token: "t", tokenID: "i")
        case "reset/send": try await client.sendPasswordReset(email: "a@b.c")
        default: try await client.callPasswordReset(email: "a@b.c", password: "p")
        }
        let bodies = [
            "register": #"{"email":"a@b.c","password":"p"}"#,
            "confirm": #"{"token":"t","tokenId":"i"}"#,
            "confirm/send": #"{"email":"a@b.c"}"#,
            "confirm/call": #"{"email":"a@b.c"}"#,
            "reset": #"{"password":"p","token":"t","tokenId":"i"}"#,
            "reset/send": #"{"email":"a@b.c"}"#,
            "reset/call": #"{"arguments":[],"email":"a@b.c","password":"p"}"#,
        ]
        #expect(String(decoding: exchange.requests[1].body, as: UTF8.self) == bodies[path])
    }

    @Test(
        "Servers without TLS are refused by an app with an https URL",
        arguments: [
            (#"{"hostname":"http://real","ws_hostname":"wss://real"}"#, false),
            (#"{"hostname":"https://real","ws_hostname":"ws://real"}"#, false),
            (#"{"hostname":"","ws_hostname":"","sync_route":"ws://real/sync"}"#, false),
            (#"{"hostname":"https://real","ws_hostname":"wss://real"}"#, true),
            (#"{"hostname":"","ws_hostname":""}"#, true),
        ]
    )
    func downgrade(json: String, isTrusted: Bool) async throws {
        let exchange = ScriptedExchange([
            "GET /app/shop/location": [.reply(status: 200, json: json)]
        ])
        let client = AppClient(
            appID: "shop",
            baseURL: "https://server",
            device: device,
            exchange: exchange,
            timeout: .seconds(60)
        )
        do {
            try await client.refreshLocation()
            #expect(isTrusted)
        } catch {
            guard case .unusableResponse("InsecureLocation", _) = error else {
                Issue.record("unexpected \(error)")
                return
            }
            #expect(!isTrusted)
        }
        #expect(await client.syncRoute.isVerified == isTrusted)
    }

    @Test(
        "A server on this machine names others only over TLS",
        arguments: [
            ("http://other", "ws://other", false), ("http://127.0.0.1:1", "ws://other", false),
            ("http://127.0.0.1.other", "ws://localhost", false),
            ("http://localhost@other", "ws://localhost", false),
            ("http://127.0.0.1:1", "ws://[::1]:2", true), ("https://other", "wss://other", true),
        ]
    )
    func otherMachine(http: String, webSocket: String, isTrusted: Bool) async throws {
        let json = #"{"hostname":"\#(http)","ws_hostname":"\#(webSocket)"}"#
        let client = AppClient(
            appID: "shop",
            baseURL: "http://localhost:9090",
            device: device,
            exchange: ScriptedExchange(["GET /app/shop/location": [.reply(status: 200, json: json)]]
            ),
            timeout: .seconds(60)
        )
        try? await client.refreshLocation()
        #expect(await client.syncRoute.isVerified == isTrusted)
    }
}
