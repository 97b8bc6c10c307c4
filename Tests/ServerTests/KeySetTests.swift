import FoundationEssentials
import JWTKit
import ServerFixtures
import Settings
import Testing

@testable import ServerAccounts
@testable import ServerConfig
@testable import ServerStore
@testable import Surroundings

/// Checklist line A5 of app services, 16, for apps that trust several keys.
@Suite("App services: tokens signed by one of several keys", .timeLimit(.minutes(10)))
struct KeySetTests {
    private static let secret = "a secret of more than thirty-two characters"
    private static let other = "another secret, also more than thirty-two long"

    private struct Claims: JWTPayload {
        var sub = "ann"
        var aud = ["shop-abcde"]
        var exp: Int64

        func verify(using algorithm: some JWTAlgorithm) {}
    }

    private func apps(
        _ configuration: JWTConfiguration,
        _ environment: [String: String]
    ) async throws -> TestApps {
        try await TestApps(
            apps: [ServedAppConfiguration(id: TestApps.shop, jwt: configuration)],
            secrets: SecretReader(environment: environment)
        )
    }

    private func status(
        _ apps: TestApps,
        kid: String? = nil,
        aud: [String] = ["shop-abcde"],
        signedBy add: (JWTKeyCollection, JWKIdentifier?) async throws -> Void
    ) async throws -> Int {
        let keys = JWTKeyCollection()
        let id = kid.map { JWKIdentifier(string: $0) }
        try await add(keys, id)
        let claims = Claims(aud: aud, exp: apps.clock.wallClock.secondsSince1970 + 60)
        let token = try await keys.sign(claims, kid: id)
        return await apps.call(
            "POST",
            "/app/shop-abcde/auth/providers/custom-token/login",
            "{\"token\":\"\(token)\"}"
        ).status
    }

    private func hmac(_ secret: String) -> (JWTKeyCollection, JWKIdentifier?) async throws -> Void {
        { keys, id in
            await keys.add(hmac: HMACKey(from: secret), digestAlgorithm: .sha256, kid: id)
        }
    }

    private func rsa(_ keys: JWTKeyCollection, _ id: JWKIdentifier?) async throws {
        await keys.add(
            rsa: try JWTKit.Insecure.RSA.PrivateKey(pem: TestRSAKey.pem),
            digestAlgorithm: .sha256,
            kid: id
        )
    }

    @Test("Each of three secrets is valid, a fourth is not; a name for the key has no effect")
    func secrets() async throws {
        let apps = try await apps(
            JWTConfiguration(
                algorithm: .hs256,
                keys: .each([.environment(variable: "A"), .environment(variable: "B")])
            ),
            ["A": Self.secret, "B": Self.other]
        )
        #expect(try await status(apps, signedBy: hmac(Self.secret)) == 200)
        #expect(try await status(apps, signedBy: hmac(Self.other)) == 200)
        #expect(try await status(apps, kid: "any", signedBy: hmac(Self.other)) == 200)
        #expect(try await status(apps, signedBy: hmac(Self.secret + "!")) == 401)
        #expect(try await status(apps, signedBy: rsa) == 401)
    }

    private static let keySet = """
        {"keys":[
        {"kty":"RSA","kid":"old","use":"sig","alg":"RS256",
         "n":"\(TestRSAKey.strangeModulus)","e":"AQAB"},
        {"kty":"RSA","kid":"now","n":"\(TestRSAKey.modulus)","e":"\(TestRSAKey.exponent)"},
        {"kty":"RSA","kid":"enc","use":"enc","n":"x","e":"x"},
        {"kty":"EC","kid":"ec","crv":"P-256","x":"x","y":"y"},
        {"kty":"something new"}]}
        """

