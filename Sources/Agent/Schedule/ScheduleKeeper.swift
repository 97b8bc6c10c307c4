import Config
import Control
import Coordination
import Logging
import Platform
import RealmSync
import Scheduling
import SyncClient

/// Applies one realm's schedule: computes the present decision, passes it to the engine, and waits.
actor ScheduleKeeper {
    private let realm: SyncedRealm
    private let memory: RefreshMemory
    private let time: SyncTime
    private let now: @Sendable () -> Instant
    private let conditions: @Sendable () -> Conditions
    private let link: NetworkQualityMonitor
    private let logger: Logger
    private var policy: SchedulePolicy
    private var network: NetworkPolicy
    private var history: SyncHistory
    private var ongoing: (occasion: ScheduleDecision.Occasion, start: Instant)?
    private var decision: ScheduleDecision?
    /// The interface of the last round.
    private var interface: String?
    private var hadNetwork = true
    /// The network has come, or has become another one, and nothing has been tried over it yet.
    private var isNetworkNew = false

    /// At least this often the history is looked at, and with it the offline limit.
    private static let longestPause = Duration.seconds(60)

    init(
        _ realm: SyncedRealm,
        _ policy: SchedulePolicy,
        memory: RefreshMemory,
        network: NetworkPolicy,
        time: SyncTime,
        now: @escaping @Sendable () -> Instant,
        conditions: @escaping @Sendable () -> Conditions,
        link: NetworkQualityMonitor = NetworkQualityMonitor(),
        seed: UInt64,
        logger: Logger
    ) {
        self.realm = realm
        self.policy = policy
        self.memory = memory
        self.network = network
        self.time = time
        self.now = now
        self.conditions = conditions
        self.link = link
        self.history = SyncHistory(seed: seed)
        var logger = logger
        logger[metadataKey: "realm"] = "\(realm.name)"
        self.logger = logger
    }

    /// Makes the first decision, before the realm starts.
    func begin() async {
        await inTaskOfItsOwn { await self.decideFirst() }
    }

    private func decideFirst() async {
        // For a realm without an earlier scheduled refresh, the last connection counts as one.
        if let last = await memory.lastRefresh() {
            history.lastRefresh = last
        } else {
            history.lastRefresh = await lastConnected()
        }
        let conditions = conditions()
        (interface, hadNetwork) = (conditions.interface, conditions.hasNetwork)
        link.tell(realm.scheduleAttention, realm: name)
        await apply()
    }

    /// The realm is gone; no measurement is needed for it any more.
    func end() {
        link.forget(realm: name)
    }

    private nonisolated var name: String { realm.name }

    /// Runs until the task is cancelled.
    func run() async {
        while !Task.isCancelled {
            _ = await realm.scheduleAttention.wait(atMost: pause, time)
            guard !Task.isCancelled else { return }
            await inTaskOfItsOwn { await self.apply() }
        }
    }

    /// Adopts another schedule.
    func follow(_ policy: SchedulePolicy, _ network: NetworkPolicy) {
        (self.policy, self.network) = (policy, network)
        realm.scheduleAttention.raise()
    }

    /// Requests a new decision, because conditions have changed.
    nonisolated func lookAgain() {
        realm.scheduleAttention.raise()
    }

    /// When the realm may sync next by its schedule; nil if that is now, or unknown.
    var nextOpening: Instant? { decision?.nextAllowed }

    private var pause: Duration {
        let ends = [decision?.validUntil.map { $0 - now() }, link.verdict.recoversIn]
        let next = ends.compactMap { $0 }.min() ?? Self.longestPause
        return min(Self.longestPause, max(.milliseconds(100), next))
    }

    // MARK: One round

    private func apply() async {
        let instant = now()
        await learn(at: instant)
        let (conditions, verdict) = look()
        let new = policy.decision(at: instant, conditions, network, history)
        let before = decision
        decision = new
        link.setWaiting(new.permission == .paused(.poorNetwork), realm: name)
        tell(new, after: before)
        describe(new, conditions)
        switch new.permission {
        case .run:
            ongoing = nil
            await realm.allow(.run)
        case .once(let occasion):
            ongoing = ongoing ?? (occasion, instant)
            await realm.allow(.once(reason: occasion.rawValue))
        case .paused(let pause):
            ongoing = nil
            let detail = Self.detail(of: new, verdict)
            await realm.allow(.paused(RealmCause(pause), detail: detail))
            await realm.publishPause()
            return
        }
        guard isNetworkNew else { return }
        isNetworkNew = false
        // What failed over the old network may well succeed over this one.
        await realm.reconnect()
    }

    /// The current conditions of the host and verdict on the network.
    private func look() -> (Conditions, NetworkQualityMonitor.Verdict) {
        var conditions = conditions()
        if let name = conditions.interface, name != interface { isNetworkNew = true }
        if conditions.hasNetwork, !hadNetwork { isNetworkNew = true }
        (interface, hadNetwork) = (conditions.interface, conditions.hasNetwork)
        link.follow(interface: conditions.interface)
        let verdict = link.verdict
        conditions.isNetworkPoor = verdict.isPoor
        return (conditions, verdict)
    }

    /// Records the events since the last round.
    private func learn(at instant: Instant) async {
        let isOpen = await realm.status().activity.phase == .open
        history.lastSynced = isOpen ? instant : await lastConnected()
        guard let ongoing, case .paused = await realm.permission else { return }
        self.ongoing = nil
        switch ongoing.occasion {
        case .refresh:
            history.lastRefresh = ongoing.start
            await memory.keepRefresh(at: ongoing.start, logger)
        case .offlineLimit: history.lastProtection = instant
        }
    }

    private func lastConnected() async -> Instant? {
        await realm.lastConnected().flatMap { Instant(plausible: $0 / 1_000) }
    }

    /// Details that the cause of a pause does not state.
    private static func detail(
        of decision: ScheduleDecision,
        _ verdict: NetworkQualityMonitor.Verdict
    ) -> String? {
        if case .paused(.poorNetwork) = decision.permission {
            return verdict.complaint.map { "\($0)" }
        }
        return decision.nextAllowed.map { "until \(WallTime($0))" }
    }

    /// Routine pauses, which recur every few minutes or always hold, are logged at a lower level.
    private static func level(of decision: ScheduleDecision) -> Logger.Level {
        switch decision.permission {
        case .paused(.refreshInterval), .paused(.manualMode), .once, .run: .info
        case .paused: .notice
        }
    }

    /// Each round, with what it was decided from.
    private func describe(_ decision: ScheduleDecision, _ conditions: Conditions) {
        var fields: Logger.Metadata = [
            "permission": "\(Self.word(for: decision.permission))",
            "network": "\(conditions.hasNetwork)",
        ]
        if let name = conditions.interface { fields["interface"] = "\(name)" }
        if conditions.isNetworkPoor { fields["poor_network"] = "true" }
        fields["metering"] = "\(conditions.metering.rawValue)"
        if let next = decision.nextAllowed { fields["next"] = "\(WallTime(next))" }
        if let end = decision.validUntil { fields["valid_until"] = "\(WallTime(end))" }
        logger.debug("schedule decided", metadata: fields)
    }

    private static func word(for permission: ScheduleDecision.Permission) -> String {
        switch permission {
        case .run: "run"
        case .once(let occasion): "once: \(occasion.rawValue)"
        case .paused(let pause): "paused: \(pause.rawValue)"
        }
    }

    /// One message for each change.
    private func tell(_ new: ScheduleDecision, after old: ScheduleDecision?) {
        if let share = new.offlineShare, old?.offlineShare == nil {
            logger.warning(
                "paused for most of the offline limit",
                metadata: ["percent": "\(Int(share * 100))"]
            )
        }
        guard new.permission != old?.permission else { return }
        switch new.permission {
        case .run:
            guard let old else { break }
            logger.log(level: Self.level(of: old), "resumed by the schedule")
        case .once(let occasion):
            logger.info("refresh is due", metadata: ["occasion": "\(occasion.rawValue)"])
        case .paused(let pause):
            let until = new.nextAllowed.map { WallTime($0).description }
            logger.log(
                level: Self.level(of: new),
                "paused",
                metadata: ["cause": "\(pause.rawValue)", "until": "\(until ?? "-")"]
            )
        }
    }
}

extension WallTime {
    init(_ instant: Instant) {
        self.init(secondsSince1970: instant.secondsSince1970)
    }
}

extension RealmCause {
    init(_ pause: ScheduleDecision.Pause) {
        self =
            switch pause {
            case .manualMode: .manualMode
            case .scheduleWindow: .scheduleWindow
            case .refreshInterval: .refreshInterval
            case .noNetwork: .noNetwork
            case .deniedInterface: .deniedInterface
            case .metered: .metered
            case .lowBattery: .lowBattery
            case .poorNetwork: .poorNetwork
            }
    }
}
