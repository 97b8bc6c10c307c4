package import Logging
import NIOCore
package import ServerAccounts
package import ServerConfig
package import ServerHTTP
import ServerMetrics
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
    private let gates: AppGates
    private let admin: AdminAPI
    private let meter: ServerMeter
    private let monitoring: Monitoring
    private let state = ServingState()
    /// Nil if the configuration cannot be read again.
    package let reload: ConfigurationReload?
    private let tls: ServerTLS?
    private let proxies: TrustedProxies
    private let isAdministered: Bool
    private let views: ViewKeeping?
    private let clock: WallClock
    private let onListening: @Sendable (ListenAddress) async -> Void
    private let onServingMetrics: @Sendable (ListenAddress) async -> Void
    private let logger: Logger

    /// Prepares everything except the port. The caller closes the store. Only a server that
    /// `isAdministered` has an admin socket, and only one with `readConfiguration` can reload.
    /// `audit` records operators' calls, at every log level.
    package init(
        _ configuration: ServerConfiguration,
        store: any Store,
        backplane: any Backplane = InProcessBackplane(),
        views: (any ObjectViews)? = nil,
        clock: WallClock,
        random: RandomSource,
        hasher: PasswordHasher? = nil,
        secrets: SecretReader = SecretReader(environment: [:]),
        timing: ServerTiming = ServerTiming(),
        tls: ServerTLS? = nil,
        isAdministered: Bool = false,
        version: String = "",
        logger: Logger,
        audit: Logger? = nil,
        setLogLevel: @escaping @Sendable (ServerLogConfiguration.Level) -> Void = { _ in },
        readConfiguration: (@Sendable () -> ConfigurationReload.Reading)? = nil,
        onListening: @escaping @Sendable (ListenAddress) async -> Void = { _ in },
        onServingMetrics: @escaping @Sendable (ListenAddress) async -> Void = { _ in }
    ) async throws {
        let meter = ServerMeter()
        let calls = StoreCalls(meter)
        let writability = UnwritableStoreReport(logger: logger)
        let store = WatchedStore(WatchedStore(store, by: calls), by: writability)
        let accounts = try await Accounts(
            apps: configuration.apps,
            store: store,
            backplane: backplane,
            hasher: hasher
                ?? PasswordHasher(waitingAtMost: configuration.limits.waitingLogIns),
            secrets: secrets,
            clock: clock,
            random: random,
            comparisonsPerMinute: configuration.limits.comparisonsPerMinute,
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
        self.views = views.map {
            ViewKeeping(
                $0,
                of: accounts.apps,
                backplane: backplane,
                clock: timing.clock,
                logger: logger
            )
        }
        self.gate = SyncGate(accounts: accounts, logger: logger)
        self.sinks = AppSinks(logger: logger)
        try sinks.use(configuration.apps)
        self.gates = AppGates(clock: timing.clock, logger: logger)
        // Before sessions: those that bind again must find no decision of before.
        backplane.join(gates)
        self.sync = SyncService(
            apps: ServedSyncApps(accounts.apps, sinks: sinks, gates: gates, logger: logger),
            backplane: accounts.backplane,
            engine: SyncEngine(
                store: store,
                clock: clock,
                random: random,
                merging: MergeLimits(
                    documentSizeInBytes: configuration.limits.documentBytes,
                    correctionSizeInBytes: configuration.limits.correctionBytes
                ),
                meter: meter,
                timer: timing.clock,
                logger: logger
            ),
            clock: clock,
            random: random,
            timing: timing,
            meter: meter,
            comparisons: ComparisonLimits(listedObjects: configuration.limits.comparedObjects),
            logger: logger
        )
        self.services = ClientAPI(
            accounts: accounts,
            sync: sync,
            publicAddress: publicAddress,
            isSecure: tls != nil,
            meter: meter,
            logger: logger
        )
        self.reload = readConfiguration.map { [sync, sinks, gates] read in
            ConfigurationReload(
                of: configuration,
                accounts: accounts,
                sync: sync,
                sinks: sinks,
                gates: gates,
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
        let obstacles: @Sendable () -> [String] = { [state] in
            [state.obstacle, accounts.backplane.obstacle, writability.obstacle].compactMap(\.self)
        }
        let gauges = GaugeReader(
            version: version,
            sync: sync,
            store: store,
            calls: calls,
            storage: configuration.storage,
            apps: { accounts.apps.all.map(\.id) },
            tls: tls,
            clock: clock,
            obstacles: obstacles
        )
        self.meter = meter
        self.monitoring = Monitoring(
            metrics: { MetricsReport(meter, await gauges.read()) },
            obstacles: { obstacles() }
        )
        self.admin = AdminAPI(
            accounts: accounts,
            sync: sync,
            monitoring: monitoring,
            reload: applyChanges,
            logger: logger,
            audit: audit
        )
        self.onListening = onListening
        self.onServingMetrics = onServingMetrics
        self.logger = logger
    }

    /// Serves until a graceful shutdown; then closes every connection in order.
    package func run() async throws {
        try await withGracefulShutdownHandler {
            try await serve()
        } onGracefulShutdown: {
            state.noteStopping()
            sync.stop()
        }
    }

    private func serve() async throws {
        let census = ConnectionCensus(configuration.limits, meter: meter)
        let listener = HTTPListener(
            address: configuration.listen,
            services: services,
            gate: gate,
            serve: { [sync, logger] in await Self.serve($0, by: sync, logger) },
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
        // A part that fails ends the others; the end of the port's ends all in order.
        try await withThrowingTaskGroup(of: Part.self) { group in
            func run(_ part: Part = .upkeep, _ body: @escaping @Sendable () async throws -> Void) {
                group.addTask {
                    try await body()
                    return part
                }
            }
            if let path = adminSocketPath { run { try await serveAdministration(at: path) } }
            if let address = configuration.metricsAddress {
                run { try await serveMetrics(at: address) }
            }
            run { await accounts.backplane.run { await accounts.follow($0) } }
            run { await sync.keepTrimming() }
            run { await sync.keepSweeping() }
            run { await sync.keepRemovingRemains() }
            run { await sinks.run(sync.timing.clock) }
            run { await gates.run() }
            run { await sync.keepFanningOut() }
            run { await sync.keepTime() }
            run { await views?.run() }
            run { await accounts.keepRemovingExpired(sync.timing.clock, meter) }
            run(.port) {
                try await listener.run { address in
                    logger.notice(
                        "listening",
                        metadata: ["address": "\(address.host)", "port": "\(address.port)"]
                    )
                    state.noteListening()
                    await onListening(address)
                }
            }
            while let part = try await group.next() {
                if part == .port { group.cancelAll() }
            }
        }
    }

    private enum Part: Sendable {
        case port
        case upkeep
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

    private func serveMetrics(at address: ListenAddress) async throws {
        let listener = MonitoringListener(address: address, monitoring: monitoring) { address in
            logger.info(
                "serving metrics",
                metadata: ["address": "\(address.host)", "port": "\(address.port)"]
            )
            await onServingMetrics(address)
        }
        try await listener.run()
    }

    private var adminSocketPath: String? {
        isAdministered ? configuration.adminSocketPath : nil
    }

    /// Holds little: its frame is memory that an idle connection takes.
    private static func serve(
        _ socket: SyncSocket,
        by sync: SyncService,
        _ logger: Logger
    ) async {
        do {
            try await WebSocketStream.with(
                socket.channel,
                subProtocol: socket.subProtocol.token
            ) { stream in
                await sync.serve(stream, of: socket.user, socket.subProtocol)
            }
        } catch {
            noteBroken(error, logger)
        }
    }

    @inline(never)
    private static func noteBroken(_ error: any Error, _ logger: Logger) {
        logger.debug("sync connection broke", metadata: ["error": "\(error)"])
    }
}

extension RealmServer: CustomStringConvertible {
    /// Its name in the service group's log.
    package var description: String { "realm-server" }
}
