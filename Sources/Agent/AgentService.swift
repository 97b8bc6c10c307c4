import AppServices
package import Config
package import Control
import FoundationEssentials
import LocalRealm
import Logging
import NIOSSL
import Platform
import Plugins
import ServiceLifecycle
import Settings
import SyncClient
import SyncProtocol
import Synchronization
import Transport

/// The agent: what the configuration declares, as running services.
///
/// The composition root: it knows every concrete type, and holds no rules.
package struct AgentService: Service, Sendable {
    let configuration: AgentConfiguration
    private let version: String
    private let log: AgentLog
    private let servesControl: Bool
    private let lock: HeldLock
    private let exchanges: [AsyncHTTPExchange]
    private let connections: [UserConnection]
    let supervisors: [RealmSupervisor]
    let sessions: [String: UserSession]
    let database: MetadataDatabase
    private let events: AgentEvents
    let pluginRegistry: PluginRegistry

    /// Takes the data directory, and puts everything together without starting it.
    ///
    /// - Throws: `AgentLock.Failure.held` if another agent works on the directory.
    package static func prepare(
        _ configuration: AgentConfiguration,
        version: String,
        log: AgentLog,
        servesControl: Bool = true
    ) throws -> AgentService {
        let directory = DataDirectory(path: configuration.daemon.dataDirectory)
        try directory.prepare()
        let lock = HeldLock(try AgentLock(path: directory.lock))
        let database = try MetadataDatabase(path: directory.metadata)
        let events = AgentEvents()
        let plugins = PluginRegistry(configuration.plugins, log: log, events: events)
        var parts = Parts(
            version: version,
            log: log,
            database: database,
            events: events,
            recoveredDirectory: directory.recovered,
            plugins: plugins
        )
        for app in configuration.apps { try parts.add(app) }
        for user in configuration.users { parts.add(user) }
        for realm in configuration.realms where realm.isEnabled { parts.add(realm) }
        return AgentService(
            configuration: configuration,
            version: version,
            log: log,
            servesControl: servesControl,
            lock: lock,
            exchanges: parts.apps.values.map(\.exchange),
            connections: parts.connections,
            supervisors: parts.supervisors,
            sessions: parts.users.mapValues(\.session),
            database: database,
            events: events,
            pluginRegistry: plugins
        )
    }
}

extension AgentService: CustomStringConvertible {
    /// Short: the lifecycle library puts it into its messages.
    package var description: String { "agent" }
}

/// Keeps the lock until it is released; at the latest until nobody refers to it any more.
private final class HeldLock: Sendable {
    private let lock: Mutex<AgentLock?>

    init(_ lock: consuming AgentLock) {
        self.lock = Mutex(lock)
    }

    func release() {
        lock.withLock { $0 = nil }
    }
}

// MARK: Running

extension AgentService {
    package func run() async throws {
        let logger = log.logger("Agent")
        // Servers and tasks that are over may refer to the service for a moment longer.
        defer { lock.release() }
        try await withThrowingTaskGroup { group in
            group.addTask { await runRealms(supervisors) }
            group.addTask { await healthKeeper.run() }
            group.addTask { try await serveMetrics() }
            defer { group.cancelAll() }
            // Without any realm, too, this ends only with an error or with the agent.
            try await cancelWhenGracefulShutdown { try await serveControl() }
            ServiceManager().reportStopping()
            await finishRealms()
        }
        for exchange in exchanges { await exchange.shutdown() }
        logger.notice("stopped")
    }

    /// Brings the realms up, syncs them once, and stops: what `sync` does where no agent runs.
    package func syncOnce(realms names: [String], timeout: Duration?) async -> [SyncReport] {
        defer { lock.release() }
        let selected = supervisors.filter { names.contains($0.configuration.name) }
        let reports = await withTaskGroup { group in
            group.addTask { await runRealms(selected) }
            let reports = await Self.sync(selected, timeout)
            group.cancelAll()
            return reports
        }
        for exchange in exchanges { await exchange.shutdown() }
        return reports.sorted { $0.realm < $1.realm }
    }

