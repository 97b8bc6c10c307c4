import Crypto
import FoundationEssentials
import JSON
import JWTKit
import ServerFixtures
import Settings
import Testing

@testable import ServerAccounts
@testable import ServerConfig
@testable import ServerHTTP
@testable import ServerStore
@testable import Surroundings

/// Checklist lines A5, A6, K, P2 to P6 and E4 to E6 of app services, 16.
@Suite("App services: providers, keys and linking")
struct ProviderTests {
    private static let secret = "a secret of more than thirty-two characters"

    private func apps(
        confirmsAtOnce: Bool = true,
        metadata: [JWTConfiguration.Metadata] = [],
        issuers: [String] = []
    ) async throws -> TestApps {
        let jwt = JWTConfiguration(
            algorithm: .hs256,
            keys: .each([.environment(variable: "SECRET")]),
            metadata: metadata,
            issuers: issuers
        )
        return try await TestApps(
            apps: [
                ServedAppConfiguration(
                    id: TestApps.shop,
                    anonymous: true,
                    emailPassword: EmailPasswordConfiguration(confirmsAtOnce: confirmsAtOnce),
                    apiKey: true,
                    jwt: jwt
                )
            ],
            secrets: SecretReader(environment: ["SECRET": Self.secret])
        )
    }

    private let providers = "/app/shop-abcde/auth/providers"

    // MARK: Tokens of third parties

    private func token(
        _ claims: String,
        secret: String = Self.secret,
        algorithm: String = "HS256"
    ) -> String {
        func base64URL(_ bytes: some Sequence<UInt8>) -> String {
            Data(bytes).base64EncodedString()
                .replacing("+", with: "-").replacing("/", with: "_").filter { $0 != "=" }
        }
        let head = base64URL("{\"alg\":\"\(algorithm)\",\"typ\":\"JWT\"}".utf8)
        let text = "\(head).\(base64URL(claims.utf8))"
        let key = SymmetricKey(data: Data(secret.utf8))
        let code = HMAC<SHA256>.authenticationCode(for: Data(text.utf8), using: key)
        return "\(text).\(base64URL(code))"
    }

    private func logIn(_ apps: TestApps, token: String) async -> TestApps.Reply {
        await apps.call("POST", "\(providers)/custom-token/login", "{\"token\":\"\(token)\"}")
    }

