import Logging
import RealmSync
import Scheduling

/// When the last refresh by schedule began, across restarts of the agent.
struct RefreshMemory: Sendable {
    let database: MetadataDatabase
    let realm: String

    /// Of a refresh that was carried out; nil if none was, or it cannot be read.
    func lastRefresh() async -> Instant? {
        let seconds = try? await database.lastRefresh(of: realm)
        return seconds.flatMap { Instant(plausible: $0) }
    }

    func keepRefresh(at instant: Instant, _ logger: Logger) async {
        do {
            try await database.keepRefresh(at: instant.secondsSince1970, of: realm)
        } catch {
            logger.error("the register cannot be written", metadata: ["detail": "\(error)"])
        }
    }
}
