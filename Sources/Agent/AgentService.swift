import AppServices
package import Config
package import Control
import FoundationEssentials
import LocalRealm
import Logging
import NIOSSL
import Platform
import Plugins
import RealmSync
import Scheduling
import ServiceLifecycle
import Settings
import SyncClient
import SyncProtocol
import Transport

/// The agent: the services that the configuration declares.
///
/// The composition root: it assembles the concrete types, and contains no rules.
package struct AgentService: Service, Sendable {
    let configuration: AgentConfiguration
    private let version: String
    private let log: AgentLog
    private let servesControl: Bool
    private let lock: HeldDirectoryLock
    let running: RunningAgent
    private let files: AgentConfigurationLoader?
    let database: MetadataDatabase
    private let events: AgentEvents
    let pluginRegistry: PluginRegistry
    let stalled = StalledRealms()

    /// Takes the data directory, and puts everything together without starting it; a reload reads
    /// the files, if there are any.
    ///
    /// - Throws: `DirectoryLock.Failure.held` if another agent works on the directory.
    package static func prepare(
        _ configuration: AgentConfiguration,
        version: String,
        log: AgentLog,
        files: AgentConfigurationLoader? = nil,
        servesControl: Bool = true
    ) throws -> AgentService {
        let directory = DataDirectory(path: configuration.daemon.dataDirectory)
        try directory.prepare()
        let lock = HeldDirectoryLock(try DirectoryLock(path: directory.lock))
        let database = try MetadataDatabase(path: directory.metadata)
        let events = AgentEvents()
        let plugins = PluginRegistry(configuration.plugins, log: log, events: events)
        var parts = Parts(
            version: version,
            log: log,
            database: database,
            events: events,
            recoveredDirectory: directory.recovered,
            plugins: plugins,
            poorNetwork: configuration.network.poor
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
            running: RunningAgent(configuration, parts),
            files: files,
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

// MARK: Running

extension AgentService {
    package func run() async throws {
        let logger = log.logger("Agent")
        // Servers and tasks that have ended may still refer to the service for a moment.
        defer { lock.release() }
        try await withThrowingTaskGroup { group in
            group.addTask { await running.run() }
            group.addTask { await healthKeeper.run() }
            group.addTask { await log.run() }
            group.addTask { try await serveMetrics() }
            defer { group.cancelAll() }
            // Without any realm, too, this ends only with an error or with the agent.
            try await cancelWhenGracefulShutdown { try await serveControl() }
            ServiceManager().reportStopping()
            await finishRealms(await running.realms)
        }
        await running.close()
        logger.notice("stopped")
    }

    /// Opens the realms, syncs them once, and stops: `sync` without a running agent.
    package func syncOnce(realms names: [String], timeout: Duration?) async -> [SyncReport] {
        defer { lock.release() }
        let selected = await running.realms.filter { names.contains($0.name) }
        let reports = await withTaskGroup { group in
            group.addTask { await running.run(realms: names) }
            group.addTask { await log.run() }
            let reports = await Self.sync(selected, timeout)
            group.cancelAll()
            return reports
        }
        await running.close()
        return reports.sorted { $0.realm < $1.realm }
    }

    private static func sync(
        _ realms: [ConfiguredRealm],
        _ timeout: Duration?
    ) async -> [SyncReport] {
        await withTaskGroup { group in
            for realm in realms {
                group.addTask {
                    SyncReport(
                        realm: realm.name,
                        user: realm.configuration.user.name,
                        await realm.realm.sync(timeout: timeout)
                    )
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
    }

    /// The last uploads, and a word to the server, each realm within its time.
    private func finishRealms(_ realms: [ConfiguredRealm]) async {
        await withTaskGroup { group in
            for realm in realms { group.addTask { await realm.realm.finish() } }
        }
    }

    private var healthKeeper: HealthKeeper {
        let manager = ServiceManager()
        let logger = log.logger("Agent")
        return HealthKeeper(
            period: HealthKeeper.period(watchdog: manager.watchdogPeriod),
            time: .continuous,
            stallLimit: manager.watchdogPeriod ?? .seconds(60),
            uploadLimit: configuration.daemon.stalledAfter,
            examine: { await running.health() },
            reportHanging: { realms in
                guard !realms.isEmpty else { return logger.notice("work on the files continues") }
                logger.error(
                    "work on a file makes no progress",
                    metadata: ["realms": "\(realms.joined(separator: ", "))"]
                )
            },
            reportStalled: { [stalled] realms in
                stalled.set(realms)
                guard !realms.isEmpty else { return logger.notice("uploads continue") }
                logger.warning(
                    "no upload is acknowledged",
                    metadata: ["realms": "\(realms.joined(separator: ", "))"]
                )
            },
            slept: MachineSleep.total,
            reportResumed: { duration in
                logger.notice(
                    "the machine has resumed; realms reconnect",
                    metadata: ["slept": "\(duration.forPeople)"]
                )
                await self.reconnect()
            },
            reportAlive: manager.reportAlive,
            reportSummary: manager.report(status:)
        )
    }

    private func serveControl() async throws {
        let logger = log.logger("Agent.Control")
        let socket = configuration.daemon.controlSocket
        let realmCount = await running.realms.count
        let group = configuration.daemon.controlGroup
        let access = ControlAccess.ofProcess(group: group)
        // The package makes the default one; who builds the agent may do without.
        if !access.hasGroup, group != DaemonConfiguration.standardControlGroup {
            logger.warning(
                "the control group does not exist",
                metadata: ["code": "agent.unknown_group", "group": "\(group)"]
            )
        }
        let server = ControlServer(
            socketPath: socket,
            backend: self,
            access: access,
            onListening: {
                let manager = ServiceManager()
                manager.reportReady()
                logger.notice(
                    "ready",
                    metadata: ["realms": "\(realmCount)", "socket": "\(socket)"]
                )
                if realmCount == 0 {
                    logger.notice("no realm is configured; declare one under realms, and reload")
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
    /// Serves metrics over TCP, if configured.
    private func serveMetrics() async throws {
        guard let address = configuration.daemon.metricsAddress else { return }
        let server = MetricsServer(
            host: address.host,
            port: address.port,
            metrics: metrics,
            readiness: { await readiness() }
        )
        do {
            try await server.run()
        } catch {
            // Sync is more important than metrics: the agent keeps running.
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
        StatusReport(
            version: version,
            pid: ProcessInfo.processInfo.processIdentifier,
            generation: await running.generation,
            realms: await running.status().sorted { $0.name < $1.name }
        )
    }

    package func sync(
        realm: String,
        timeout: Duration?
    ) async throws(ControlError) -> SyncReport {
        let configured = try await self.realm(realm)
        let result = await configured.realm.sync(timeout: timeout)
        return SyncReport(realm: realm, user: configured.configuration.user.name, result)
    }

    package func reload() async throws(ControlError) -> ReloadReport {
        let logger = log.logger("Agent")
        let manager = ServiceManager()
        manager.reportReloading()
        // The agent keeps serving, whether or not the reload succeeds.
        defer { manager.reportReady() }
        guard let files else { throw .notReloadable }
        let result = files.load()
        for diagnostic in result.diagnostics {
            let level: Logger.Level = diagnostic.severity == .error ? .error : .warning
            logger.log(level: level, "\(diagnostic)", metadata: ["code": "\(diagnostic.code.word)"])
        }
        guard let configuration = result.configuration else {
            throw .refusedConfiguration(result.diagnostics.map(\.description))
        }
        let difference: ConfigurationDifference
        do {
            difference = try await running.follow(configuration)
        } catch {
            throw .refusedConfiguration(["\(error)"])
        }
        manager.report(status: HealthKeeper.summary(of: await running.health()))
        logger.notice(
            "configuration reloaded",
            metadata: [
                "applied": "\(difference.applied.joined(separator: " "))",
                "needs_restart": "\(difference.needsRestart.joined(separator: " "))",
            ]
        )
        events.publish(
            AgentEvent(
                realm: nil,
                .reloaded(
                    ReloadPayload(
                        applied: difference.applied,
                        needRestart: difference.needsRestart
                    )
                )
            )
        )
        return ReloadReport(
            applied: difference.applied,
            unchanged: difference.unchanged,
            needsRestart: difference.needsRestart,
            warnings: result.diagnostics.map(\.description)
        )
    }

    package func events(after position: UInt64?, follow: Bool) -> AsyncStream<EventRecord> {
        events.records(after: position, follow: follow)
    }

    package func metrics() async -> AgentMetrics {
        AgentMetrics(await status(), events.totals, stalled: Set(stalled.names))
    }

    package func logLevels() -> LogReport {
        log.report
    }

    package func setLogLevel(_ change: LogLevelChange) throws(ControlError) -> LogReport {
        guard let level = LogLevel(rawValue: change.level) else {
            let words = LogLevel.allCases.map(\.rawValue).joined(separator: ", ")
            throw .malformed("\"\(change.level)\" is not a log level; use one of \(words)")
        }
        if let category = change.category, !LogCategory.names.contains(category) {
            let remedy = Suggestion.remedy(for: category, among: LogCategory.names)
            throw .malformed("there is no log category \"\(category)\"; \(remedy)")
        }
        log.set(level, of: change.category)
        let category = change.category ?? "everything else"
        log.logger("Agent").notice(
            "log level changed",
            metadata: ["level": "\(level.rawValue)", "of": "\(category)"]
        )
        return log.report
    }

    func realm(_ name: String) async throws(ControlError) -> ConfiguredRealm {
        if let realm = await running.realms.first(where: { $0.name == name }) { return realm }
        let isDeclared = await running.configuration.realms.contains { $0.name == name }
        throw isDeclared ? .disabledRealm(name) : .unknownRealm(name)
    }
}