    @Test("A5 A valid token logs in, always as the same user")
    func goodToken() async throws {
        let metadata = [
            JWTConfiguration.Metadata(name: "who.name", fieldName: "name", isRequired: true),
            .init(name: "age", fieldName: "min_age", isRequired: false),
            .init(name: "team", fieldName: "team", isRequired: false),
        ]
        let apps = try await apps(metadata: metadata)
        let now = apps.clock.wallClock.secondsSince1970
        let claims = """
            {"sub":"ann","aud":["other","shop-abcde"],"exp":\(now + 60),"iat":\(now),\
            "who":{"name":"Ann"},"age":7,"team":{"color":"blue"}}
            """
        let first = await logIn(apps, token: token(claims))
        #expect(first.status == 200)
        let second = await logIn(apps, token: token(claims))
        #expect(first.fields["user_id"] == second.fields["user_id"])
        let profile = await apps.call("GET", "/auth/profile", token: first.fields["access_token"])
        #expect(
            profile.text.contains(
                #""data":{"min_age":"7","name":"Ann","team":{"color":"blue"}}"#
            )
        )
        #expect(profile.text.contains(#""id":"ann""#))
        let nameless = await logIn(
            apps,
            token: token("{\"sub\":\"b\",\"aud\":\"shop-abcde\",\"exp\":\(now + 60)}")
        )
        #expect(nameless.fields["error_code"] == "AuthError")
    }

    @Test(
        "Dots in the name of a claim lead into objects, but for those behind a backslash",
        arguments: [
            ("who.name", ["who", "name"]), (#"example\.com.name"#, ["example.com", "name"]),
            (#"a\\.b"#, [#"a\"#, "b"]), (#"a\.b\.c"#, ["a.b.c"]),
        ]
    )
    func claimPath(name: String, path: [String]) async throws {
        let metadata = JWTConfiguration.Metadata(name: name, fieldName: "found", isRequired: true)
        #expect(metadata.path == path)
        let apps = try await apps(metadata: [metadata])
        let value = path.reversed().reduce(JSONValue.string("x")) { .object([$1: $0]) }
        guard case .object(var claims) = value else { return }
        claims["sub"] = .string("ann")
        claims["aud"] = .string("shop-abcde")
        claims["exp"] = .integer(apps.clock.wallClock.secondsSince1970 + 60)
        let text = String(decoding: try JSONValue.object(claims).json(), as: UTF8.self)
        let login = await logIn(apps, token: token(text))
        let profile = await apps.call("GET", "/auth/profile", token: login.fields["access_token"])
        #expect(profile.text.contains(#""data":{"found":"x"}"#), "\(profile.text)")
    }

    @Test(
        "A5 Tokens with anything wrong are refused",
        arguments: [
            #"{"sub":"ann","aud":"another","exp":NOW+60}"#,
            #"{"aud":"shop-abcde","exp":NOW+60}"#,
            #"{"sub":"","aud":"shop-abcde","exp":NOW+60}"#,
            #"{"sub":"\#(String(repeating: "a", count: 255))","aud":"shop-abcde","exp":NOW+60}"#,
            #"{"sub":"ann","aud":"shop-abcde"}"#,
            #"{"sub":"ann","exp":NOW+60}"#,
            #"{"sub":"ann","aud":"shop-abcde","exp":NOW-1}"#,
            #"{"sub":"ann","aud":"shop-abcde","exp":NOW+60,"nbf":NOW+60}"#,
            #"{"sub":"ann","aud":"shop-abcde","exp":NOW+60,"iat":NOW+60}"#,
        ]
    )
    func badClaims(claims: String) async throws {
        let apps = try await apps()
        let now = apps.clock.wallClock.secondsSince1970
        let text = claims.replacing("NOW+60", with: "\(now + 60)")
            .replacing("NOW-1", with: "\(now - 1)")
        let reply = await logIn(apps, token: token(text))
        #expect(reply.status == 401)
        #expect(reply.fields["error_code"] == "AuthError")
    }

    @Test(
        "With configured issuers a token must be of one of them",
        arguments: [
            (#""iss":"https://id.example.com","#, 200),
            (#""iss":"https://evil.example.com","#, 401),
            (#""iss":["https://id.example.com"],"#, 401), ("", 401),
        ]
    )
    func issuer(claim: String, status: Int) async throws {
        let apps = try await apps(issuers: ["https://other.example.com", "https://id.example.com"])
        let now = apps.clock.wallClock.secondsSince1970
        let claims = #"{\#(claim)"sub":"ann","aud":"shop-abcde","exp":\#(now + 60)}"#
        #expect(await logIn(apps, token: token(claims)).status == status)
    }

    @Test("A5 Other keys and other algorithms are refused")
    func badSignatures() async throws {
        let apps = try await apps()
        let now = apps.clock.wallClock.secondsSince1970
        let claims = "{\"sub\":\"ann\",\"aud\":\"shop-abcde\",\"exp\":\(now + 60)}"
        #expect(await logIn(apps, token: token(claims)).status == 200)
        let other = token(claims, secret: "another secret of thirty-two characters")
        for bad in [other, token(claims, algorithm: "none"), "a.b", "x"] {
            #expect(await logIn(apps, token: bad).status == 401)
        }
    }

    @Test("A public key verifies tokens, and an invalid one stops the server at its start")
    func publicKey() async throws {
        let key = ES256PrivateKey()
        let configuration = JWTConfiguration(
            algorithm: .es256,
            keys: .each([.environment(variable: "KEY")]),
            audiences: ["till"]
        )
        let app = ServedAppConfiguration(id: TestApps.shop, jwt: configuration)
        let apps = try await TestApps(
            apps: [app],
            secrets: SecretReader(environment: ["KEY": key.publicKey.pemRepresentation])
        )
        struct Claims: JWTPayload {
            let sub = "ann"
            let aud = "till"
            let exp: Int64

            enum CodingKeys: CodingKey { case sub, aud, exp }
            init(exp: Int64) { self.exp = exp }
            init(from decoder: any Decoder) throws { exp = 0 }
            func verify(using algorithm: some JWTAlgorithm) {}
        }
        let keys = JWTKeyCollection()
        await keys.add(ecdsa: key)
        let now = apps.clock.wallClock.secondsSince1970
        let token = try await keys.sign(Claims(exp: now + 60))
        #expect(await logIn(apps, token: token).status == 200)

        await #expect(throws: ExternalTokens.UnusableKey.self) {
            _ = try await TestApps(
                apps: [app],
                secrets: SecretReader(environment: ["KEY": "none"])
            )
        }
        await #expect(throws: SecretReader.Missing.self) { _ = try await TestApps(apps: [app]) }
    }

    // MARK: API keys

    private struct Key: Decodable {
        let _id: String
        let key: String?
        let name: String
        let disabled: Bool
    }

    private func logIn(_ apps: TestApps, key: String) async -> TestApps.Reply {
        await apps.call("POST", "\(providers)/api-key/login", "{\"key\":\"\(key)\"}")
    }

    @Test("A6 P2 P3 P5 A key is shown once, logs its user in, and can be disabled and deleted")
    func keys() async throws {
        let apps = try await apps()
        _ = await apps.register("ann@example.net", "correct horse")
        let login = await apps.logIn("ann@example.net", "correct horse").fields
        let refresh = try #require(login["refresh_token"])
        let created = await apps.call(
            "POST",
            "/auth/api_keys",
            "{\"name\":\"printer-7\"}",
            token: refresh
        )
        #expect(created.status == 201)
        let key = try #require(created.decode(Key.self))
        let secret = try #require(key.key)
        #expect(key._id.utf8.count == 24)
        #expect(!key.disabled)

        let list = await apps.call("GET", "/auth/api_keys", token: refresh)
        #expect(list.text == #"[{"_id":"\#(key._id)","disabled":false,"name":"printer-7"}]"#)
        let path = "/auth/api_keys/\(key._id)"
        let one = await apps.call("GET", path, token: refresh)
        #expect(one.status == 200)
        #expect(!one.text.contains("\"key\""))

        let again = await apps.call(
            "POST",
            "/auth/api_keys",
            "{\"name\":\"printer-7\"}",
            token: refresh
        )
        #expect(again.fields["error_code"] == "APIKeyAlreadyExists")

        #expect(await logIn(apps, key: secret).fields["user_id"] == login["user_id"])
        #expect(await apps.call("PUT", "\(path)/disable", token: refresh).status == 204)
        #expect(await logIn(apps, key: secret).fields["error_code"] == "AuthError")
        #expect(await apps.call("PUT", "\(path)/enable", token: refresh).status == 204)
        #expect(await logIn(apps, key: secret).status == 200)
        #expect(await apps.call("DELETE", path, token: refresh).status == 204)
        let gone = await logIn(apps, key: secret)
        #expect(gone.status == 401)
        #expect(gone.fields["error_code"] == "APIKeyNotFound")
        #expect(await apps.call("GET", "/auth/api_keys", token: refresh).text == "[]")
    }

    @Test("P4 P6 Only the owner may use keys, with the refresh token")
    func foreignKeys() async throws {
        let apps = try await apps()
        _ = await apps.register("ann@example.net", "correct horse")
        _ = await apps.register("bob@example.net", "correct horse")
        let ann = await apps.logIn("ann@example.net", "correct horse").fields
        let bob = await apps.logIn("bob@example.net", "correct horse").fields
        let created = await apps.call(
            "POST",
            "/auth/api_keys",
            "{\"name\":\"k\"}",
            token: ann["refresh_token"]
        )
        let id = try #require(created.decode(Key.self))._id
        for (method, path) in [
            ("GET", id), ("DELETE", id), ("PUT", "\(id)/disable"), ("GET", "none"),
        ] {
            let reply = await apps.call(
                method,
                "/auth/api_keys/\(path)",
                token: bob["refresh_token"]
            )
            #expect(reply.status == 404)
            #expect(
                reply.text
                    == #"{"error":"API key not found","error_code":"APIKeyNotFound"}"#
            )
        }
        let wrong = await apps.call("GET", "/auth/api_keys", token: ann["access_token"])
        #expect(wrong.status == 401)
        #expect(
            await apps.call("GET", "/auth/api_keys").fields["error"] == "must authenticate first"
        )
        let anonymous = await apps.logInAnonymously().fields["refresh_token"]
        let refused = await apps.call(
            "POST",
            "/auth/api_keys",
            "{\"name\":\"k\"}",
            token: anonymous
        )
        #expect(refused.fields["error_code"] == "BadRequest")
    }

    @Test("A6 A key of the operator has a user of its own, of type server")
    func serverKeys() async throws {
        let apps = try await apps()
        let admin = TestAdmin(apps, .testing(apps))
        let created = try await admin.call(
            "POST",
            "apps/shop-abcde/server_keys",
            "{\"name\":\"importer\"}"
        ).decode(KeyReport.self)
        let login = await logIn(apps, key: created.key ?? "")
        #expect(login.status == 200)
        let profile = await apps.call("GET", "/auth/profile", token: login.fields["access_token"])
        #expect(profile.text.contains("\"type\":\"server\""))
        let reply = await admin.call("DELETE", "apps/shop-abcde/server_keys/\(created.id)")
        #expect(reply.status == 204)
        #expect(await logIn(apps, key: created.key ?? "").status == 401)
    }

    // MARK: Linking

    @Test("K1 K2 K3 An anonymous user gets a name, once, keeps its id, and takes no other user's")
    func linking() async throws {
        let apps = try await apps()
        _ = await apps.register("ann@example.net", "correct horse")
        let body = #"{"username":"ann@example.net","password":"correct horse"}"#
        let path = "\(providers)/local-userpass/login?link=true"
        let anonymous = await apps.logInAnonymously().fields
        let linked = await apps.call("POST", path, body, token: anonymous["access_token"])
        #expect(linked.status == 200)
        #expect(linked.fields["user_id"] == anonymous["user_id"])
        #expect(linked.fields.count == 4)
        let profile = await apps.call("GET", "/auth/profile", token: linked.fields["access_token"])
        #expect(profile.text.contains("anon-user"))
        #expect(profile.text.contains("local-userpass"))
        let again = await apps.call("POST", path, body, token: anonymous["access_token"])
        #expect(again.status == 200)
        let login = await apps.logIn("ann@example.net", "correct horse")
        #expect(login.fields["user_id"] == anonymous["user_id"])

        let other = await apps.logInAnonymously().fields
        let taken = await apps.call("POST", path, body, token: other["access_token"])
        #expect(taken.status == 409)
        #expect(taken.fields["error_code"] == "AccountNameInUse")
        // Nor is another user's key for a machine.
        let key = await apps.call(
            "POST",
            "/auth/api_keys",
            #"{"name":"till"}"#,
            token: linked.fields["refresh_token"]
        )
        let secret = try #require(key.decode([String: JSONValue].self)?["key"]?.text)
        let keyPath = "\(providers)/api-key/login?link=true"
        let keyBody = #"{"key":"\#(secret)"}"#
        #expect(
            await apps.call("POST", keyPath, keyBody, token: other["access_token"]).status == 409
        )
        #expect(
            await apps.call("POST", keyPath, keyBody, token: anonymous["access_token"]).status
                == 200
        )
        let tokenless = await apps.call("POST", path, body)
        #expect(tokenless.status == 401)
        #expect(tokenless.fields["error_code"] == "InvalidSession")
        apps.clock.advance(bySeconds: 2000)
        let late = await apps.call("POST", path, body, token: other["access_token"])
        #expect(late.status == 401)
    }

    // MARK: Confirmation, reset, deletion

    @Test("E4 An unconfirmed account waits for its token")
    func confirmation() async throws {
        let apps = try await apps(confirmsAtOnce: false)
        let admin = TestAdmin(apps, .testing(apps))
        #expect(await apps.register("ann@example.net", "correct horse").status == 201)
        let early = await apps.logIn("ann@example.net", "correct horse")
        #expect(early.status == 401)
        #expect(early.text == #"{"error":"confirmation required","error_code":"AuthError"}"#)

        func pending() async throws -> PendingReport? {
            try await admin.call("GET", "apps/shop-abcde/pending")
                .decode([PendingReport].self).first
        }
        func confirm(_ report: PendingReport) async -> TestApps.Reply {
            let body = #"{"token":"\#(report.token)","tokenId":"\#(report.tokenId)"}"#
            return await apps.call("POST", "\(providers)/local-userpass/confirm", body)
        }
        let first = try #require(try await pending())
        let email = #"{"email":"ann@example.net"}"#
        let send = "\(providers)/local-userpass/confirm/send"
        #expect(await apps.call("POST", send, email).status == 202)
        // The newer token takes the place of the first.
        #expect(await confirm(first).fields["error_code"] == "UserpassTokenInvalid")
        let second = try #require(try await pending())
        apps.clock.advance(bySeconds: 31 * 60)
        #expect(await confirm(second).fields["error_code"] == "UserpassTokenInvalid")
        #expect(await apps.call("POST", send, email).status == 202)
        let third = try #require(try await pending())
        #expect(await confirm(third).status == 200)
        #expect(await confirm(third).fields["error_code"] == "UserpassTokenInvalid")
        #expect(await apps.logIn("ann@example.net", "correct horse").status == 200)

        _ = await apps.register("bob@example.net", "correct horse")
        let body = #"{"email":"bob@example.net"}"#
        #expect(await admin.call("POST", "apps/shop-abcde/pending/confirm", body).status == 204)
        #expect(await apps.logIn("bob@example.net", "correct horse").status == 200)
    }

    @Test("E6 A reset by token changes the password, and ends every log-in")
    func reset() async throws {
        let apps = try await apps()
        let admin = TestAdmin(apps, .testing(apps))
        _ = await apps.register("ann@example.net", "correct horse")
        let refresh = await apps.logIn("ann@example.net", "correct horse").fields["refresh_token"]
        let base = "\(providers)/local-userpass"
        let email = #"{"email":"ann@example.net"}"#
        #expect(await apps.call("POST", "\(base)/reset/send", email).status == 202)
        #expect(await apps.call("POST", "\(base)/reset/call", email).status == 400)
        let unknown = await apps.call("POST", "\(base)/reset/send", #"{"email":"x@y.z"}"#)
        #expect(unknown.status == 404)
        let token = try #require(
            try await admin.call("GET", "apps/shop-abcde/pending")
                .decode([PendingReport].self).first
        )
        #expect(token.purpose == "reset")
        func reset(to password: String) async -> TestApps.Reply {
            await apps.call(
                "POST",
                "\(base)/reset",
                """
                {"token":"\(token.token)","tokenId":"\(token.tokenId)","password":"\(password)"}
                """
            )
        }
        #expect(await reset(to: "short").fields["error_code"] == "BadRequest")
        #expect(await reset(to: "battery staple").status == 200)
        #expect(await reset(to: "battery staple").fields["error_code"] == "UserpassTokenInvalid")
        #expect(await apps.logIn("ann@example.net", "correct horse").status == 401)
        #expect(await apps.logIn("ann@example.net", "battery staple").status == 200)
        let revoked = await apps.call("POST", "/auth/session", token: refresh)
        #expect(revoked.status == 401)
        #expect(revoked.fields["error_code"] == "InvalidSession")
    }

    @Test("S8 A deleted account cannot log in, and its name is free")
    func deletion() async throws {
        let apps = try await apps()
        _ = await apps.register("ann@example.net", "correct horse")
        let login = await apps.logIn("ann@example.net", "correct horse").fields
        let wrong = await apps.call("DELETE", "/auth/delete", token: login["refresh_token"])
        #expect(wrong.status == 401)
        let reply = await apps.call("DELETE", "/auth/delete", token: login["access_token"])
        #expect(reply.status == 204)
        #expect(reply.response.body == nil)
        let gone = await apps.logIn("ann@example.net", "correct horse")
        #expect(gone.fields["error_code"] == "InvalidPassword")
        let refresh = await apps.call("POST", "/auth/session", token: login["refresh_token"])
        #expect(refresh.fields["error_code"] == "InvalidSession")
        #expect(await apps.register("ann@example.net", "another horse").status == 201)
        let again = await apps.logIn("ann@example.net", "another horse").fields
        #expect(again["user_id"] != login["user_id"])
    }
}
