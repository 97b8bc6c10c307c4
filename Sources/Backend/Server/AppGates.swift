import JSON
import Logging
import Scopes
import ServerAccounts
import ServerConfig
import ServerStore
import SyncServer
import Synchronization

/// The programs that decide on access, of the apps that have one (moving an app, 13, N2).
///
/// As a participant of the backplane it forgets decisions when rules or users change, in any process.
final class AppGates: Sendable {
    private let programs = Mutex<[AppID: AccessProgram]>([:])
    private let started: AsyncStream<AccessProgram>
    private let starting: AsyncStream<AccessProgram>.Continuation
    private let clock: any Clock<Duration>
    private let logger: Logger

    init(clock: any Clock<Duration>, logger: Logger) {
        self.clock = clock
        self.logger = logger
        (self.started, self.starting) = AsyncStream.makeStream()
    }

    /// The gate of an app; nil if its rules decide. A changed program begins without decisions.
    func gate(of app: ServedApp) -> (any PartitionGate)? {
        guard let configuration = app.configuration.accessProgram else { return nil }
        return programs.withLock { programs in
            if let known = programs[app.id], known.configuration == configuration {
                return ProgramGate(program: known)
            }
            let program = AccessProgram(configuration, of: app.id, clock: clock, logger: logger)
            programs[app.id] = program
            starting.yield(program)
            return ProgramGate(program: program)
        }
    }

    /// Forgets all decisions, so that a reload asks again.
    func forget() {
        for program in programs.withLock({ Array($0.values) }) { program.noteChange(of: nil) }
    }

    /// Asks the programs until the task is cancelled. Called once.
    func run() async {
        await withDiscardingTaskGroup { group in
            for await program in started {
                group.addTask { await program.serve() }
            }
            group.cancelAll()
        }
    }
}

extension AppGates: BackplaneParticipant {
    /// Sessions that bind again ask again; they hear of it after this.
    func receive(_ message: BackplaneMessage) {
        switch message {
        case .control(.app(let app), _), .changed(let app):
            programs.withLock { $0[app] }?.noteChange(of: nil)
        case .control(.user(let user, let app), _):
            programs.withLock { $0[app] }?.noteChange(of: user)
        case .control, .growth, .takeover: break
        }
    }

    func counts(of app: AppID) -> ConnectionCounts { ConnectionCounts() }

    var presence: ConnectionPresence { ConnectionPresence(counts: [:]) }
}

/// One app's program, as sync asks it.
private struct ProgramGate: PartitionGate {
    let program: AccessProgram

    func access(
        of user: UserID,
        to partition: Partition,
        _ subject: @escaping @Sendable () async throws -> (user: User, customData: JSONValue?)?
    ) async throws -> PartitionAccess {
        do {
            return try await program.access(of: user, to: partition) {
                let found = try await subject()
                return found.map { AccessProgram.Subject($0.user, customData: $0.customData) }
            }
        } catch let undecided as AccessProgram.Undecided {
            throw AccessUndecided("\(undecided)")
        }
    }
}
