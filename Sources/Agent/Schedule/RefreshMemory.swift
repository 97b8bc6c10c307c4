import Logging
import RealmSync
import Scheduling

/// The start of the last scheduled refresh, kept across restarts of the agent.
struct RefreshMemory: Sendable {
    let database: MetadataDatabase
    let realm: String

    /// Start of the last completed refresh; nil if there was none, or it cannot be read.
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
