import Coordination
import LocalRealm
import Logging
import SQLite

/// Limits the growth of a realm file's write-ahead log, on a thread of its own.
struct PeriodicCheckpoints: Sendable {
    let path: String
    let environment: RealmEnvironment
    let label: String
    let time: SyncTime
    let logger: Logger
    /// Raised after work on the file. Without it there is little to do: programs checkpoint what they write.
    let activity: Signal

    private static let interval = Duration.seconds(5)
    /// For programs that do not checkpoint, and write what the agent does not take.
    private static let longestPause = Duration.seconds(60)

    /// Makes a checkpoint now and then until the task is cancelled.
    func run() async {
        let executor = environment.executor(label)
        let (path, vfs, logger) = (path, environment.vfs, logger)
        var isActive = true
        while (try? await time.sleep(Self.interval)) != nil {
            activity.lower()
            let hasMore = await executor.perform { [isActive] in
                do throws(LocalRealmError) {
                    guard isActive || Checkpointer.isLogLarge(of: path) else { return false }
                    return try Checkpointer(path: path, vfs: vfs).run()
                } catch {
                    logger.debug("checkpoint failed", metadata: ["detail": "\(error.message)"])
                    return true
                }
            }
            isActive = hasMore ? true : await activity.wait(atMost: Self.longestPause, time)
        }
    }
}
