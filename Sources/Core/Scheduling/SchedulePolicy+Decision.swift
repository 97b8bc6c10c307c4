extension SchedulePolicy {
    /// The one rule of when to sync: a function of the configuration, the clock, the conditions and
    /// the realm's sync history.
    package func decision(
        at now: Instant,
        _ conditions: Conditions,
        _ network: NetworkPolicy,
        _ history: SyncHistory
    ) -> ScheduleDecision {
        var decision = ordinaryDecision(at: now, conditions, network, history)
        guard case .paused(let pause) = decision.permission else { return decision }
        protect(&decision, pause, at: now, history)
        return decision
    }

    // MARK: Windows, instants and conditions

    private func ordinaryDecision(
        at now: Instant,
        _ conditions: Conditions,
        _ network: NetworkPolicy,
        _ history: SyncHistory
    ) -> ScheduleDecision {
        if mode == .manual { return ScheduleDecision(permission: .paused(.manualMode)) }
        var closes: Instant?
        if !windows.isEmpty {
            guard let opening = windows.opening(at: now, zone) else {
                let opens = windows.nextAllowed(after: now, zone)
                return ScheduleDecision(
                    permission: .paused(.scheduleWindow),
                    validUntil: opens,
                    nextAllowed: opens
                )
            }
            closes = opening.upperBound
        }
        if let pause = pause(under: conditions, network) {
            return ScheduleDecision(permission: .paused(pause), validUntil: closes)
        }
        guard case .refresh(let instants) = mode else {
            return ScheduleDecision(permission: .run, validUntil: closes)
        }
        let due = due(instants, at: now, history)
        guard due > now else {
            return ScheduleDecision(permission: .once(.refresh), validUntil: closes)
        }
        return ScheduleDecision(
            permission: .paused(.refreshInterval),
            validUntil: closes.map { min($0, due) } ?? due,
            nextAllowed: closes.map { due < $0 } ?? true ? due : nil
        )
    }

    /// The worst of the conditions that this realm pauses on.
    private func pause(
        under conditions: Conditions,
        _ network: NetworkPolicy
    ) -> ScheduleDecision.Pause? {
        if needsNetwork, !conditions.hasNetwork { return .noNetwork }
        if network.isDenied(conditions) { return .deniedInterface }
        if pausesOn.contains(.metered), network.isMetered(conditions) { return .metered }
        if pausesOn.contains(.lowBattery), network.isBatteryLow(conditions) { return .lowBattery }
        if pausesOn.contains(.poorNetwork), conditions.isNetworkPoor { return .poorNetwork }
        return nil
    }

    // MARK: Refresh

    /// When the next refresh is due; not after now if one has been missed, however many were.
    private func due(
        _ instants: CronExpression,
        at now: Instant,
        _ history: SyncHistory
    ) -> Instant {
        guard let done = history.lastRefresh else { return now }
        let next = instants.next(after: done, zone)
        return next.map { delayed($0, history) } ?? Instant(secondsSince1970: .max / 2)
    }

    /// The instant with its random delay, which is the same in every call.
    private func delayed(_ instant: Instant, _ history: SyncHistory) -> Instant {
        let range = UInt64(max(0, jitter.components.seconds)) + 1
        let mixed = Self.mix(history.seed ^ Self.mix(UInt64(bitPattern: instant.secondsSince1970)))
        return instant + .seconds(Int64(mixed % range))
    }

    /// SplitMix64's finisher: every bit of the input affects every bit of the output.
    private static func mix(_ value: UInt64) -> UInt64 {
        var mixed = value &+ 0x9e37_79b9_7f4a_7c15
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }

    // MARK: The offline limit

    /// From this fraction of the limit on, the agent warns and acts.
    private static let warningShare = 0.8

    /// The time between two such refreshes, if the first fails.
    private static let protectionInterval = Duration.seconds(3_600)

    private func protect(
        _ decision: inout ScheduleDecision,
        _ pause: ScheduleDecision.Pause,
        at now: Instant,
        _ history: SyncHistory
    ) {
        // A realm that the server does not know yet has nothing to lose there.
        guard let lastSynced = history.lastSynced, offlineLimit > .zero else { return }
        let share = (now - lastSynced) / offlineLimit
        let nears = lastSynced + offlineLimit * Self.warningShare + .seconds(1)
        guard share >= Self.warningShare else {
            decision.validUntil = decision.validUntil.map { min($0, nears) } ?? nears
            return
        }
        decision.offlineShare = share
        guard protectsOfflineLimit, pause.yieldsToOfflineLimit else { return }
        if let last = history.lastProtection, now - last < Self.protectionInterval {
            let again = last + Self.protectionInterval
            decision.validUntil = decision.validUntil.map { min($0, again) } ?? again
            return
        }
        decision.permission = .once(.offlineLimit)
    }
}

extension ScheduleDecision.Pause {
    /// Manual sync and a denied interface are deliberate; and without a network nothing helps.
    fileprivate var yieldsToOfflineLimit: Bool {
        switch self {
        case .manualMode, .deniedInterface, .noNetwork: false
        case .scheduleWindow, .refreshInterval, .metered, .lowBattery, .poorNetwork: true
        }
    }
}