    @Test("A key set is searched by the token's key name, and as a whole without one")
    func keySet() async throws {
        let apps = try await apps(
            JWTConfiguration(algorithm: .rs256, keys: .set(.environment(variable: "KEYS"))),
            ["KEYS": Self.keySet]
        )
        #expect(try await status(apps, kid: "now", signedBy: rsa) == 200)
        #expect(try await status(apps, signedBy: rsa) == 200)
        #expect(try await status(apps, kid: "old", signedBy: rsa) == 401)
        #expect(try await status(apps, kid: "unknown", signedBy: rsa) == 401)
        // The public key as a secret: the oldest trick.
        #expect(try await status(apps, kid: "now", signedBy: hmac(TestRSAKey.modulus)) == 401)
    }

    @Test("Key sets hold secrets and curves too")
    func otherKinds() async throws {
        func base64URL(_ text: String) -> String {
            text.replacing("+", with: "-").replacing("/", with: "_").filter { $0 != "=" }
        }
        let secret = base64URL(Data(Self.secret.utf8).base64EncodedString())
        let symmetric = try await apps(
            JWTConfiguration(algorithm: .hs256, keys: .set(.environment(variable: "KEYS"))),
            ["KEYS": #"{"keys":[{"kty":"oct","kid":"s","k":"\#(secret)"}]}"#]
        )
        #expect(try await status(symmetric, kid: "s", signedBy: hmac(Self.secret)) == 200)
        #expect(try await status(symmetric, kid: "s", signedBy: hmac(Self.other)) == 401)

        let key = ES256PrivateKey()
        let point = try #require(key.parameters)
        let curve = """
            {"keys":[{"kty":"EC","crv":"P-256","kid":"c","x":"\(base64URL(point.x))",\
            "y":"\(base64URL(point.y))"}]}
            """
        let elliptic = try await apps(
            JWTConfiguration(algorithm: .es256, keys: .set(.environment(variable: "KEYS"))),
            ["KEYS": curve]
        )
        #expect(
            try await status(elliptic, kid: "c") { keys, id in
                await keys.add(ecdsa: key, kid: id)
            } == 200
        )
    }

    @Test("Audiences: one of several, or all of them")
    func audiences() async throws {
        for needsEveryAudience in [false, true] {
            let apps = try await apps(
                JWTConfiguration(
                    algorithm: .hs256,
                    keys: .each([.environment(variable: "A")]),
                    audiences: ["till", "shop"],
                    needsEveryAudience: needsEveryAudience
                ),
                ["A": Self.secret]
            )
            func status(_ audiences: [String]) async throws -> Int {
                try await self.status(apps, aud: audiences, signedBy: hmac(Self.secret))
            }
            #expect(try await status(["shop", "x", "till"]) == 200)
            #expect(try await status(["shop"]) == (needsEveryAudience ? 401 : 200))
            #expect(try await status(["shop-abcde"]) == 401)
            #expect(try await status([]) == 401)
        }
    }

    @Test(
        "An invalid key set stops the server at its start, with the reason",
        arguments: [
            ("no JSON", "it is not a JSON Web Key Set"),
            (#"{"keys":[]}"#, "it has no key for RS256 among 0"),
            (#"{"keys":[{"kty":"oct","k":"AAAA"}]}"#, "it has no key for RS256 among 1"),
            (#"{"keys":[{"kty":"RSA","kid":"a","n":"AQAB","e":"AQAB"}]}"#, "its key \"a\" is"),
            (#"{"keys":[{"kty":"RSA","e":"AQAB"}]}"#, "its key number 1 is"),
        ]
    )
    func badKeySets(text: String, reason: String) async throws {
        let error = await #expect(throws: ExternalTokens.UnusableKey.self) {
            _ = try await apps(
                JWTConfiguration(algorithm: .rs256, keys: .set(.environment(variable: "KEYS"))),
                ["KEYS": text]
            )
        }
        #expect(error?.description.contains(reason) == true, "\(String(describing: error))")
        #expect(error?.code == "server.jwt_key")
    }
}
