import FoundationEssentials
import JSON

/// The calls of the App Services API that an agent makes (app services, 1.2).
///
/// Requests the location once before its first call, and again on request; holds no user.
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

    /// `onLocation` receives the server's location, and `recall` returns the last one.
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

    /// The result of a log-in.
    package struct LogIn: Sendable {
        package let userID: String
        package let deviceID: String
        package let accessToken: Token
        package let refreshToken: Token
    }

    /// The sync endpoint: from the server, else from an earlier run or derived from the base URL,
    /// both unverified.
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
        if baseURL.isSecure { return location.httpHost.isSecure && location.syncRoute.isSecure }
        // A server on this machine may name others only over TLS.
        guard baseURL.isOfThisMachine else { return true }
        return [location.httpHost, location.syncRoute].allSatisfy {
            $0.isSecure || $0.isOfThisMachine
        }
    }

    /// Asks the configured base URL where the servers are.
    package func refreshLocation() async throws(ServiceError) {
        if fixedLocation != nil { return }
        let response = try await send(
            ServiceRequest(
                method: .get,
                url: "\(baseURL)\(ServicePath.app(appID))/location",
                headers: [],
                body: []
            )
        )
        let answer = try ResponseClassifier.decode(LocationBody.self, from: response)
        let found = Location.from(answer, askedAt: baseURL, appID: appID)
        guard isTrusted(found) else {
            throw .unusableResponse(
                code: "InsecureLocation",
                message: "\(baseURL) names servers without TLS, which would see the tokens: "
                    + "\(found.httpHost), \(found.syncRoute)"
            )
        }
        location = found
        await onLocation(found)
    }

    package func logIn(_ credential: Credential) async throws(ServiceError) -> LogIn {
        let response = try await call(.post, path(of: credential), body: body(of: credential))
        let answer = try ResponseClassifier.decode(LogInResponse.self, from: response)
        guard let access = Token(answer.accessToken), let refresh = Token(answer.refreshToken)
        else {
            throw .unusableResponse(
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
        let response = try await call(.post, path, token: access, body: body(of: credential))
        return try accessToken(in: response)
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
        let response = try await call(.get, "\(ServicePath.base)/auth/profile", token: access)
        return try ResponseClassifier.decode(Profile.self, from: response)
    }

    /// A new access token for a refresh token (app services, 7.2).
    package func refreshAccess(_ refresh: Token) async throws(ServiceError) -> Token {
        let response = try await call(.post, "\(ServicePath.base)/auth/session", token: refresh)
        return try accessToken(in: response)
    }

    private func accessToken(in response: ServiceResponse) throws(ServiceError) -> Token {
        let answer = try ResponseClassifier.decode(RefreshResponse.self, from: response)
        guard let token = Token(answer.accessToken) else {
            throw .unusableResponse(code: "BadToken", message: "received malformed JWT")
        }
        return token
    }

    package func logOut(_ refresh: Token) async throws(ServiceError) {
        let response = try await call(.delete, "\(ServicePath.base)/auth/session", token: refresh)
        _ = try ResponseClassifier.body(of: response)
    }

    /// Deletes the user at the server, with everything that belongs to it (app services, 7.4).
    package func deleteUser(_ access: Token) async throws(ServiceError) {
        let response = try await call(.delete, "\(ServicePath.base)/auth/delete", token: access)
        _ = try ResponseClassifier.body(of: response)
    }
}

// MARK: Sending

extension AppClient {
    func call(
        _ method: ServiceRequest.Method,
        _ path: String,
        token: Token? = nil,
        body: [UInt8] = [],
        timeout: Duration? = nil
    ) async throws(ServiceError) -> ServiceResponse {
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
            ServiceRequest(method: method, url: host + path, headers: headers, body: body),
            timeout
        )
    }

    private func send(
        _ request: ServiceRequest,
        _ timeout: Duration? = nil
    ) async throws(ServiceError) -> ServiceResponse {
        do {
            return try await exchange.perform(request, timeout: timeout ?? self.timeout)
        } catch {
            throw .unreachable(error.kind, reason: error.reason)
        }
    }
}

// MARK: Bodies

private struct LogInResponse: Decodable {
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

private struct RefreshResponse: Decodable {
    let accessToken: String

    enum CodingKeys: String, CodingKey {
        case accessToken = "access_token"
    }
}
