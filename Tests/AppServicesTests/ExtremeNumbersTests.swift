import AppServices
import FoundationEssentials
import TestSupport
import Testing

@Suite("Extreme numbers in responses and tokens cause no trap", .timeLimit(.minutes(10)))
struct ExtremeNumbersTests {
    private static let profile = """
        {"user_id":"u1","type":"normal","data":{"age":1,"score":2.5},"identities":[{"id":"a",\
        "provider_type":"anon-user"}],"custom_data":{"n":3}}
        """

    /// The text with each of its values in turn replaced by each extreme.
    private func variants(_ json: String) -> [String] {
        let object = json.replacing("\n", with: "")
        let pieces = object.split(separator: ":", omittingEmptySubsequences: false)
        var variants: [String] = []
        for index in pieces.indices.dropFirst() {
            for number in MessageVariants.numbers + ["1.5e308", "-0", "[]", "{}", "null"] {
                let end = pieces[index].firstIndex { $0 == "," || $0 == "}" }
                var changed = pieces
                changed[index] =
                    Substring(number) + (end.map { pieces[index][$0...] } ?? "")
                variants.append(changed.joined(separator: ":"))
            }
        }
        return variants
    }

    private func reply(_ json: String) -> ScriptedExchange.Step { .reply(status: 200, json: json) }

    @Test("Location, log-in, refresh and profile with a number for each value")
    func answers() async throws {
        let location =
            #"{"hostname":"http://real","ws_hostname":"ws://real","deployment_model":"LOCAL"}"#
        let token = makeToken(expiresAt: 100)
        let logIn =
            #"{"access_token":"\#(token)","refresh_token":"\#(token)","user_id":"u1","device_id":"d"}"#
        let refreshed = #"{"access_token":"\#(token)"}"#
        let texts = [location, logIn, refreshed, Self.profile]
        let access = try #require(Token(token))
        var count = 0
        for position in texts.indices {
            for variant in variants(texts[position]) {
                var answers = texts
                answers[position] = variant
                let exchange = ScriptedExchange([
                    "GET /app/shop/location": [reply(answers[0])],
                    "POST /app/shop/auth/providers/anon-user/login": [reply(answers[1])],
                    "POST /auth/session": [reply(answers[2])],
                    "GET /auth/profile": [reply(answers[3])],
                ])
                let client = AppClient.scripted(exchange)
                _ = try? await client.logIn(.anonymous)
                _ = try? await client.refreshAccess(access)
                _ = try? await client.profile(access)
                count += 1
            }
        }
        print("\(count) answers")
        #expect(count > 200)
    }

    @Test("Times of a token, as a server may claim them")
    func claims() {
        for expiry in MessageVariants.numbers {
            for issue in MessageVariants.numbers {
                let payload = Data(#"{"exp":\#(expiry),"iat":\#(issue)}"#.utf8)
                let text = payload.base64EncodedString().filter { $0 != "=" }
                guard let token = Token("h.\(text).s") else { continue }
                for now in [Int64.min, 0, 1_800_000_000, .max] {
                    for margin in [Int64.min, -1, 0, 60, .max] {
                        _ = token.isExpired(at: now, margin: margin)
                    }
                }
                _ = token.customData
            }
        }
    }
}
