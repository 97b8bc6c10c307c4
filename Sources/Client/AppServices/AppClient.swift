import FoundationEssentials
import JSON

/// The calls of the App Services API that an agent makes (app services, 1.2).
///
/// Asks for the location once before its first call, and again when told to; holds no user.
package actor AppClient {
    package nonisolated let appID: String
    private let baseURL: String
    private let fixedLocation: Location?
    private let device: DeviceDescription
    private let exchange: any HTTPExchange
    private let authorizationHeader: String
    private let timeout: Duration
    private let recall: @Sendable () async -> Location?
    private let onLocation: @Sendable (Location) async -> Void
    private var location: Location?
    private var recalled: Location?
    private var hasRecalled = false

    /// `onLocation` hears what the server tells of itself, and `recall` knows what it told last.
    package init(
        appID: String,
        baseURL: String,
        fixedLocation: Location? = nil,
        device: DeviceDescription,
        exchange: any HTTPExchange,
        authorizationHeader: String = "Authorization",
        timeout: Duration,
        recall: @escaping @Sendable () async -> Location? = { nil },
        onLocation: @escaping @Sendable (Location) async -> Void = { _ in }
    ) {
        self.appID = appID
        self.baseURL = baseURL.withoutTrailingSlashes
        self.fixedLocation = fixedLocation
        self.device = device
        self.exchange = exchange
        self.authorizationHeader = authorizationHeader
        self.timeout = timeout
        self.recall = recall
        self.onLocation = onLocation
    }

    /// What a log-in gives.
    package struct LogIn: Sendable {
        package let userID: String
        package let deviceID: String
        package let accessToken: Token
        package let refreshToken: Token
    }

    /// The sync endpoint: as the server told, else as it told an earlier run or as derived from the
    /// base URL, both unverified.
    ///
    /// So who starts with a token that holds needs the sync endpoint alone (app services, 2.4).
    package var syncRoute: (url: String, isVerified: Bool) {
        get async {
            if let known = fixedLocation ?? location { return (known.syncRoute, true) }
            if !hasRecalled {
                let found = await recall()
                hasRecalled = true
                if let found, isTrusted(found) { recalled = found }
            }
            let likely = recalled ?? .derived(fromBaseURL: baseURL, appID: appID)
            return (likely.syncRoute, false)
        }
    }

    /// Tokens that were to be sent over TLS are sent over nothing less.
    private func isTrusted(_ location: Location) -> Bool {
        !baseURL.isSecure || (location.httpHost.isSecure && location.syncRoute.isSecure)
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
        let answer = try ReplyClassifier.decode(LocationBody.self, from: reply)
        let found = Location.from(answer, askedAt: baseURL, appID: appID)
        guard isTrusted(found) else {
            throw .unusableAnswer(
                code: "InsecureLocation",
                message: "\(baseURL) names servers without TLS, which would see the tokens: "
                    + "\(found.httpHost), \(found.syncRoute)"
            )
        }
        location = found
        await onLocation(found)
    }

    package func logIn(_ credential: Credential) async throws(ServiceError) -> LogIn {
        let reply = try await call(.post, path(of: credential), body: body(of: credential))
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

    /// Adds an identity to the user of the token, which is replaced (app services, 5).
    package func link(
        _ credential: Credential,
        _ access: Token
    ) async throws(ServiceError) -> Token {
        let path = "\(path(of: credential))?link=true"
        let reply = try await call(.post, path, token: access, body: body(of: credential))
        return try accessToken(in: reply)
    }

    private func path(of credential: Credential) -> String {
        "\(ServicePath.app(appID))/auth/providers/\(credential.provider)/login"
    }

    private func body(of credential: Credential) -> [UInt8] {
        let device = device.fields(appID: appID).mapValues(JSONValue.string)
        var members = credential.members
        members["options"] = .object(["device": .object(device)])
        return Array(JSONValue.object(members).text.utf8)
    }

    package func profile(_ access: Token) async throws(ServiceError) -> Profile {
        let reply = try await call(.get, "\(ServicePath.base)/auth/profile", token: access)
        return try ReplyClassifier.decode(Profile.self, from: reply)
    }

    /// A new access token for a refresh token (app services, 7.2).
    package func refreshAccess(_ refresh: Token) async throws(ServiceError) -> Token {
        let reply = try await call(.post, "\(ServicePath.base)/auth/session", token: refresh)
        return try accessToken(in: reply)
    }

    private func accessToken(in reply: ServiceReply) throws(ServiceError) -> Token {
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

    /// Deletes the user at the server, with everything that belongs to it (app services, 7.4).
    package func deleteUser(_ access: Token) async throws(ServiceError) {
        let reply = try await call(.delete, "\(ServicePath.base)/auth/delete", token: access)
        _ = try ReplyClassifier.body(of: reply)
    }
}

// MARK: Sending

extension AppClient {
    func call(
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
        if let token {
            headers.append((name: authorizationHeader, value: "Bearer \(token.text)"))
        }
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
}

// MARK: Bodies

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
