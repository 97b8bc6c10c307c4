import Logging
import ServerConfig
package import ServerStore

extension Accounts {
    /// Adopts what another process has stored about an app: its state, its declaration, its rules,
    /// or that it is deleted. The configuration file keeps its precedence.
    package func follow(_ app: AppID) async {
        do {
            var record = try await store.read { try $0.app(app) }
            while true {
                try await adopt(record, app)
                // A newer one may have come, and been adopted before this one.
                let newest = try await store.read { try $0.app(app) }
                guard newest?.declaration != record?.declaration else { return }
                record = newest
            }
        } catch {
            logger.error(
                "an app that another process changed cannot be read",
                metadata: ["app": "\(app)", "error": "\(error)"]
            )
        }
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
