import Logging
import Permissions
import ServerAccounts
import ServerStore
import SyncServer
import Synchronization

/// The served apps with their programs (sinks, and those that decide on access), each made once for each change: only then its roles are compiled.
final class ServedSyncApps: SyncApps {
    private struct Made {
        let change: UInt64
        let app: SyncApp
    }

    private let apps: AppDirectory
    private let sinks: AppSinks?
    private let gates: AppGates?
    private let logger: Logger
    private let made = Mutex<[AppID: Made]>([:])
    /// The mistakes that are in the log.
    private let reported = Mutex<Set<Report>>([])

    private struct Report: Hashable {
        let app: AppID
        let problem: RoleProblem
    }

    init(
        _ apps: AppDirectory,
        sinks: AppSinks? = nil,
        gates: AppGates? = nil,
        logger: Logger
    ) {
        self.apps = apps
        self.sinks = sinks
        self.gates = gates
        self.logger = logger
    }

    func syncApp(_ id: AppID) -> SyncApp? {
        guard let (served, change) = apps.app(id) else {
            made.withLock { $0[id] = nil }
            return nil
        }
        if let known = made.withLock({ $0[id] }), known.change == change { return known.app }
        let app = SyncApp(served, sinks, gates) { [weak self] problems in
            for problem in problems { self?.report(problem, of: id) }
        }
        made.withLock { $0[id] = Made(change: change, app: app) }
        return app
    }

    var syncApps: [SyncApp] {
        apps.all.compactMap { syncApp($0.id) }
    }

    /// A role that fits the classes of the configuration may not fit one that a client adds.
    private func report(_ problem: RoleProblem, of app: AppID) {
        let isNew = reported.withLock {
            $0.insert(Report(app: app, problem: problem)).inserted
        }
        guard isNew else { return }
        logger.warning(
            "a role cannot be evaluated and allows nothing",
            metadata: [
                "app": "\(app)",
                "class": "\(problem.className)",
                "role": "\(problem.role)",
                "key": "\(problem.mistake.key.rawValue)",
                "reason": "\(problem.mistake.cause)",
            ]
        )
    }
}
