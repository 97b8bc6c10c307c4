/// Whether a realm may sync now, why not, and for how long that holds.
package struct ScheduleDecision: Hashable, Sendable {
    package var permission: Permission
    /// When to decide anew if neither conditions nor history change before; nil for never.
    package var validUntil: Instant?
    /// When the realm may sync next by its windows and instants; nil if that is now, or unknown.
    package var nextAllowed: Instant?
    /// What part of the offline limit has passed, from 80 % on.
    package var offlineShare: Double?

    package enum Permission: Hashable, Sendable {
        case run
        /// Until everything is up and down.
        case once(Occasion)
        case paused(Pause)
    }

    package enum Occasion: String, Hashable, Sendable {
        /// An instant of the refresh has come.
        case refresh
        /// The offline limit comes near.
        case offlineLimit = "offline-limit"
    }

    /// Why a realm may not sync; the words of interfaces, 5.
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
