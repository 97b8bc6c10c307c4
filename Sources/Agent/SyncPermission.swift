/// Whether a realm may sync, as schedule, network and host have it; somebody's suspension weighs more.
package enum SyncPermission: Equatable, Sendable {
    case run
    /// Until everything is up and down, then paused as between two refreshes.
    case once(reason: String)
    /// The detail says what the cause leaves open.
    case paused(PauseCause, detail: String?)
}

/// Why a realm does not sync although nothing is wrong with it (interfaces, 5).
package enum PauseCause: Equatable, Sendable {
    case scheduleWindow
    case refreshInterval
    case manualMode
    case poorNetwork
    case metered
    case lowBattery
    case deniedInterface
    case noNetwork
    /// Milliseconds since 1970; nil until somebody resumes it.
    case byUser(until: Int64?)
    case byPlugin(name: String, until: Int64?)
}
