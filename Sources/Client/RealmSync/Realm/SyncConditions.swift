/// Everything that decides whether a realm may sync at a moment.
struct SyncGate {
    /// What schedule, network and host allow.
    var permission = SyncPermission.run
    var suspension: Suspension?
    /// How many callers want a sync now, whatever the permission says.
    var urgentSyncs = 0
    /// The process is about to end: no session joins a connection any more.
    var isFinishing = false

    /// Why the realm does not sync although nothing is wrong with it.
    struct Pause: Equatable {
        let cause: RealmCause
        let detail: String?
        let isSuspension: Bool
    }

    /// Whether a session may join its connection.
    ///
    /// - Parameter now: milliseconds since 1970.
    func isOpen(at now: Int64, duringReset: Bool) -> Bool {
        guard suspension(at: now) == nil, !duringReset, !isFinishing else { return false }
        guard urgentSyncs == 0 else { return true }
        switch permission {
        case .run, .once: return true
        case .paused: return false
        }
    }

    func suspension(at now: Int64) -> Suspension? {
        suspension.flatMap { $0.isOver(at: now) ? nil : $0 }
    }

    /// Nil if the realm may sync.
    func pause(at now: Int64, duringReset: Bool) -> Pause? {
        if let suspension = suspension(at: now) {
            return Pause(
                cause: suspension.cause,
                detail: suspension.detail,
                isSuspension: true
            )
        }
        guard !isOpen(at: now, duringReset: duringReset),
            case .paused(let cause, let detail) = permission
        else { return nil }
        return Pause(cause: cause, detail: detail, isSuspension: false)
    }
}
