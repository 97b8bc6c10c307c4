import AppServices
import Config
import Logging
import Platform
import Plugins
import Scheduling
import Settings
import SyncClient
import SyncProtocol
import Transport

/// Puts the parts of the agent together, one section of the configuration after the other.
struct Parts {
    let version: String
    let log: AgentLog
    let database: MetadataDatabase
    let events: AgentEvents
    /// Copies and lost changes that resets keep.
    let recoveredDirectory: String
    let plugins: PluginRegistry
    let host = Host.current()
    private(set) var apps: [String: AppParts] = [:]
    private(set) var users: [String: UserParts] = [:]
    private(set) var connections: [UserConnection] = []
    private var links: [ObjectIdentifier: LinkWatch] = [:]
    /// When the network counts as poor.
    var poorNetwork: PoorNetwork
    private(set) var supervisors: [RealmSupervisor] = []

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

    struct AppParts {
        /// What is sent with every request.
        let headers: [(name: String, value: String)]
        let exchange: AsyncHTTPExchange
        let client: AppClient
        let webSocket: WebSocketClient
    }

    struct UserParts {
        let session: UserSession
        let endpoint: AppEndpoint
        /// Nil where each realm has one of its own.
        let sharedConnection: UserConnection?
    }

    mutating func add(_ app: AppConfiguration) throws {
        let access = try ServerAccess(to: app, userAgent: userAgent)
        let exchange = AsyncHTTPExchange(
            tls: access.tls,
            proxies: access.proxies,
            headers: access.headers
        )
        let client = AppClient(
            appID: app.appID,
            baseURL: app.baseURL.description,
            fixedLocation: app.location.map {
                Location.fixed(
                    http: $0.http.description,
                    webSocket: $0.webSocket.description,
                    appID: app.appID
                )
            },
            device: DeviceDescription(
                platformVersion: host.systemVersion,
                sdkVersion: version,
                architecture: host.architecture,
                name: host.name
            ),
            exchange: exchange,
            authorizationHeader: app.authorizationHeader,
            timeout: app.timeouts.request,
            recall: { [database] in
                try? await database.location(
                    appID: app.appID,
                    baseURL: app.baseURL.description
                )
            },
            onLocation: { [database] location in
                // Without it the next start derives an address, and asks if that is wrong.
                try? await database.keep(
                    location,
                    appID: app.appID,
                    baseURL: app.baseURL.description,
                    at: Self.secondsSince1970()
                )
            }
        )
        let webSocket = try WebSocketClient(
            tls: access.tls,
            proxies: access.proxies,
            connectTimeout: app.timeouts.connect,
            maximumMessageSizeInBytes: Limits.client.messageSizeInBytes
        )
        apps[app.name] = AppParts(
            headers: access.headers,
            exchange: exchange,
            client: client,
            webSocket: webSocket
        )
    }

    private var userAgent: String { "realm-agent/\(version) (Linux \(host.systemVersion))" }

    mutating func add(_ user: UserConfiguration) {
        guard let app = apps[user.app.name] else { return }
        let session = UserSession(
            client: app.client,
            store: MetadataAccountStore(
                database: database,
                user: user.name,
                appID: user.app.appID,
                now: Self.secondsSince1970
            ),
            registersAccount: user.provider.registersAccount,
            credential: { () throws(UserSession.Failure) in try await user.provider.credential() },
            now: Self.secondsSince1970,
            report: { [events, logger = log.logger("Agent.Users")] news in
                events.publish(news, of: user.name, logger)
            }
        )
        let endpoint = AppEndpoint(
            client: app.client,
            user: session,
            webSocket: app.webSocket,
            headers: app.headers
        )
        users[user.name] = UserParts(
            session: session,
            endpoint: endpoint,
            sharedConnection: user.app.sharesConnections
                ? connection(user, to: endpoint, timing: user.app.timeouts.timing) : nil
        )
    }

    private mutating func connection(
        _ user: UserConfiguration,
        to endpoint: AppEndpoint,
        timing: ConnectionTiming,
        realm: String? = nil
    ) -> UserConnection {
        var logger = log.logger("Sync.Client.Network")
        logger[metadataKey: "user"] = "\(user.name)"
        if let realm { logger[metadataKey: "realm"] = "\(realm)" }
        let link = LinkWatch(poorNetwork)
        let connection = UserConnection(
            endpoint: endpoint,
            timing: timing,
            reconnect: user.app.backoff.parameters,
            time: .continuous,
            random: SystemRandomNumberGenerator(),
            logger: logger,
            measured: link.note
        )
        connections.append(connection)
        links[ObjectIdentifier(connection)] = link
        return connection
    }

    /// What a connection tells of the way to its server.
    func link(of connection: UserConnection) -> LinkWatch {
        links[ObjectIdentifier(connection)] ?? LinkWatch(poorNetwork)
    }

    var allLinks: some Sequence<LinkWatch> { links.values }

    /// The connection of one realm alone lets go at once: nobody else could need it.
    private mutating func ownConnection(
        of realm: RealmConfiguration,
        to endpoint: AppEndpoint
    ) -> UserConnection {
        var timing = realm.user.app.timeouts.timing
        timing.linger = .zero
        return connection(realm.user, to: endpoint, timing: timing, realm: realm.name)
    }

    mutating func add(_ realm: RealmConfiguration) {
        guard let user = users[realm.user.name] else { return }
        let backoff = realm.user.app.backoff
        supervisors.append(
            RealmSupervisor(
                realm,
                user: user.session,
                connection: user.sharedConnection ?? ownConnection(of: realm, to: user.endpoint),
                opener: RealmOpener(
                    machineID: host.machineID,
                    time: .continuous,
                    now: WallTime.now,
                    logger: log.logger("Sync.Client.Session")
                ),
                resets: ResetSurroundings(
                    recoveredDirectory: recoveredDirectory,
                    agentVersion: version
                ),
                register: MetadataRealmRegister(database: database, realm: realm.name),
                pauses: AttemptPauses(
                    initial: backoff.initial,
                    maximum: backoff.maximum,
                    multiplier: backoff.multiplier
                ),
                time: .continuous,
                now: { WallTime.now().millisecondsSince1970 },
                events: events,
                handlers: HandlerRunner(realm, registry: plugins),
                logger: log.logger("Agent.Realm")
            )
        )
    }

    /// Takes over apps that others have put together.
    mutating func adopt(appsOf other: Parts) {
        apps.merge(other.apps) { _, new in new }
    }

    // MARK: What is over

    mutating func removeApp(_ name: String) -> AppParts? { apps.removeValue(forKey: name) }

    mutating func removeUser(_ name: String) { users[name] = nil }

    mutating func removeRealm(_ name: String) {
        supervisors.removeAll { $0.configuration.name == name }
    }

    private static let secondsSince1970: @Sendable () -> Int64 = {
        WallTime.now().millisecondsSince1970 / 1000
    }
}

extension TimeoutConfiguration {
    fileprivate var timing: ConnectionTiming {
        ConnectionTiming(
            pingPeriod: keepAlive,
            pongTimeout: pong,
            linger: linger,
            fastReconnectLimit: fastReconnect
        )
    }
}

extension BackoffConfiguration {
    fileprivate var parameters: ReconnectDelay<DisconnectReason>.Parameters {
        .init(
            initial: initial,
            maximum: maximum,
            multiplier: multiplier,
            jitter: jitter
        )
    }
}
