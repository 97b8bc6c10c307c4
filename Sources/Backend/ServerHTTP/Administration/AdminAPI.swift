package import Logging
package import ServerAccounts
import ServerStore
package import SyncServer

/// Serves an operator's calls on the admin socket (app services, 12).
///
/// Every call that changes state is in the log, and one that cannot be undone needs the app's name
/// again.
package struct AdminAPI: Sendable {
    let accounts: Accounts
    let sync: SyncService
    private let monitoring: Monitoring
    private let reload: (@Sendable () async throws -> ServerReloadReport)?
    private let logger: Logger
    private let audit: AdminAudit

    /// `reload` applies the changed configuration; nil if this server has none. `audit` records
    /// every call that changes state, at every log level.
    package init(
        accounts: Accounts,
        sync: SyncService,
        monitoring: Monitoring = Monitoring(),
        reload: (@Sendable () async throws -> ServerReloadReport)? = nil,
        logger: Logger,
        audit: Logger? = nil
    ) {
        self.accounts = accounts
        self.sync = sync
        self.monitoring = monitoring
        self.reload = reload
        self.logger = logger
        self.audit = AdminAudit(logger: audit ?? logger)
    }

    /// `caller`: nil if the kernel does not identify it.
    func respond(to request: ClientAPIRequest, by caller: AdminCaller? = nil) async
        -> ClientAPIResponse
    {
        let route = Result { () throws(ServiceRefusal) in
            try AdminRoute(method: request.method, path: request.path)
        }
        let response = await attempt(request, route)
        let changesNothing = (try? route.get())?.changesNothing ?? false
        if request.method != "GET", !changesNothing { audit.record(request, by: caller, response) }
        return response
    }

    private func attempt(
        _ request: ClientAPIRequest,
        _ route: Result<AdminRoute, ServiceRefusal>
    ) async -> ClientAPIResponse {
        do {
            return try await respond(to: request, try route.get())
        } catch {
            return ServiceRefusal(error).map { ClientAPIResponse($0) }
                ?? ClientAPIResponse(failure: error, of: request, logger: logger)
        }
    }

    private func respond(
        to request: ClientAPIRequest,
        _ route: AdminRoute
    ) async throws -> ClientAPIResponse {
        switch route {
        case .health:
            return try ok(HealthReport(await monitoring.obstacles()))
        case .metrics:
            return await monitoring.metricsResponse
        case .reload:
            return try ok(try await reloadConfiguration())
        case .listApps:
            return try ok(accounts.apps.all.map(AppReport.init))
        case .createApp:
            let app = try await createApp(try body(request, AppCreation.self))
            return try ok(app, status: 201)
        case .updateApp(let app):
            return try ok(try await updateApp(app, try body(request, AppUpdate.self)))
        case .deleteApp(let app):
            try confirm(app, request)
            try await deleteApp(app)
            return ClientAPIResponse(status: 204)
        case .listUsers(let app):
            return try ok(try await users(of: app, after: request.item("after")))
        case .createUser(let app):
            let creation = try body(request, UserCreation.self)
            let credential = EmailPasswordCredential(
                name: creation.email,
                password: creation.password
            )
            let account = try await accounts.register(credential, in: app)
            return try ok(
                AccountReport(email: creation.email, identityId: account.identityID),
                status: 201
            )
        case .deleteUser(let app, let user):
            try confirm(app, request)
            try await removeUser(user, of: app)
            return ClientAPIResponse(status: 204)
        case .setDisabled(let isDisabled, let app, let user):
            try await setDisabled(isDisabled, user, of: app)
            return ClientAPIResponse(status: 204)
        case .revokeSessions(let app, let user):
            try await revokeSessions(of: user, of: app)
            return ClientAPIResponse(status: 204)
        case .listPending(let app):
            let pending = try await accounts.pendingTokens(of: app)
            return try ok(pending.map(PendingReport.init))
        case .confirmAccount(let app):
            try await accounts.confirm(try body(request, Confirmation.self).email, in: app)
            return ClientAPIResponse(status: 204)
        case .listKeys(let app):
            return try ok(try await keys(of: app))
        case .createKey(let app):
            let creation = try body(request, KeyCreation.self)
            let owner = creation.user.map { UserID($0) }
            return try ok(
                try await createKey(named: creation.name, for: owner, of: app),
                status: 201
            )
        case .setKeyDisabled(let isDisabled, let app, let id):
            try await setKeyDisabled(isDisabled, id, of: app)
            return ClientAPIResponse(status: 204)
        case .removeKey(let app, let id):
            try await removeKey(id, of: app)
            return ClientAPIResponse(status: 204)
        case .sync(let app):
            return try ok(try await syncReport(of: app))
        case .setSync(let app):
            let change = try body(request, SyncChange.self)
            try await setSyncState(change.state, of: app)
            return try ok(try await syncReport(of: app))
        case .terminateSync(let app):
            try confirm(app, request)
            try await terminateSync(of: app)
            return try ok(try await syncReport(of: app))
        case .migrateSync(let app):
            try confirm(app, request)
            let migration = try body(request, SyncMigration.self)
            return try ok(try await migrateSync(of: app, migration.action))
        case .noteGrowth(let app):
            try await noteGrowth(try body(request, GrowthReport.self), of: app)
            return ClientAPIResponse(status: 204)
        case .rules(let app):
            return try ok(try rules(of: app))
        case .setRules(let app):
            return try ok(try await setRules(try body(request, RulesChange.self), of: app))
        case .listRealms(let app):
            return try ok(try await realms(of: app))
        case .inspectRealm(let app):
            let inspection = try body(request, Inspection.self)
            return try ok(try await inspect(inspection.partition, of: app))
        case .resetClient(let app):
            try confirm(app, request)
            let reset = try body(request, ClientReset.self)
            try await resetClient(reset.client, in: reset.partition, of: app)
            return ClientAPIResponse(status: 204)
        }
    }
}

