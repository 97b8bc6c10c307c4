import Coordination
import Logging
import ServerConfig
package import ServerStore

extension Accounts {
    /// Adopts what another process has stored about an app: its state, its declaration, its rules,
    /// or that it is deleted. The configuration file keeps its precedence.
    ///
    /// - Returns: the state of the app's sync afterwards; nil if the app is not served.
    @discardableResult
    package func follow(_ app: AppID) async -> SyncState? {
        do {
            // One after the other, so that the last one to adopt has read last.
            try await changes.take {
                try await adopt(try await store.read { try $0.app(app) }, app)
            }
        } catch {
            logger.error(
                "an app that another process changed cannot be read",
                metadata: ["app": "\(app)", "error": "\(error)"]
            )
        }
        return apps[app]?.syncState
    }

    private func adopt(_ record: AppRecord?, _ app: AppID) async throws {
        let isFromFile = apps[app]?.isFromFile
        guard let record, isFromFile == true || record.declaration != nil else {
            guard isFromFile == false else { return }
            apps.remove(app)
            return await forgetKeys(of: app)
        }
        if isFromFile != true, let declaration = record.declaration {
            let configuration = try ServedAppConfiguration(id: app, declaration: declaration)
            try await serve(configuration, declaration: declaration)
        }
        apps.setSyncState(record.syncState, of: app)
    }
}
