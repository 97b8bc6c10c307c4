import Digests
import FoundationEssentials
import JSON
package import Logging
package import ServerAccounts
import ServerConfig
package import ServerMetrics
import ServerStore
package import SyncServer

/// Serves the calls of the client API (app services).
package struct ClientAPI: Sendable {
    private let accounts: Accounts
    private let sync: SyncService
    private let publicAddress: PublicAddress
    private let isSecure: Bool
    let meter: ServerMeter
    private let logger: Logger

    /// `isSecure`: clients connect over TLS.
    package init(
        accounts: Accounts,
        sync: SyncService,
        publicAddress: PublicAddress = PublicAddress(nil),
        isSecure: Bool = false,
        meter: ServerMeter = ServerMeter(),
        logger: Logger
    ) {
        self.accounts = accounts
        self.sync = sync
        self.publicAddress = publicAddress
        self.isSecure = isSecure
        self.meter = meter
        self.logger = logger
    }

    func respond(to request: ClientAPIRequest) async -> ClientAPIResponse {
        var route: ClientRoute?
        do {
            let found = try ClientRoute(
                method: request.method,
                path: request.path,
                query: request.query
            )
            route = found
            let response = try await respond(to: request, found)
            meter.note(response, to: found)
            return response
        } catch {
            let refusal = ServiceRefusal(error)
            let response =
                refusal.map { ClientAPIResponse($0) }
                ?? ClientAPIResponse(failure: error, of: request, logger: logger)
            meter.note(response, to: route, refusal: refusal)
            guard let refusal else { return response }
            logger.debug(
                "request refused",
                metadata: [
                    "method": "\(request.method)", "path": "\(request.path)",
                    "status": "\(refusal.status)", "reason": "\(refusal.message)",
                ]
            )
            return response
        }
    }

    private func respond(
        to request: ClientAPIRequest,
        _ route: ClientRoute
    ) async throws -> ClientAPIResponse {
        switch route {
        case .health:
            return ClientAPIResponse(status: 200, body: Array("{\"status\":\"ok\"}".utf8))
        case .ready:
            // Clients do not learn the reason; the admin API's `health` has it.
            guard accounts.backplane.obstacle == nil else { throw ServiceRefusal.storage }
            return ClientAPIResponse(status: 200, body: Array("{\"status\":\"ready\"}".utf8))
        case .location(let app):
            _ = try accounts.configuration(of: app)
            return ClientAPIResponse(status: 200, body: try location(request).json())
        case .logIn(let app, let provider, let isLinking):
            let tokens = try await logIn(request, to: app, by: provider, isLinking: isLinking)
            return ClientAPIResponse(status: 200, body: try LoginResponse(tokens).json())
        case .register(let app):
            let fields = try RequestFields(parsing: request.body)
            let credential = EmailPasswordCredential(
                name: try fields.require("email"),
                password: try fields.require("password")
            )
            try await accounts.register(credential, from: request.address, in: app)
            return .empty(201)
        case .confirm(let app):
            let fields = try RequestFields(parsing: request.body)
            try await accounts.confirm(
                try fields.require("tokenId"),
                try fields.require("token"),
                from: request.address,
                in: app
            )
            return .empty(200)
        case .resetPassword(let app):
            let fields = try RequestFields(parsing: request.body)
            try await accounts.reset(
                try fields.require("tokenId"),
                try fields.require("token"),
                to: try fields.require("password"),
                from: request.address,
                in: app
            )
            return .empty(200)
        case .requestConfirmation(let app, let byCall):
            let email = try RequestFields(parsing: request.body).require("email")
            try await accounts.sendConfirmation(
                of: email,
                byCall: byCall,
                from: request.address,
                in: app
            )
            return .empty(202)
        case .requestReset(let app, let byCall):
            let fields = try RequestFields(parsing: request.body)
            if byCall {
                let call = try fields.resetCall(in: request.body)
                try await accounts.callReset(call, from: request.address, in: app)
            } else {
                try await accounts.sendReset(
                    of: try fields.require("email"),
                    from: request.address,
                    in: app
                )
            }
            return .empty(202)
        case .profile(let app):
            let (user, app) = try await accounts.profile(request.bearerToken, app: app)
            return ClientAPIResponse(status: 200, body: try ProfileResponse(user, of: app).json())
        case .refresh(let app):
            let token = try await accounts.refresh(request.bearerToken, app: app)
            let response = RefreshResponse(accessToken: token)
            return ClientAPIResponse(status: 201, body: try response.json())
        case .logOut(let app):
            try await accounts.logOut(request.bearerToken, app: app)
            return ClientAPIResponse(status: 204)
        case .deleteUser(let app):
            try await accounts.deleteUser(request.bearerToken, app: app)
            return ClientAPIResponse(status: 204)
        case .listKeys, .createKey, .key, .removeKey, .setKey:
            return try await respondAboutKeys(to: request, route)
        case .callFunction(let app):
            _ = try accounts.configuration(of: app)
            // Streams cannot send headers (app services, 9).
            let token = request.method == "GET" ? request.item("baas_at") : request.bearerToken
            _ = try await accounts.authenticate(token, is: .access, app: app)
            throw ServiceRefusal(.functionNotFound, "function not found")
        case .compare(let app):
            let user = try await accounts.authorizeComparison(request.bearerToken, app: app)
            guard let body = try? JSONDecoder().decode(DigestRequest.self, from: Data(request.body))
            else { throw ServiceRefusal.notJSON }
            let response = try await sync.digests(body, for: user)
            return ClientAPIResponse(status: 200, body: try response.json())
        case .registerPush(let service):
            throw ServiceRefusal(.serviceNotFound, "service not found: '\(service.prefix(64))'")
        case .sync(let app):
            _ = try accounts.configuration(of: app)
            throw ServiceRefusal(.badRequest, "the sync endpoint supports only WebSocket")
        }
    }

    private func logIn(
        _ request: ClientAPIRequest,
        to app: AppID,
        by provider: String,
        isLinking: Bool
    ) async throws -> IssuedTokens {
        // The path names the provider; the body's is ignored (app services, 4.1).
        guard let type = ProviderType(rawValue: provider),
            try accounts.configuration(of: app).providers.contains(type)
        else { throw ServiceRefusal.providerNotFound(provider) }
        let fields = try RequestFields(parsing: request.body)
        let credential = try fields.credential(for: type, in: request.body)
        guard !isLinking else {
            return try await accounts.link(
                credential,
                from: request.address,
                to: request.bearerToken,
                of: app
            )
        }
        return try await accounts.logIn(
            credential,
            from: request.address,
            fields.device,
            to: app
        )
    }

    private func respondAboutKeys(
        to request: ClientAPIRequest,
        _ route: ClientRoute
    ) async throws -> ClientAPIResponse {
        let token = request.bearerToken
        switch route {
        case .createKey(let app):
            let name = try RequestFields(parsing: request.body).require("name")
            let (key, secret) = try await accounts.createKey(named: name, by: token, app: app)
            return ClientAPIResponse(status: 201, body: try KeyResponse(key, secret).json())
        case .listKeys(let app):
            let keys = try await accounts.keys(of: token, app: app)
            return ClientAPIResponse(status: 200, body: try keys.map { KeyResponse($0) }.json())
        case .key(let app, let id):
            let key = try await accounts.key(id, of: token, app: app)
            return ClientAPIResponse(status: 200, body: try KeyResponse(key).json())
        case .removeKey(let app, let id):
            try await accounts.removeKey(id, of: token, app: app)
            return ClientAPIResponse(status: 204)
        case .setKey(let app, let id, let isDisabled):
            try await accounts.setKey(id, disabled: isDisabled, of: token, app: app)
            return ClientAPIResponse(status: 204)
        default:
            throw ServiceRefusal.routeNotFound
        }
    }

    /// The configured address, else the one that the client used (app services, 3.2).
    private func location(_ request: ClientAPIRequest) -> LocationResponse {
        let scheme = isSecure ? "https" : "http"
        let url = publicAddress.url ?? request.host.flatMap { PublicURL("\(scheme)://\($0)") }
        return LocationResponse(hostname: url?.http ?? "", webSocketHostname: url?.webSocket ?? "")
    }
}
