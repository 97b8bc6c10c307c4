import Query
import ServerAccounts
import ServerConfig
import ServerStore

/// The body of `PUT rules/access`: an absent rule allows everything.
struct RulesChange: Decodable {
    let read: String?
    let write: String?
}

extension AdminAPI {
    func rules(of app: AppID) throws(AccountRefusal) -> RulesReport {
        let configuration = try accounts.served(app).configuration
        let rules = configuration.access
        return RulesReport(
            app: app.rawValue,
            read: rules.read?.text,
            write: rules.write?.text,
            program: configuration.accessProgram?.hook.command.first
        )
    }

    /// Existing sessions bind again, under the new rules.
    func setRules(_ change: RulesChange, of app: AppID) async throws -> RulesReport {
        let served = try accounts.served(app)
        guard !served.isFromFile else {
            throw ServiceRefusal(
                .badRequest,
                "app \(app) is declared in the configuration file: change its rules there",
                status: 409
            )
        }
        guard served.configuration.flexible == nil else {
            throw ServiceRefusal(
                .badRequest,
                "app \(app) has flexible sync: its roles are in its declaration",
                status: 409
            )
        }
        let rules = AccessRules(
            read: try rule(change.read, "read"),
            write: try rule(change.write, "write")
        )
        try await accounts.store.write(.app(app)) { try $0.setRules(rules, of: app) }
        accounts.apps.setRules(rules, of: app)
        accounts.backplane.control(.app(app), .rebind)
        return try self.rules(of: app)
    }

    private func rule(_ text: String?, _ name: String) throws(ServiceRefusal) -> AccessRule? {
        guard let text else { return nil }
        do throws(QueryError) {
            return try AccessRule(text)
        } catch {
            throw ServiceRefusal(.badRequest, "the rule for \(name): \(error)")
        }
    }
}
