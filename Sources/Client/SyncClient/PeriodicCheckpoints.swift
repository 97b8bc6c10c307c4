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

    private static let interval = Duration.seconds(5)

    /// Makes a checkpoint now and then until the task is cancelled.
    func run() async {
        let executor = environment.executor(label)
        let (path, vfs, logger) = (path, environment.vfs, logger)
        while (try? await time.sleep(Self.interval)) != nil {
            await executor.perform {
                do throws(LocalRealmError) {
                    try Checkpointer(path: path, vfs: vfs).run()
                } catch {
                    logger.debug("checkpoint failed", metadata: ["detail": "\(error.message)"])
                }
            }
        }
    }
}