    private static func sync(
        _ supervisors: [RealmSupervisor],
        _ timeout: Duration?
    ) async -> [SyncReport] {
        await withTaskGroup { group in
            for supervisor in supervisors {
                group.addTask { await supervisor.sync(timeout: timeout) }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
    }

    private func runRealms(_ supervisors: [RealmSupervisor]) async {
        await withTaskGroup { group in
            for connection in connections { group.addTask { await connection.run() } }
            for supervisor in supervisors { group.addTask { await supervisor.run() } }
        }
    }

    /// The last uploads, and a word to the server, each realm within its time.
    private func finishRealms() async {
        await withTaskGroup { group in
            for supervisor in supervisors { group.addTask { await supervisor.finish() } }
        }
    }

    private var healthKeeper: HealthKeeper {
        let manager = ServiceManager()
        return HealthKeeper(
            period: HealthKeeper.period(watchdog: manager.watchdogPeriod),
            time: .continuous,
            examine: { await status().realms },
            reportAlive: manager.reportAlive,
            reportSummary: manager.report(status:)
        )
    }

    private func serveControl() async throws {
        let logger = log.logger("Agent.Control")
        let socket = configuration.daemon.controlSocket
        let server = ControlServer(
            socketPath: socket,
            backend: self,
            access: .ofProcess(group: configuration.daemon.controlGroup),
            onListening: {
                let manager = ServiceManager()
                manager.reportReady()
                logger.notice(
                    "ready",
                    metadata: ["realms": "\(supervisors.count)", "socket": "\(socket)"]
                )
                if supervisors.isEmpty {
                    logger.notice("no realm is configured; declare one under realms, and restart")
                }
            }
        )
        do {
            try await server.run()
        } catch is CancellationError {
        } catch {
            throw ControlSocketFailure(path: socket, reason: "\(error)")
        }
    }
}

// MARK: Metrics

extension AgentService {
    /// Serves metrics over TCP, if the configuration asks for it.
    private func serveMetrics() async throws {
        guard let address = configuration.daemon.metricsAddress else { return }
        let server = MetricsServer(host: address.host, port: address.port, metrics: metrics)
        do {
            try await server.run()
        } catch {
            // Serving the agent's purpose matters more than being watched.
            log.logger("Agent.Metrics").error(
                "metrics cannot be served",
                metadata: ["address": "\(address)", "detail": "\(error)"]
            )
        }
    }
}

/// The control socket cannot be served.
struct ControlSocketFailure: Error, CustomStringConvertible {
    let path: String
    let reason: String

    var description: String {
        "\(path) cannot be served: \(reason); set agent.control_socket to a path that the agent "
            + "may create"
    }
}

extension AgentService: ControlBackend {
    package func status() async -> StatusReport {
        var realms: [RealmStatus] = []
        for supervisor in supervisors { realms.append(await supervisor.status()) }
        for realm in configuration.realms where !realm.isEnabled {
            realms.append(.disabled(realm))
        }
        return StatusReport(
            version: version,
            pid: ProcessInfo.processInfo.processIdentifier,
            realms: realms.sorted { $0.name < $1.name }
        )
    }

    package func sync(
        realm: String,
        timeout: Duration?
    ) async throws(ControlError) -> SyncReport {
        return try await supervisor(of: realm).sync(timeout: timeout)
    }

    package func events(after position: UInt64?, follow: Bool) -> AsyncStream<EventRecord> {
        events.records(after: position, follow: follow)
    }

    package func metrics() async -> AgentMetrics {
        AgentMetrics(await status(), events.totals)
    }

    package func logLevels() -> LogReport {
        log.report
    }

    package func setLogLevel(_ change: LogLevelChange) throws(ControlError) -> LogReport {
        guard let level = LogLevel(rawValue: change.level) else {
            let words = LogLevel.allCases.map(\.rawValue).joined(separator: ", ")
            throw .malformed("\"\(change.level)\" is no log level; use one of \(words)")
        }
        log.set(level, of: change.category)
        let category = change.category ?? "everything else"
        log.logger("Agent").notice(
            "log level changed",
            metadata: ["level": "\(level.rawValue)", "of": "\(category)"]
        )
        return log.report
    }

    func supervisor(of realm: String) throws(ControlError) -> RealmSupervisor {
        if let supervisor = supervisors.first(where: { $0.configuration.name == realm }) {
            return supervisor
        }
        let isDeclared = configuration.realms.contains { $0.name == realm }
        throw isDeclared ? .disabledRealm(realm) : .unknownRealm(realm)
    }
}

extension RealmStatus {
    fileprivate static func disabled(_ realm: RealmConfiguration) -> RealmStatus {
        var status = RealmStatus(
            name: realm.name,
            path: realm.path,
            app: realm.user.app.name,
            user: realm.user.name,
            partition: "",
            state: .disabled
        )
        status.cause = "configuration"
        return status
    }
}
