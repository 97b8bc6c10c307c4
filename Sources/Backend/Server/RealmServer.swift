package import Logging
import NIOCore
package import ServerAccounts
package import ServerConfig
package import ServerHTTP
package import ServerStore
import ServiceLifecycle
package import Settings
package import Surroundings
import SyncProtocol
package import SyncServer
import Transport

/// The whole server: store, accounts, HTTP and sync on one port, from a configuration.
package struct RealmServer: Service {
    private let configuration: ServerConfiguration
    private let store: any Store
    private let accounts: Accounts
    private let services: ClientAPI
    private let gate: SyncGate
    private let sync: SyncService
    private let sinks: AppSinks
    private let admin: AdminAPI
    /// Nil if the configuration cannot be read again.
    package let reload: ConfigurationReload?
    private let tls: ServerTLS?
    private let proxies: TrustedProxies
    private let isAdministered: Bool
    private let clock: WallClock
    private let onListening: @Sendable (ListenAddress) async -> Void
    private let logger: Logger

    /// Prepares everything except the port. The caller closes the store. Only a server that
    /// `isAdministered` has an admin socket, and only one with `readConfiguration` can reload.
    /// `audit` records operators' calls, at every log level.
    package init(
        _ configuration: ServerConfiguration,
        store: any Store,
        backplane: any Backplane = InProcessBackplane(),
        clock: WallClock,
        random: RandomSource,
        hasher: PasswordHasher? = nil,
        secrets: SecretReader = SecretReader(environment: [:]),
        timing: ServerTiming = ServerTiming(),
        tls: ServerTLS? = nil,
        isAdministered: Bool = false,
        logger: Logger,
        audit: Logger? = nil,
        setLogLevel: @escaping @Sendable (ServerLogConfiguration.Level) -> Void = { _ in },
        readConfiguration: (@Sendable () -> ConfigurationReload.Reading)? = nil,
        onListening: @escaping @Sendable (ListenAddress) async -> Void = { _ in }
    ) async throws {
        let store = DiskReporting(store, logger: logger)
        let accounts = try await Accounts(
            apps: configuration.apps,
            store: store,
            backplane: backplane,
            hasher: hasher
                ?? PasswordHasher(waitingAtMost: configuration.limits.waitingLogIns),
            secrets: secrets,
            clock: clock,
            random: random,
            logger: logger
        )
        backplane.join(AppPresence(accounts.apps))
        self.accounts = accounts
        self.configuration = configuration
        let publicAddress = PublicAddress(configuration.publicURL)
        let proxies = TrustedProxies(configuration.trustedProxies, logger: logger)
        self.tls = tls
        self.proxies = proxies
        self.isAdministered = isAdministered
        self.clock = clock
        self.store = store
        self.services = ClientAPI(
            accounts: accounts,
            publicAddress: publicAddress,
            isSecure: tls != nil,
            logger: logger
        )
        self.gate = SyncGate(accounts: accounts, logger: logger)
        self.sinks = AppSinks(logger: logger)
        try sinks.use(configuration.apps)
        self.sync = SyncService(
            apps: SinkingApps(apps: accounts.apps, sinks: sinks),
            backplane: accounts.backplane,
            engine: SyncEngine(
                store: store,
                clock: clock,
                random: random,
                merging: MergeLimits(
                    documentSizeInBytes: configuration.limits.documentBytes,
                    correctionSizeInBytes: configuration.limits.correctionBytes
                )
            ),
            clock: clock,
            random: random,
            timing: timing,
            logger: logger
        )
        self.reload = readConfiguration.map { [sync, sinks] read in
            ConfigurationReload(
                of: configuration,
                accounts: accounts,
                sync: sync,
                sinks: sinks,
                publicAddress: publicAddress,
                proxies: proxies,
                tls: tls,
                setLogLevel: setLogLevel,
                logger: logger,
                read: read
            )
        }
        var applyChanges: (@Sendable () async throws -> ServerReloadReport)?
        if let reload { applyChanges = { try await reload.run() } }
        self.admin = AdminAPI(
            accounts: accounts,
            sync: sync,
            reload: applyChanges,
            logger: logger,
            audit: audit
        )
        self.onListening = onListening
        self.logger = logger
    }

    /// Serves until a graceful shutdown; then closes every connection in order.
    package func run() async throws {
        let census = ConnectionCensus(configuration.limits)
        let listener = HTTPListener(
            address: configuration.listen,
            services: services,
            gate: gate,
            serve: { await serve($0) },
            tls: tls,
            proxies: proxies,
            census: census,
            bodies: BodyBudget(limitInBytes: configuration.limits.bodyBytes),
            incoming: IncomingBudget(limitInBytes: configuration.limits.incomingBytes),
            clock: clock,
            logger: logger
        )
        if census.connectionsWithoutDescriptor > 0 {
            logger.warning(
                "fewer connections than server.limits.connections allows",
                metadata: ["missing_descriptors": "\(census.connectionsWithoutDescriptor)"]
            )
        }
        try await withThrowingDiscardingTaskGroup { group in
            if let path = adminSocketPath {
                group.addTask { try await serveAdministration(at: path) }
            }
            group.addTask {
                await accounts.backplane.run { await accounts.follow($0) }
            }
            group.addTask { await sync.keepTrimming() }
            group.addTask { await sync.keepSweeping() }
            group.addTask { await sinks.run(sync.timing.clock) }
            group.addTask { await sync.keepFanningOut() }
            group.addTask { await sync.keepTime() }
            group.addTask { await accounts.keepRemovingExpired(sync.timing.clock) }
            try await listener.run { address in
                logger.notice(
                    "listening",
                    metadata: ["address": "\(address.host)", "port": "\(address.port)"]
                )
                await onListening(address)
            }
            group.cancelAll()
        }
    }

    /// Without a configured path, a server whose socket cannot be created still serves clients;
    /// with one it does not start.
    private func serveAdministration(at path: String) async throws {
        do {
            try await AdminListener(path: path, api: admin, clock: clock, logger: logger).run()
        } catch let error as AdminListener.BindError where configuration.adminSocket == nil {
            logger.warning("admin socket unavailable", metadata: ["error": "\(error)"])
        }
    }

    private var adminSocketPath: String? {
        isAdministered ? configuration.adminSocketPath : nil
    }

    private func serve(_ socket: SyncSocket) async {
        do {
            try await WebSocketStream.with(
                socket.channel,
                role: .server,
                subProtocol: socket.subProtocol.token
            ) { [sync] stream in
                await sync.serve(stream, of: socket.user, socket.subProtocol)
            }
        } catch {
            logger.debug("sync connection broke", metadata: ["error": "\(error)"])
        }
    }
}

extension RealmServer: CustomStringConvertible {
    /// Its name in the service group's log.
    package var description: String { "realm-server" }
}
