/// Whether a realm may sync now, the cause if not, and how long that holds.
package struct ScheduleDecision: Hashable, Sendable {
    package var permission: Permission
    /// When to decide again unless conditions or history change before; nil for never.
    package var validUntil: Instant?
    /// The next time the realm may sync by its windows and instants; nil if that is now, or
    /// unknown.
    package var nextAllowed: Instant?
    /// The part of the offline limit that has passed, from 80 % on.
    package var offlineShare: Double?

    package enum Permission: Hashable, Sendable {
        case run
        /// Until everything is uploaded and downloaded.
        case once(Occasion)
        case paused(Pause)
    }

    package enum Occasion: String, Hashable, Sendable {
        /// An instant of the refresh has been reached.
        case refresh
        /// The offline limit is near.
        case offlineLimit = "offline-limit"
    }

    /// The causes of interfaces, 5, for which a realm may not sync.
    package enum Pause: String, CaseIterable, Hashable, Sendable {
        case manualMode = "manual-mode"
        case scheduleWindow = "schedule-window"
        case refreshInterval = "refresh-interval"
        case noNetwork = "no-network"
        case deniedInterface = "denied-interface"
        case metered
        case lowBattery = "low-battery"
        case poorNetwork = "poor-network"
    }
}
