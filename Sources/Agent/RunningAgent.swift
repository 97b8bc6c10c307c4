import AppServices
import Config
import Control
import Coordination
import LocalRealm
import Logging
import Platform
import Plugins
import RealmSync
import Scheduling
import SyncClient

/// The running parts of one configuration, and their change to another configuration.
actor RunningAgent {
    private(set) var configuration: AgentConfiguration
    /// The number of configurations that the agent has followed since its start.
    private(set) var generation: UInt64 = 1
    private var parts: Parts
    private var keepers: [String: ScheduleKeeper] = [:]
    private var lives: [String: Lifetime] = [:]
    private var connections: [String: Lifetime] = [:]
    /// Reloads, one after the other.
    private let reloads = Turns<OrderOfArrival>()
    private let watch: ConditionsWatch
    /// `run()` has ended: nothing may begin any more.
    private var hasEnded = false

    /// Tests supply their own conditions.
    init(
        _ configuration: AgentConfiguration,
        _ parts: Parts,
        conditions: @escaping ConditionsWatch.Source = { await HostConditions().follow($0) }
    ) {
        self.configuration = configuration
        self.parts = parts
        self.watch = ConditionsWatch(conditions)
    }

    var realms: [ConfiguredRealm] { parts.realms }

    var sessions: [String: UserSession] { parts.users.mapValues(\.session) }

    /// Runs everything that is configured, now and later, until the task is cancelled.
    func run() async {
        for user in configuration.users { begin(user) }
        for realm in parts.realms { begin(realm) }
        await withDiscardingTaskGroup { group in
            // Realms wait for the host's first report.
            group.addTask { await self.watch.run { await self.conditionsHaveChanged() } }
            await Signal().wait()
            await self.endAll()
        }
    }

    private func endAll() async {
        hasEnded = true
        let all = Array(lives.values) + Array(connections.values)
        for life in all { life.cancel() }
        for life in all { await life.finish() }
    }

    /// Runs the named realms without their schedules, as a command requests.
    func run(realms names: [String]) async {
        let connections = parts.connections
        let selected = realms.filter { names.contains($0.name) }
        await withDiscardingTaskGroup { group in
            for connection in connections { group.addTask { await connection.run() } }
            for realm in selected { group.addTask { await realm.run() } }
        }
    }

    /// Closes the resources that outlive their tasks.
    func close() async {
        for app in parts.apps.values { await app.close() }
        // Tasks that have ended may still refer to it for a moment, and the process does not wait for them.
        await parts.database.close()
    }

    /// The status of every realm, disabled ones included, in any order.
    func status() async -> [RealmStatus] {
        var report = configuration.realms.filter { !$0.isEnabled }.map(RealmStatus.init(disabled:))
        for answer in await askAll({ ($0, await $0.status()) }) {
            report.append(await completed(answer))
        }
        return report
    }

    /// The same for the health keeper.
    func health() async -> [RealmHealth] {
        configuration.realms.filter { !$0.isEnabled }.map(RealmHealth.init(disabled:))
            + (await askAll { await RealmHealth($0) })
    }

    /// Asks all realms; the answers come in any order. Many are asked at once: while all of thousands open, each
    /// waits for its turn on a busy processor several times.
    private func askAll<Answer: Sendable>(
        _ ask: @escaping @Sendable (ConfiguredRealm) async -> Answer
    ) async -> [Answer] {
        let realms = realms
        return await withTaskGroup(of: [Answer].self) { group in
            for first in 0..<min(Self.realmsAskedAtOnce, realms.count) {
                group.addTask {
                    var answers: [Answer] = []
                    for number in stride(from: first, to: realms.count, by: Self.realmsAskedAtOnce)
                    {
                        answers.append(await ask(realms[number]))
                    }
                    return answers
                }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
    }

    private static let realmsAskedAtOnce = 128

    private func completed(
        _ answer: (realm: ConfiguredRealm, status: RealmStatus)
    ) async -> RealmStatus {
        var status = answer.status
        let connection = answer.realm.realm.context.connection
        status.roundTripSeconds = parts.link(of: connection).roundTrip.map { $0 / .seconds(1) }
        if status.state == .paused, let keeper = keepers[answer.realm.name] {
            status.nextOpening = await keeper.nextOpening.map { WallTime($0).description }
        }
        return status
    }

    // MARK: Beginning and ending

    private func begin(_ user: UserConfiguration) {
        guard !hasEnded, let user = parts.users[user.name], user.sharesConnection else { return }
        let synced = user.user
        let link = parts.link(of: synced.connection)
        connections[synced.name] = Lifetime {
            await withDiscardingTaskGroup { group in
                group.addTask { await synced.run() }
                // Chosen each time: a reload or the server may change the kind of sync.
                group.addTask { await link.run { await self.probe(userNamed: synced.name) } }
            }
        }
    }

    private func probe(userNamed name: String) async {
        await parts.probedConnection(ofUser: name)?.probe()
    }

    private func begin(_ realm: ConfiguredRealm) {
        guard !hasEnded else { return }
        let name = realm.name
        let engine = realm.realm
        let link = parts.link(of: engine.context.connection)
        let keeper = ScheduleKeeper(
            realm.realm,
            realm.configuration.schedule,
            memory: RefreshMemory(database: parts.database, realm: name),
            network: configuration.network,
            time: .continuous,
            now: {
                Instant(secondsSince1970: WallTime.now().millisecondsSince1970 / 1_000)
            },
            conditions: { [watch] in watch.conditions },
            link: link,
            seed: StableHash.value(of: name.utf8),
            logger: parts.log.logger("Agent.Schedule")
        )
        keepers[name] = keeper
        let isShared =
            parts.users[realm.configuration.user.name]?.sharesConnection ?? false
        lives[name] = Lifetime { [watch] in
            await watch.settled()
            await keeper.begin()
            await withDiscardingTaskGroup { group in
                if !isShared {
                    group.addTask { await engine.context.connection.run() }
                    group.addTask { await engine.context.otherConnection.run() }
                    group.addTask { await link.run { await engine.presentConnection.probe() } }
                }
                group.addTask { await keeper.run() }
                await realm.run()
            }
        }
    }

    private func conditionsHaveChanged() {
        for keeper in keepers.values { keeper.lookAgain() }
    }

    // MARK: Another configuration

    /// Stops, starts and changes what differs, and nothing else.
    ///
    /// - Throws: what cannot be put together of the new configuration; then nothing has changed.
    func follow(_ new: AgentConfiguration) async throws -> ConfigurationDifference {
        try await reloads.take { try await takeOver(new) }
    }

    private func takeOver(_ new: AgentConfiguration) async throws -> ConfigurationDifference {
        let difference = ConfigurationDifference(from: configuration, to: new)
        var prepared = Parts(
            version: parts.version,
            log: parts.log,
            database: parts.database,
            events: parts.events,
            recoveredDirectory: parts.recoveredDirectory,
            plugins: parts.plugins,
            poorNetwork: new.network.poor
        )
        for app in difference.appsToStart { try prepared.add(app) }

        for name in difference.realmsToStop {
            await lives.removeValue(forKey: name)?.finish()
            await keepers.removeValue(forKey: name)?.end()
            parts.removeRealm(name)
        }
        for name in difference.usersToStop {
            await connections.removeValue(forKey: name)?.finish()
            parts.removeUser(name)
        }
        for name in difference.appsToStop {
            await parts.removeApp(name)?.close()
        }

        await parts.plugins.follow(new.plugins)
        parts.adopt(appsOf: prepared)
        parts.log.follow(new.daemon.log)
        // Settings that need a restart keep their values.
        var followed = new
        followed.daemon = configuration.daemon
        followed.daemon.log.level = new.daemon.log.level
        followed.daemon.log.categories = new.daemon.log.categories
        followed.daemon.log.showsValues = new.daemon.log.showsValues
        configuration = followed
        generation += 1
        parts.poorNetwork = new.network.poor
        for link in parts.allLinks { link.follow(new.network.poor) }
        for user in difference.usersToStart {
            parts.add(user)
            begin(user)
        }
        for realm in difference.realmsToStart {
            parts.add(realm)
            if let added = realms.last, added.name == realm.name { begin(added) }
        }
        for realm in new.realms {
            await keepers[realm.name]?.follow(realm.schedule, new.network)
            guard let declared = RealmOptions.declaredSubscriptions(of: realm),
                let running = parts.realms.first(where: { $0.name == realm.name })
            else { continue }
            await running.realm.declareSubscriptions(declared)
        }
        return difference
    }
}