// MARK: Reload

extension AdminAPI {
    private func reloadConfiguration() async throws -> ServerReloadReport {
        guard let reload else {
            throw ServiceRefusal(.badRequest, "this server has no configuration file", status: 409)
        }
        do {
            return try await reload()
        } catch let refused as ReloadRefused {
            throw ServiceRefusal(.badRequest, refused.description)
        }
    }
}

// MARK: Requests and answers

extension AdminAPI {
    private struct UserCreation: Decodable {
        let email: String
        let password: String
    }

    private struct Confirmation: Decodable {
        let email: String
    }

    private struct KeyCreation: Decodable {
        let name: String
        /// Without one the key has a user of its own.
        let user: String?
    }

    private struct SyncChange: Decodable {
        let state: SyncState
    }

    private struct ClientReset: Decodable {
        /// Extended JSON.
        let partition: String
        /// The ident of the client file.
        let client: UInt64
    }

    private struct Inspection: Decodable {
        /// Extended JSON.
        let partition: String
    }

    private func body<Body: Decodable>(
        _ request: ClientAPIRequest,
        _ type: Body.Type
    ) throws(ServiceRefusal) -> Body {
        do {
            return try AdminJSON.decode(type, from: request.body)
        } catch {
            throw ServiceRefusal(.badRequest, "the body does not fit this call: \(error)")
        }
    }

    private func confirm(_ app: AppID, _ request: ClientAPIRequest) throws(ServiceRefusal) {
        guard request.item("confirm") == app.rawValue else {
            throw ServiceRefusal(
                .missingParameter,
                "this cannot be undone: repeat the app id in the parameter \"confirm\""
            )
        }
    }

    private func ok(_ value: some Encodable, status: Int = 200) throws -> ClientAPIResponse {
        ClientAPIResponse(status: status, body: try AdminJSON.encode(value))
    }
}
