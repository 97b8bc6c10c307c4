import AppServices
package import Config
package import Control
import LocalRealm
import Platform
import SQLite

/// Copies a realm file where no agent runs, or one that is no realm of the configuration.
package struct RealmCopier: Sendable {
    private let configuration: AgentConfiguration

    package init(_ configuration: AgentConfiguration) {
        self.configuration = configuration
    }

    /// - Parameter source: the name of a realm, or the path of a file.
    package func copy(
        _ source: String,
        _ request: CopyRequest
    ) async throws(ControlError) -> CopyReport {
        let realm = configuration.realms.first { $0.name == source }
        guard realm != nil || source.contains("/") else { throw .unknownRealm(source) }
        let metadata = DataDirectory(path: configuration.daemon.dataDirectory).metadata
        let order = CopyOrder(
            request: request,
            realm: realm,
            users: configuration.users,
            userID: { user in
                try? MetadataDatabase.account(
                    of: user.name,
                    appID: user.app.appID,
                    inFile: metadata
                )?.userID
            }
        )
        let copy = RealmCopy(try await order.form(), now: WallTime.now().millisecondsSince1970)
        do throws(LocalRealmError) {
            let report = try await copy.makeOnThread(
                from: realm?.path ?? source,
                to: request.path
            )
            return CopyReport(report, source: source, path: request.path)
        } catch {
            throw ControlError(error)
        }
    }
}
