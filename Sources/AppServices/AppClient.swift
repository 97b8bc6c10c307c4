import FoundationEssentials

/// The calls of the App Services API that an agent makes (app services, 1.2).
///
/// Asks for the location once before its first call, and again when told to; holds no user.
package actor AppClient {
    package nonisolated let appID: String
    private let baseURL: String
    private let fixedLocation: Location?
    private let device: DeviceDescription
    private let exchange: any HTTPExchange
    private let timeout: Duration
    private var location: Location?

    package init(
        appID: String,
        baseURL: String,
        fixedLocation: Location? = nil,
        device: DeviceDescription,
        exchange: any HTTPExchange,
        timeout: Duration
    ) {
        self.appID = appID
        self.baseURL = baseURL.withoutTrailingSlashes
        self.fixedLocation = fixedLocation
        self.device = device
        self.exchange = exchange
        self.timeout = timeout
    }

    /// What a log-in gives.
    package struct LogIn: Sendable {
        package let userID: String
        package let deviceID: String
        package let accessToken: Token
        package let refreshToken: Token
    }

    /// What the server knows of a user.
    package struct Profile: Codable, Sendable {
        package struct Identity: Codable, Sendable {
            package let id: String
            package let providerType: String

            enum CodingKeys: String, CodingKey {
                case id
                case providerType = "provider_type"
            }
        }

        package let identities: [Identity]
    }

    /// The sync endpoint: as the server told, else as derived from the base URL, unverified.
    package var syncRoute: (url: String, isVerified: Bool) {
        if let known = fixedLocation ?? location { return (known.syncRoute, true) }
        return (Location.derived(fromBaseURL: baseURL, appID: appID).syncRoute, false)
    }

    /// Asks the configured base URL where the servers are.
    package func refreshLocation() async throws(ServiceError) {
        if fixedLocation != nil { return }
        let reply = try await send(
            ServiceRequest(
                method: .get,
                url: "\(baseURL)\(ServicePath.app(appID))/location",
                headers: [],
                body: []
            )
        )
        let answer = try ReplyClassifier.decode(LocationAnswer.self, from: reply)
        location = .from(answer, askedAt: baseURL, appID: appID)
    }

    package func logIn(_ credential: Credential) async throws(ServiceError) -> LogIn {
        let body = LogInBody(
            provider: credential.provider,
            fields: credential.fields,
            device: device.fields(appID: appID)
        )
        let reply = try await call(
            .post,
            "\(ServicePath.app(appID))/auth/providers/\(credential.provider)/login",
            body: body.encoded()
        )
        let answer = try ReplyClassifier.decode(LogInAnswer.self, from: reply)
        guard let access = Token(answer.accessToken), let refresh = Token(answer.refreshToken)
        else {
            throw .unusableAnswer(
                code: "BadToken",
                message: "Could not log in user: received malformed JWT"
            )
        }
        return LogIn(
            userID: answer.userID,
            deviceID: answer.deviceID,
            accessToken: access,
            refreshToken: refresh
        )
    }

    /// Creates an email/password account (app services, 6).
    package func register(email: String, password: String) async throws(ServiceError) {
        let fields = ["email": email, "password": password]
        let reply = try await call(
            .post,
            "\(ServicePath.app(appID))/auth/providers/local-userpass/register",
            body: encode(fields)
        )
        _ = try ReplyClassifier.body(of: reply)
    }

    package func profile(_ access: Token) async throws(ServiceError) -> Profile {
        let reply = try await call(.get, "\(ServicePath.base)/auth/profile", token: access)
        return try ReplyClassifier.decode(Profile.self, from: reply)
    }

    /// A new access token for a refresh token (app services, 7.2).
    package func refreshAccess(_ refresh: Token) async throws(ServiceError) -> Token {
        let reply = try await call(.post, "\(ServicePath.base)/auth/session", token: refresh)
        let answer = try ReplyClassifier.decode(RefreshAnswer.self, from: reply)
        guard let token = Token(answer.accessToken) else {
            throw .unusableAnswer(code: "BadToken", message: "received malformed JWT")
        }
        return token
    }

    package func logOut(_ refresh: Token) async throws(ServiceError) {
        let reply = try await call(.delete, "\(ServicePath.base)/auth/session", token: refresh)
        _ = try ReplyClassifier.body(of: reply)
    }
}

// MARK: Sending

extension AppClient {
    private func call(
        _ method: ServiceRequest.Method,
        _ path: String,
        token: Token? = nil,
        body: [UInt8] = []
    ) async throws(ServiceError) -> ServiceReply {
        if fixedLocation == nil, location == nil { try await refreshLocation() }
        let host = (fixedLocation ?? location)?.httpHost ?? baseURL
        var headers = [
            (name: "Content-Type", value: "application/json;charset=utf-8"),
            (name: "Accept", value: "application/json"),
        ]
        if let token { headers.append((name: "Authorization", value: "Bearer \(token.text)")) }
        return try await send(
            ServiceRequest(method: method, url: host + path, headers: headers, body: body)
        )
    }

    private func send(_ request: ServiceRequest) async throws(ServiceError) -> ServiceReply {
        do {
            return try await exchange.perform(request, timeout: timeout)
        } catch {
            throw .unreachable(reason: error.reason)
        }
    }

    private func encode(_ fields: [String: String]) -> [UInt8] {
        LogInBody.encode(fields)
    }
}

// MARK: Bodies

private struct LogInBody: Encodable {
    let provider: String
    let fields: [String: String]
    let device: [String: String]

    private struct Key: CodingKey {
        let stringValue: String
        let intValue: Int? = nil

        init(stringValue: String) {
            self.stringValue = stringValue
        }

        init?(intValue: Int) {
            nil
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(provider, forKey: Key(stringValue: "provider"))
        for (name, value) in fields {
            try container.encode(value, forKey: Key(stringValue: name))
        }
        try container.encode(["device": device], forKey: Key(stringValue: "options"))
    }

    func encoded() -> [UInt8] {
        Self.encode(self)
    }

    /// Dictionaries of strings always encode.
    static func encode(_ value: some Encodable) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return (try? encoder.encode(value)).map { Array($0) } ?? []
    }
}

private struct LogInAnswer: Decodable {
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
}

private struct RefreshAnswer: Decodable {
    let accessToken: String

    enum CodingKeys: String, CodingKey {
        case accessToken = "access_token"
    }
}
