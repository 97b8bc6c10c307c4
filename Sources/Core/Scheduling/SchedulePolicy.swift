/// When a realm may sync, as its configuration says (section `realms.NAME.schedule`).
package struct SchedulePolicy: Hashable, Sendable {
    package var mode: Mode
    /// By up to how much chance delays the instants of a refresh.
    package var jitter: Duration
    /// Empty where every hour is allowed.
    package var windows: [WeeklyWindow]
    package var zone: TimeZoneRules
    package var pausesOn: Set<PauseCondition>
    /// Whether one refresh is let through where a pause comes near the server's offline limit.
    package var protectsOfflineLimit: Bool
    /// How long the server keeps what a silent client has not seen.
    package var offlineLimit: Duration
    /// False for a server on this machine, which is there without any network.
    package var needsNetwork: Bool

    package init(
        mode: Mode = .continuous,
        jitter: Duration = .zero,
        windows: [WeeklyWindow] = [],
        zone: TimeZoneRules = .utc,
        pausesOn: Set<PauseCondition> = [],
        protectsOfflineLimit: Bool = true,
        offlineLimit: Duration = .seconds(30 * 86_400),
        needsNetwork: Bool = true
    ) {
        self.mode = mode
        self.jitter = jitter
        self.windows = windows
        self.zone = zone
        self.pausesOn = pausesOn
        self.protectsOfflineLimit = protectsOfflineLimit
        self.offlineLimit = offlineLimit
        self.needsNetwork = needsNetwork
    }

    package enum Mode: Hashable, Sendable {
        /// Connected whenever windows and conditions allow.
        case continuous
        /// Connected at each instant until everything is up and down.
        case refresh(CronExpression)
        /// Syncs only when asked.
        case manual
    }

    /// What makes a realm pause if its configuration lists it.
    package enum PauseCondition: String, CaseIterable, Hashable, Sendable {
        case poorNetwork = "poor-network"
        case metered
        case lowBattery = "low-battery"
    }
}

/// What a realm has behind it.
package struct SyncHistory: Hashable, Sendable {
    /// When the server last heard of it; nil if it never did.
    package var lastSynced: Instant?
    /// When the last refresh began that was carried out; nil if there was none.
    package var lastRefresh: Instant?
    /// When the last refresh ended that was let through for the sake of the offline limit.
    package var lastProtection: Instant?
    /// What makes one realm's jitter differ from another's.
    package var seed: UInt64

    package init(
        lastSynced: Instant? = nil,
        lastRefresh: Instant? = nil,
        lastProtection: Instant? = nil,
        seed: UInt64 = 0
    ) {
        self.lastSynced = lastSynced
        self.lastRefresh = lastRefresh
        self.lastProtection = lastProtection
        self.seed = seed
    }
}
