import Logging
import ServerConfig
package import ServerMetrics
import ServerStore
import Surroundings

/// Removes expired records, so that they do not fill the store (app services, 14).
extension Accounts {
    private static let usersAtOnce = 500
    /// Time for a log-in in progress: its user exists before its session.
    private static let graceInMilliseconds: Int64 = 86_400_000

    /// Removes expired records every hour, until the task is cancelled.
    package func keepRemovingExpired(
        _ clock: any Clock<Duration>,
        _ meter: ServerMeter
    ) async {
        while (try? await clock.sleep(for: .seconds(3600))) != nil {
            await backplane.perform(.expiry, every: .seconds(3300), meter) {
                do {
                    try await removeExpired()
                } catch {
                    logger.error(
                        "expired log-ins could not be removed",
                        metadata: ["error": "\(error)"]
                    )
                }
            }
        }
    }

    /// Removes expired log-in sessions and account tokens, and anonymous users without a session:
    /// they cannot log in again.
    func removeExpired() async throws {
        let now = clock.millisecondsSince1970()
        for app in apps.all {
            // The lifetime of an access token from the session's last refresh.
            let longestUse = (app.configuration.tokens.access + TokenLifetimes.leeway) * 1000
            try await store.write(.accounts(app.id)) { transaction in
                try transaction.removeLoginSessions(of: app.id, expiredAt: now - longestUse)
                try transaction.removeAccountTokens(
                    of: app.id,
                    createdBefore: now - app.configuration.tokens.reset * 1000
                )
            }
            while true {
                let users = try await store.read { snapshot in
                    try snapshot.abandonedUsers(
                        of: app.id,
                        createdBefore: now - Self.graceInMilliseconds,
                        limit: Self.usersAtOnce
                    )
                }
                guard !users.isEmpty else { break }
                try await store.write(.accounts(app.id)) { transaction in
                    for user in users { try transaction.removeUser(user, of: app.id) }
                }
            }
        }
    }
}
