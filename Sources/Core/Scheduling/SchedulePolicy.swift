/// When a realm may sync, by its configuration (section `realms.NAME.schedule`).
package struct SchedulePolicy: Hashable, Sendable {
    package var mode: Mode
    /// The largest random delay of a refresh.
    package var jitter: Duration
    /// Empty if every hour is allowed.
    package var windows: [WeeklyWindow]
    package var zone: TimeZoneRules
    package var pausesOn: Set<PauseCondition>
    /// Whether one refresh is allowed when a pause comes near the server's offline limit.
    package var protectsOfflineLimit: Bool
    /// The time for which the server keeps history for an absent client.
    package var offlineLimit: Duration
    /// False for a server on this machine, which can be reached without any network.
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
        /// Connected at each instant until everything is uploaded and downloaded.
        case refresh(CronExpression)
        /// Syncs only when asked.
        case manual
    }

    /// A condition that pauses a realm if its configuration lists it.
    package enum PauseCondition: String, CaseIterable, Hashable, Sendable {
        case poorNetwork = "poor-network"
        case metered
        case lowBattery = "low-battery"
    }
}

/// The past syncs of a realm.
package struct SyncHistory: Hashable, Sendable {
    /// When the server last heard from it; nil if it never did.
    package var lastSynced: Instant?
    /// When the last completed refresh began; nil if there was none.
    package var lastRefresh: Instant?
    /// When the last refresh ended that the offline limit required.
    package var lastProtection: Instant?
    /// The seed that makes one realm's jitter differ from another's.
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
