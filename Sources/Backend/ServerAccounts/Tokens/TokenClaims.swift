import JSON
package import JWTKit
import ServerStore

/// The claims of access tokens and refresh tokens (app services, 10.3).
///
/// Clients crash on times that are not integers, so these are integers.
package struct TokenClaims: JWTPayload, Hashable {
    package enum Kind: String, Codable, Sendable {
        case access
        case refresh
    }

    struct Identity: Codable, Hashable {
        let id: String
        let providerType: String
        let providerID: String

        enum CodingKeys: String, CodingKey {
            case id
            case providerType = "provider_type"
            case providerID = "provider_id"
        }
    }

    let sessionID: String
    let userID: String
    let deviceID: String
    let domainID: String
    let appID: String
    /// Seconds since 1970.
    let issuedAt: Int64
    /// Seconds since 1970.
    let expiresAt: Int64
    let kind: Kind
    /// In refresh tokens only: the session again, under the name that clients know.
    let refreshID: String?
    /// In refresh tokens only.
    let identity: Identity?
    /// In access tokens only: the app's custom user data.
    let userData: JSONValue?

    enum CodingKeys: String, CodingKey {
        case sessionID = "iss"
        case userID = "sub"
        case deviceID = "baas_device_id"
        case domainID = "baas_domain_id"
        case appID = "app_id"
        case issuedAt = "iat"
        case expiresAt = "exp"
        case kind = "typ"
        case refreshID = "baas_id"
        case identity = "baas_identity"
        case userData = "user_data"
    }

    /// Accepts every claim: `TokenAuthority` checks them, with a clock and a leeway.
    package func verify(using algorithm: some JWTAlgorithm) {}
}
