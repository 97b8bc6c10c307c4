import ArgumentParser
import FoundationEssentials
import Glibc
import Logging
import Platform
import Scheduling
import Server
import ServerConfig
import ServerHTTP
import ServerStorage
import ServerStore
import ServiceLifecycle
import Settings
import Surroundings
import UnixSignals

struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run the server in the foreground, until SIGTERM or SIGINT.",
        discussion: """
            Exit status: 0 after an orderly stop, 1 if the server cannot start or fails, 2 if the \
            configuration is wrong or the store is not of this version.
            """
    )

    @OptionGroup var file: ConfigurationFile

    @Option(
        help: ArgumentHelp(
            "Write the port to this file once clients can connect.",
            discussion: "For \"listen\" addresses with port 0.",
            valueName: "file"
        )
    )
    var portFile: String?

    func run() async throws {
        Heaps.limit()
        CoreDumps.forbid()
        let configuration = try file.read()
        // Only the owner may use the files that the server creates.
        umask(0o077)
        let settings = LogSettings(level: configuration.log.level.platformLevel)
        LoggingSystem.bootstrap(with: configuration.log, settings)
        // Operators' calls are logged at every log level.
        settings.set(.info, of: Self.auditCategory)
        let logger = Logger(label: "Server")
        do {
            try await serve(configuration, settings, logger)
        } catch let error as ExitCode {
            throw error
        } catch {
            var fields: Logger.Metadata = ["error": "\(error)"]
            if let error = error as? any CodedError { fields["code"] = "\(error.code)" }
            logger.critical("the server cannot run", metadata: fields)
            // systemd does not retry after this exit status.
            let isHopeless = (error as? StoreError)?.kind == .unusable
            throw isHopeless ? ConfigurationFile.failure : ExitCode.failure
        }
    }

    private static let auditCategory = "Audit"

    private func serve(
        _ configuration: ServerConfiguration,
        _ settings: LogSettings,
        _ logger: Logger
    ) async throws {
        if configuration.apps.isEmpty {
            logger.warning("no app to serve", metadata: ["remedy": "\(NoApp.remedy)"])
        }
        let random = RandomSource(SystemRandomNumberGenerator())
        let manager = ServiceManager()
        let secrets = SecretReader(environment: ProcessInfo.processInfo.environment)
        let clock = WallClock { WallTime.now().millisecondsSince1970 }
        let opening = StoreOpening(
            secrets: secrets,
            versionSalts: VersionSalts(random.salt()),
            clock: clock,
            program: serverVersion,
            logger: logger
        )
        let storage = try await opening.openForServer(configuration.storage)
        let tls = try configuration.tls.map { files throws(ServerTLS.Unusable) in
            try ServerTLS(files)
        }
        let server = try await RealmServer(
            configuration,
            store: storage.store,
            backplane: storage.backplane,
            views: storage.views,
            clock: clock,
            random: random,
            secrets: secrets,
            tls: tls,
            isAdministered: true,
            version: serverVersion,
            logger: logger,
            audit: Logger(label: Self.auditCategory),
            setLogLevel: { settings.set($0.platformLevel, of: nil) },
            readConfiguration: { [file] in file.load(NamedFiles(secrets)) }
        ) { [portFile] address in
            if let portFile { PortFile.write(address.port, to: portFile, logger) }
            manager.reportReady()
        }
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: [
                    .init(service: server),
                    .init(service: Hangup(reload: server.reload, manager: manager, logger: logger)),
                ],
                gracefulShutdownSignals: [.sigterm, .sigint],
                logger: logger
            )
        )
        try await group.run()
        manager.reportStopping()
        await storage.close()
        logger.notice("stopped")
    }
}

/// Reloads the configuration on SIGHUP.
private struct Hangup: Service {
    let reload: ConfigurationReload?
    let manager: ServiceManager
    let logger: Logger

    func run() async throws {
        let signals = await UnixSignalsSequence(trapping: .sighup)
        for await _ in signals.cancelOnGracefulShutdown() {
            manager.reportReloading()
            // The outcome is in the log, as after a call on the admin socket.
            _ = try? await reload?.run()
            manager.reportReady()
        }
    }
}

/// Tells other programs which port the system chose.
private enum PortFile {
    /// Appears whole or not at all.
    static func write(_ port: Int, to path: String, _ logger: Logger) {
        do {
            try Data("\(port)\n".utf8).write(to: URL(filePath: path), options: .atomic)
        } catch {
            logger.error("cannot write the port", metadata: ["file": "\(path)"])
        }
    }
}

extension LoggingSystem {
    fileprivate static func bootstrap(
        with configuration: ServerLogConfiguration,
        _ settings: LogSettings
    ) {
        let output =
            configuration.output.flatMap { LogOutput(rawValue: $0.rawValue) }
            ?? LogOutput.detected(environment: ProcessInfo.processInfo.environment)
        let sink = output.sink(identifier: "realm-server")
        bootstrap { AgentLogHandler(category: $0, settings: settings, sink: sink) }
    }
}

extension ServerLogConfiguration.Level {
    fileprivate var platformLevel: LogLevel { LogLevel(rawValue: rawValue) ?? .info }
}
