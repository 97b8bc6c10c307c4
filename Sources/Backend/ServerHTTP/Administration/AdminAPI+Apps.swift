import ServerAccounts
import ServerConfig
import ServerStore

/// The body of `POST /admin/v1/apps`.
struct AppCreation: Decodable {
    let id: String
    /// JSON of the form of `apps.APP` in the configuration file, as text.
    let configuration: String
}

struct AppUpdate: Decodable {
    /// As of `AppCreation`.
    let configuration: String
}

extension AppReport {
    init(_ app: ServedApp) {
        self.init(
            id: app.id.rawValue,
            origin: app.isFromFile ? "file" : "store",
            syncState: app.syncState,
            developmentMode: app.configuration.isDevelopmentMode,
            clientRecovery: app.configuration.allowsClientRecovery,
            providers: app.configuration.providers.map(\.rawValue)
        )
    }
}

extension AdminAPI {
    func createApp(_ creation: AppCreation) async throws -> AppReport {
        guard let id = AppID(creation.id) else {
            throw ServiceRefusal(
                .badRequest,
                "\"\(creation.id)\" cannot be an app id; use letters, digits, \"_\" and \"-\" only"
            )
        }
        guard accounts.apps[id] == nil else {
            throw ServiceRefusal(.accountNameInUse, "app \(id) already exists")
        }
        let app: ServedAppConfiguration
        do throws(BadDeclaration) {
            app = try ServedAppConfiguration(id: id, declaration: creation.configuration)
        } catch {
            throw ServiceRefusal(.badRequest, error.description)
        }
        try await accounts.declare(app, as: creation.configuration)
        accounts.backplane.changed(id)
        guard let served = accounts.apps[id] else { throw ServiceRefusal.appNotFound }
        return AppReport(served)
    }

    /// Replaces the declaration of an app of the store. Sessions that it concerns bind again, under the
    /// new settings.
    func updateApp(_ id: AppID, _ update: AppUpdate) async throws -> AppReport {
        guard try !accounts.served(id).isFromFile else {
            throw ServiceRefusal(
                .badRequest,
                "app \(id) is declared in the configuration file: change it there, and reload",
                status: 409
            )
        }
        let app: ServedAppConfiguration
        do throws(BadDeclaration) {
            app = try ServedAppConfiguration(id: id, declaration: update.configuration)
        } catch {
            throw ServiceRefusal(.badRequest, error.description)
        }
        try await accounts.declare(app, as: update.configuration)
        accounts.backplane.control(.app(id), .rebind)
        return AppReport(try accounts.served(id))
    }

    /// Deletes the app with its users and all their synced data.
    func deleteApp(_ app: AppID) async throws {
        let served = try accounts.served(app)
        guard !served.isFromFile else {
            throw ServiceRefusal(
                .badRequest,
                "app \(app) is declared in the configuration file: remove it there, and restart",
                status: 409
            )
        }
        accounts.apps.remove(app)
        accounts.backplane.control(.app(app), .pause)
        do {
            try await accounts.store.write(.app(app)) { try $0.removeApp(app) }
        } catch {
            accounts.apps.put(served)
            throw error
        }
        // Other processes served it until now.
        accounts.backplane.control(.app(app), .pause)
        await accounts.forgetKeys(of: app)
    }
}
