import AppServices
import Config
import Logging
import Platform
import Plugins
import RealmSync
import Scheduling
import Settings
import SyncClient
import SyncProtocol

/// Puts the parts of the agent together, one section of the configuration after the other.
struct Parts {
    let version: String
    let log: AgentLog
    let database: MetadataDatabase
    let events: AgentEvents
    /// Copies and lost changes that resets keep.
    let recoveredDirectory: String
    let plugins: PluginRegistry
    let machine = MachineDescription.current()
    private(set) var apps: [String: SyncApp] = [:]
    private(set) var users: [String: UserParts] = [:]
    private var links: [ObjectIdentifier: NetworkQualityMonitor] = [:]
    /// When the network counts as poor.
    var poorNetwork: PoorNetwork
    private(set) var realms: [ConfiguredRealm] = []

    init(
        version: String,
        log: AgentLog,
        database: MetadataDatabase,
        events: AgentEvents,
        recoveredDirectory: String,
        plugins: PluginRegistry,
        poorNetwork: PoorNetwork = PoorNetwork()
    ) {
        self.version = version
        self.log = log
        self.database = database
        self.events = events
        self.recoveredDirectory = recoveredDirectory
        self.plugins = plugins
        self.poorNetwork = poorNetwork
    }

    struct UserParts {
        let user: SyncUser
        /// Whether the user's realms share one connection.
        let sharesConnection: Bool

        var session: UserSession { user.session }
    }

    mutating func add(_ app: AppConfiguration) throws {
        apps[app.name] = try SyncApp(
            AppOptions(app),
            access: ServerAccess(
                to: app,
                userAgent: "realm-agent/\(version) (Linux \(machine.systemVersion))"
            ),
            database: database,
            recoveredDirectory: recoveredDirectory,
            machine: machine,
            version: version,
            makeLogger: { [log] in log.logger($0) }
        )
    }

    mutating func add(_ user: UserConfiguration) {
        guard let app = apps[user.app.name] else { return }
        let link = NetworkQualityMonitor(poorNetwork)
        let synced = SyncUser(
            user.name,
            of: app,
            registersAccount: user.provider.registersAccount,
            credential: { () throws(UserSession.Failure) in try await user.provider.credential() },
            report: { [events, logger = log.logger("Agent.Users")] news in
                events.publish(news, of: user.name, logger)
            },
            measured: link.note
        )
        links[ObjectIdentifier(synced.connection)] = link
        links[ObjectIdentifier(synced.flexibleConnection)] = link
        users[user.name] = UserParts(
            user: synced,
            sharesConnection: user.app.sharesConnections
        )
    }

    mutating func add(_ realm: RealmConfiguration) {
        guard let parts = users[realm.user.name] else { return }
        let options = RealmOptions(realm)
        let connections =
            parts.sharesConnection
            ? parts.user.sharedConnections(for: options) : ownConnections(of: options, parts.user)
        let handlers = RealmHandlers(
            HandlerRunner(realm, at: options.location, registry: plugins),
            requiresBefore: realm.clientReset.requiresBefore,
            events: events
        )
        let engine = parts.user.realm(
            options,
            on: connections,
            delegate: handlers,
            report: { [events] event in
                events.publish(event, realm: realm.name)
                handlers.note(event)
            }
        )
        realms.append(ConfiguredRealm(configuration: realm, realm: engine, handlers: handlers))
    }

    private mutating func ownConnections(
        of options: RealmOptions,
        _ user: SyncUser
    ) -> RealmConnections {
        let link = NetworkQualityMonitor(poorNetwork)
        let connections = user.ownConnections(of: options, measured: link.note)
        links[ObjectIdentifier(connections.configured)] = link
        links[ObjectIdentifier(connections.other)] = link
        return connections
    }

    /// Monitors the network quality that a connection observes.
    func link(of connection: UserConnection) -> NetworkQualityMonitor {
        links[ObjectIdentifier(connection)] ?? NetworkQualityMonitor(poorNetwork)
    }

    /// The connection that tells how good the path to a user's server is: a server refuses connections of
    /// the other kind of sync, so that they measure nothing.
    func probedConnection(ofUser name: String) async -> UserConnection? {
        guard let user = users[name]?.user else { return nil }
        for realm in realms where realm.configuration.user.name == name {
            if await realm.realm.mode == .partitionBased { return user.connection }
        }
        let hasRealms = realms.contains { $0.configuration.user.name == name }
        return hasRealms ? user.flexibleConnection : user.connection
    }

    var allLinks: some Sequence<NetworkQualityMonitor> { links.values }

    /// The connections that carry the realms.
    var connections: [UserConnection] {
        var seen: Set<ObjectIdentifier> = []
        let all = realms.map(\.realm.context).flatMap { [$0.connection, $0.otherConnection] }
        return all.filter {
            seen.insert(ObjectIdentifier($0)).inserted
        }
    }

    /// Adopts the apps of other parts.
    mutating func adopt(appsOf other: Parts) {
        apps.merge(other.apps) { _, new in new }
    }

    // MARK: Removal

    mutating func removeApp(_ name: String) -> SyncApp? { apps.removeValue(forKey: name) }

    mutating func removeUser(_ name: String) { users[name] = nil }

    mutating func removeRealm(_ name: String) {
        realms.removeAll { $0.name == name }
    }
}
