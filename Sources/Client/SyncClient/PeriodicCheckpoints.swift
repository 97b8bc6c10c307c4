import Coordination
import LocalRealm
import Logging
import SQLite

/// Limits the growth of a realm file's write-ahead log, on a thread of its own.
struct PeriodicCheckpoints: Sendable {
    let path: String
    let environment: RealmEnvironment
    let label: String
    let logger: Logger
    /// Raised after work on the file. Without it there is little to do: programs checkpoint what they write.
    let activity: Signal

    private static let interval = Duration.seconds(5)
    /// For programs that do not checkpoint, and write what the agent does not take.
    private static let longestPause = Duration.seconds(60)

    /// Makes a checkpoint now and then.
    var duty: Duty {
        let executor = environment.executor(label)
        return Duty(on: activity, after: Self.interval, isDueAtOnce: true) { [self] occasion in
            let hasMore = await executor.perform { look(occasion) }
            return hasMore ? .again : .within(Self.longestPause)
        }
    }

    /// Returns whether there is more to do.
    private func look(_ occasion: Duty.Occasion) -> Bool {
        do throws(LocalRealmError) {
            switch occasion {
            case .signal: guard Checkpointer.mayHaveWork(at: path) else { return false }
            case .beginning, .time: guard Checkpointer.isLogLarge(of: path) else { return false }
            }
            return try Checkpointer(path: path, vfs: environment.vfs).run()
        } catch {
            logger.debug("checkpoint failed", metadata: ["detail": "\(error.message)"])
            return true
        }
    }
}
