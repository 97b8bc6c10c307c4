/// The changes to turn the running parts of one configuration into those of another.
package struct ConfigurationDifference: Hashable, Sendable {
    /// Key paths whose change takes effect at once, such as `realms.stock`.
    package private(set) var applied: [String] = []
    package private(set) var unchanged: [String] = []
    /// Key paths whose change waits for the next start.
    package private(set) var needsRestart: [String] = []

    /// Names of realms that run and must not run on as they are.
    package private(set) var realmsToStop: [String] = []
    package private(set) var realmsToStart: [RealmConfiguration] = []
    /// Realms of which only the schedule or the subscriptions have changed: they keep their session and
    /// file.
    package private(set) var realmsToReschedule: [RealmConfiguration] = []
    package private(set) var usersToStop: [String] = []
    package private(set) var usersToStart: [UserConfiguration] = []
    package private(set) var appsToStop: [String] = []
    package private(set) var appsToStart: [AppConfiguration] = []

    package init(from old: AgentConfiguration, to new: AgentConfiguration) {
        compareDaemons(old.daemon, new.daemon)
        note("network", isChanged: old.network != new.network)
        (appsToStop, appsToStart) = compare("apps", old.apps, new.apps, \.name)
        (usersToStop, usersToStart) = compare("users", old.users, new.users, \.name)
        _ = compare("plugins", old.plugins, new.plugins, \.name)
        compareRealms(old.realms, new.realms)
    }

    private mutating func compareDaemons(_ old: DaemonConfiguration, _ new: DaemonConfiguration) {
        let fixed: [(String, Bool)] = [
            ("data_directory", old.dataDirectory != new.dataDirectory),
            ("control_socket", old.controlSocket != new.controlSocket),
            ("control_group", old.controlGroup != new.controlGroup),
            ("stalled_after", old.stalledAfter != new.stalledAfter),
            ("metrics", old.metricsAddress != new.metricsAddress),
            ("log.output", old.log.output != new.log.output),
        ]
        needsRestart += fixed.filter(\.1).map { "agent.\($0.0)" }
        note("agent.log.level", isChanged: old.log.level != new.log.level)
        note("agent.log.categories", isChanged: old.log.categories != new.log.categories)
        note("agent.log.values", isChanged: old.log.showsValues != new.log.showsValues)
    }

    private mutating func note(_ path: String, isChanged: Bool) {
        if isChanged { applied.append(path) } else { unchanged.append(path) }
    }

    private mutating func compare<Element: Equatable>(
        _ section: String,
        _ old: [Element],
        _ new: [Element],
        _ name: (Element) -> String
    ) -> (stop: [String], start: [Element]) {
        let kept = old.filter(new.contains)
        unchanged += kept.map { "\(section).\(name($0))" }
        let stop = old.filter { !kept.contains($0) }.map(name)
        let start = new.filter { !kept.contains($0) }
        applied += Set(stop + start.map(name)).sorted().map { "\(section).\($0)" }
        return (stop, start)
    }

    private mutating func compareRealms(_ old: [RealmConfiguration], _ new: [RealmConfiguration]) {
        let (stop, start) = compare("realms", old, new, \.name)
        let before = Dictionary(old.map { ($0.name, $0) }) { first, _ in first }
        realmsToReschedule = start.filter { realm in
            guard var other = before[realm.name], realm.isEnabled else { return false }
            other.schedule = realm.schedule
            other.adoptSubscriptions(of: realm)
            return other == realm
        }
        let kept = Set(realmsToReschedule.map(\.name))
        realmsToStop = stop.filter { !kept.contains($0) && before[$0]?.isEnabled == true }
        realmsToStart = start.filter { !kept.contains($0.name) && $0.isEnabled }
    }
}

extension RealmConfiguration {
    /// With the subscriptions of another configuration, if both use flexible sync.
    fileprivate mutating func adoptSubscriptions(of other: RealmConfiguration) {
        guard case .subscriptions = scope, case .subscriptions = other.scope else { return }
        scope = other.scope
    }
}
