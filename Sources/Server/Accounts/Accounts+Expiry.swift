import Logging

/// What time makes useless, so that the store does not grow with it for ever (app services, 14).
extension Accounts {
    private static let usersAtOnce = 500
    /// Time for a log-in that is under way: its user is there before its session.
    private static let graceInMilliseconds: Int64 = 86_400_000

    /// Looks every hour, until the task is cancelled.
    func keepRemovingExpired(_ timing: ServerTiming) async {
        while (try? await timing.clock.sleep(for: .seconds(3600))) != nil {
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

    /// Removes log-ins and account tokens whose time is over, and anonymous users whose last log-in went:
    /// nothing leads to them any more.
    func removeExpired() async throws {
        let now = clock.millisecondsSince1970()
        for app in apps.all {
            // As long as an access token may live that its last refresh has brought.
            let late = (app.configuration.tokens.access + TokenLifetimes.leeway) * 1000
            try await store.write { transaction in
                try transaction.removeLoginSessions(of: app.id, expiredAt: now - late)
                try transaction.removeAccountTokens(
                    of: app.id,
                    createdBefore: now - AccountToken.lifetimeInMilliseconds
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
                try await store.write { transaction in
                    for user in users { try transaction.removeUser(user, of: app.id) }
                }
            }
        }
    }
}
