package import Logging
import NIOHTTP1
package import ServerAccounts
import SyncProtocol

/// Decides whether a request for the sync endpoint may become a WebSocket, and for whom
/// (wire protocol, 2).
package struct SyncGate: Sendable {
    let accounts: Accounts
    let logger: Logger

    package init(accounts: Accounts, logger: Logger) {
        self.accounts = accounts
        self.logger = logger
    }

    func decide(_ head: HTTPRequestHead) async -> UpgradeDecision {
        let path = head.uri.prefix { $0 != "?" }
        let query = head.uri.dropFirst(path.count + 1)
        guard
            case .sync(let app)? = try? ClientRoute(
                method: head.method.rawValue,
                path: String(path),
                query: ""
            )
        else { return .reject(UpgradeRejection(status: 404, text: "no such sync endpoint")) }
        do {
            let user = try await accounts.authorizeSync(token(head, query), app: app)
            let offers = head.headers["Sec-WebSocket-Protocol"]
            return .accept(user, try SubProtocol(choosingFrom: offers))
        } catch let error as SubProtocolError {
            return .reject(UpgradeRejection(status: 400, text: "\(error)"))
        } catch {
            if let refusal = ServiceRefusal(error) {
                return .reject(UpgradeRejection(status: refusal.status, text: refusal.message))
            }
            logger.error("store failed", metadata: ["error": "\(error)"])
            return .reject(
                UpgradeRejection(status: 503, text: "the store cannot be used now")
            )
        }
    }

    /// From the query; clients that can set headers may use one (wire protocol, 2.1). The query
    /// appears in no log.
    private func token(_ head: HTTPRequestHead, _ query: Substring) -> String? {
        let items = query.split(separator: "&")
        if let item = items.first(where: { $0.hasPrefix("baas_at=") }) {
            return String(item.dropFirst("baas_at=".count))
        }
        return head.headers.first(name: "Authorization").flatMap { BearerToken.parse($0) }
    }
}
