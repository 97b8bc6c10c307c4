import JSON
import ServerAccounts
import ServerStore

/// The response to a log-in (app services, 4.3). Responses never hold null: clients refuse it.
struct LoginResponse: Encodable {
    let accessToken: String
    let refreshToken: String
    let userID: String
    let deviceID: String

    enum CodingKeys: String, CodingKey {
        case accessToken = "access_token"
        case refreshToken = "refresh_token"
        case userID = "user_id"
        case deviceID = "device_id"
    }

    init(_ tokens: IssuedTokens) {
        self.accessToken = tokens.accessToken
        self.refreshToken = tokens.refreshToken
        self.userID = tokens.userID.rawValue
        self.deviceID = tokens.deviceID
    }
}

/// The response to a token refresh (app services, 7.2).
struct RefreshResponse: Encodable {
    let accessToken: String

    enum CodingKeys: String, CodingKey {
        case accessToken = "access_token"
    }
}

/// The response of the location route (app services, 3.1).
struct LocationResponse: Encodable {
    let deploymentModel = "LOCAL"
    let location = "US-VA"
    let hostname: String
    let webSocketHostname: String

    enum CodingKeys: String, CodingKey {
        case deploymentModel = "deployment_model"
        case location, hostname
        case webSocketHostname = "ws_hostname"
    }
}

/// An API key (app services, 7.5). Only the response to its creation contains the secret.
struct KeyResponse: Encodable {
    let id: String
    let key: String?
    let name: String
    let disabled: Bool

    enum CodingKeys: String, CodingKey {
        case id = "_id"
        case key, name, disabled
    }

    init(_ key: APIKey, _ secret: APIKeySecret? = nil) {
        self.id = key.id
        self.key = secret?.text
        self.name = key.name
        self.disabled = key.isDisabled
    }
}

/// A user's profile (app services, 7.1). The members of `data` that clients know are strings.
struct ProfileResponse: Encodable {
    struct Identity: Encodable {
        let id: String
        let providerType: String
        let providerID: String
        let providerData: [String: String]

        enum CodingKeys: String, CodingKey {
            case id
            case providerType = "provider_type"
            case providerID = "provider_id"
            case providerData = "provider_data"
        }
    }

    let userID: String
    let domainID: String
    let identities: [Identity]
    let data: [String: JSONValue]
    let type: String

    enum CodingKeys: String, CodingKey {
        case userID = "user_id"
        case domainID = "domain_id"
        case identities, data, type
    }

    init(_ user: User, of app: ServedApp) {
        self.userID = user.id.rawValue
        self.domainID = app.domainID
        self.identities = user.identities.map { identity in
            Identity(
                id: identity.id,
                providerType: identity.provider.rawValue,
                providerID: app.providerID(identity.provider),
                providerData: identity.email.isEmpty ? [:] : ["email": identity.email]
            )
        }
        self.data = user.profileData
        self.type = user.kind.rawValue
    }
}

/// The body of every error (app services, 11.1).
struct RefusalBody: Encodable {
    let error: String
    let errorCode: String?

    enum CodingKeys: String, CodingKey {
        case error
        case errorCode = "error_code"
    }

    init(_ refusal: ServiceRefusal) {
        self.error = refusal.message
        self.errorCode = refusal.code?.rawValue
    }
}
