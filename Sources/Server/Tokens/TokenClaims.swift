import JSON
import JWTKit

/// What an access token and a refresh token say (app services, 10.3).
///
/// Clients end their process over times that are not integers, so these are.
struct TokenClaims: JWTPayload, Hashable {
    enum Kind: String, Codable {
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
    /// In access tokens only: what the application keeps about the user.
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

    /// `TokenAuthority` decides, with a clock and a leeway; a signature alone is nothing yet.
    func verify(using algorithm: some JWTAlgorithm) {}
}
