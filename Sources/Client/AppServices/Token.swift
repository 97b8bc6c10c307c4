import FoundationEssentials
import JSON

/// A JSON Web Token as the client reads it: its text, and when it expires (app services, 10.1).
///
/// The text never shows in descriptions, dumps or logs.
package struct Token: Hashable, Sendable {
    /// The token as it travels.
    package let text: String
    /// Seconds since 1970.
    package let expiresAt: Int64
    /// Seconds since 1970.
    package let issuedAt: Int64

    /// Nil unless the text has three parts and integer `exp` and `iat` claims.
    package init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, parts.allSatisfy({ !$0.isEmpty }),
            let payload = Self.base64(parts[1]),
            let claims = try? JSONDecoder().decode(Claims.self, from: payload)
        else { return nil }
        self.text = text
        self.expiresAt = claims.exp
        self.issuedAt = claims.iat
    }

    /// Whether the token expires within `margin` seconds of `now` (seconds since 1970).
    package func isExpired(at now: Int64, margin: Int64 = 0) -> Bool {
        let (limit, overflow) = now.addingReportingOverflow(margin)
        return overflow ? margin > 0 : expiresAt < limit
    }

    /// The user's custom data in the token, a JSON object; empty without such a claim (app
    /// services, 10.5).
    package var customData: String {
        struct Claims: Decodable {
            let data: JSONValue?

            enum CodingKeys: String, CodingKey {
                case data = "user_data"
            }
        }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard let payload = Self.base64(parts[1]),
            let claims = try? JSONDecoder().decode(Claims.self, from: payload),
            case .object? = claims.data
        else { return "{}" }
        return claims.data?.text ?? "{}"
    }

    private struct Claims: Decodable {
        let exp: Int64
        let iat: Int64
    }

    /// Either alphabet, padding optional.
    private static func base64(_ text: Substring) -> Data? {
        var standard = text.replacing("-", with: "+").replacing("_", with: "/")
        standard = standard.filter { $0 != "=" }
        standard += String(repeating: "=", count: (4 - standard.utf8.count % 4) % 4)
        return Data(base64Encoded: String(standard))
    }
}

extension Token: CustomStringConvertible, CustomReflectable {
    package var description: String { "<redacted>" }
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}
