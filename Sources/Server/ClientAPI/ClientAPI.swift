package import Logging

/// Answers the calls of the client API (app services).
package struct ClientAPI: Sendable {
    private let accounts: Accounts
    private let publicURL: PublicURL?
    private let logger: Logger

    package init(accounts: Accounts, publicURL: PublicURL?, logger: Logger) {
        self.accounts = accounts
        self.publicURL = publicURL
        self.logger = logger
    }

    func answer(_ request: ServiceRequest) async -> ServiceAnswer {
        do {
            let route = try ClientRoute(
                method: request.method,
                path: request.path,
                query: request.query
            )
            return try await answer(request, route)
        } catch let refusal as ServiceRefusal {
            logger.debug(
                "request refused",
                metadata: [
                    "method": "\(request.method)", "path": "\(request.path)",
                    "status": "\(refusal.status)", "reason": "\(refusal.message)",
                ]
            )
            return ServiceAnswer(refusal)
        } catch let error as StoreError {
            logger.error("store failed", metadata: ["error": "\(error)"])
            return ServiceAnswer(.storage)
        } catch {
            logger.error(
                "request failed",
                metadata: ["path": "\(request.path)", "error": "\(error)"]
            )
            return ServiceAnswer(.unexpected)
        }
    }

    private func answer(
        _ request: ServiceRequest,
        _ route: ClientRoute
    ) async throws -> ServiceAnswer {
        switch route {
        case .location(let app):
            _ = try accounts.configuration(of: app)
            return ServiceAnswer(status: 200, body: try location(request).json())
        case .logIn(let app, let provider, let isLinking):
            guard !isLinking else {
                throw ServiceRefusal(.badRequest, "this server does not link accounts")
            }
            let answer = try await logIn(request, to: app, by: provider)
            return ServiceAnswer(status: 200, body: try answer.json())
        case .register(let app):
            let fields = try RequestFields(parsing: request.body)
            let credential = EmailPasswordCredential(
                name: try fields.require("email"),
                password: try fields.require("password")
            )
            try await accounts.register(credential, in: app)
            return ServiceAnswer(status: 201, body: Array("{}".utf8))
        case .useAccountToken(let app):
            try accounts.requireEmailPassword(app)
            throw ServiceRefusal(.userpassTokenInvalid, "invalid token data")
        case .requestConfirmation(let app):
            let fields = try RequestFields(parsing: request.body)
            throw try await accounts.refuseConfirmation(of: try fields.require("email"), in: app)
        case .requestReset(let app):
            try accounts.requireEmailPassword(app)
            throw ServiceRefusal(.badRequest, "password reset is not configured")
        case .profile(let app):
            let answer = try await accounts.profile(request.bearerToken, app: app)
            return ServiceAnswer(status: 200, body: try answer.json())
        case .refresh(let app):
            let answer = try await accounts.refresh(request.bearerToken, app: app)
            return ServiceAnswer(status: 201, body: try answer.json())
        case .logOut(let app):
            try await accounts.logOut(request.bearerToken, app: app)
            return ServiceAnswer(status: 204)
        case .apiKeys:
            throw ServiceRefusal.providerNotFound("api-key")
        case .callFunction(let app):
            _ = try accounts.configuration(of: app)
            throw ServiceRefusal(.functionNotFound, "function not found")
        case .registerPush(let service):
            throw ServiceRefusal(.serviceNotFound, "service not found: '\(service.prefix(64))'")
        case .sync(let app):
            _ = try accounts.configuration(of: app)
            throw ServiceRefusal(.badRequest, "the sync endpoint speaks WebSocket only")
        }
    }

    private func logIn(
        _ request: ServiceRequest,
        to app: AppID,
        by provider: String
    ) async throws -> LoginAnswer {
        // The provider is named by the path, whatever the body says (app services, 4.1).
        _ = try accounts.configuration(of: app)
        switch ProviderType(rawValue: provider) {
        case .anonymous:
            let fields = try RequestFields(parsing: request.body)
            return try await accounts.logInAnonymously(fields.device, to: app)
        case .emailPassword:
            let fields = try RequestFields(parsing: request.body)
            let credential = EmailPasswordCredential(
                name: try fields.require("username"),
                password: try fields.require("password")
            )
            return try await accounts.logIn(
                credential,
                from: request.address,
                fields.device,
                to: app
            )
        case nil:
            throw ServiceRefusal.providerNotFound(provider)
        }
    }

    /// From the configuration; without, as the client asked (app services, 3.2).
    private func location(_ request: ServiceRequest) -> LocationAnswer {
        let url = publicURL ?? request.host.flatMap { PublicURL("http://\($0)") }
        return LocationAnswer(hostname: url?.http ?? "", webSocketHostname: url?.webSocket ?? "")
    }
}
