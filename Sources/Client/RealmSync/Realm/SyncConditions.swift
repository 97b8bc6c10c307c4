/// The conditions that decide whether a realm may sync now.
struct SyncConditions {
    /// Decision of schedule, network and host.
    var permission = SyncPermission.run
    var suspension: Suspension?
    /// Number of callers that request a sync now, regardless of the permission.
    var urgentSyncs = 0
    /// The process is about to end, so no session may join a connection.
    var isFinishing = false

    /// The reason why a realm without errors does not sync.
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
        suspension.flatMap { $0.hasEnded(at: now) ? nil : $0 }
    }

    /// The present pause; nil if the realm may sync.
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
