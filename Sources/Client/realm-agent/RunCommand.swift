import Agent
import ArgumentParser
import Config
import Control
import Glibc
import Logging
import Platform
import RealmSync
import ServiceLifecycle
import UnixSignals

struct RunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Run the agent in the foreground until SIGTERM or SIGINT.",
        discussion: "Exit status: 0 stopped, 1 failed, 2 configuration."
    )

    @OptionGroup var files: ConfigurationOptions

    func run() async throws {
        Heaps.limit()
        CoreDumps.forbid()
        let configuration = try files.load()
        // Only the agent and its group may use the files that it creates (interfaces, 1).
        umask(0o007)
        let log = AgentLog(configuration.daemon.log)
        requireDescriptors(for: configuration, log)
        let service = try await prepare(configuration, log)
        let group = ServiceGroup(
            configuration: .init(
                services: [
                    .init(service: service), .init(service: ReloadOnSignal(agent: service)),
                ],
                gracefulShutdownSignals: [.sigterm, .sigint],
                logger: log.logger("Agent.Lifecycle")
            )
        )
        do {
            try await group.run()
        } catch {
            throw CommandFailure(status: .failed, message: "\(error)")
        }
    }

    /// Warns of a limit with which files or connections will fail.
    private func requireDescriptors(for configuration: AgentConfiguration, _ log: AgentLog) {
        let limit = DescriptorLimit.raise()
        let needed =
            Self.ownDescriptors
            + Self.descriptorsPerRealm * configuration.realms.count(where: \.isEnabled)
        guard limit < needed else { return }
        log.logger("Agent").warning(
            "few file descriptors",
            metadata: [
                "code": "agent.few_descriptors", "limit": "\(limit)", "needed": "\(needed)",
            ]
        )
    }

    /// 3 024 were open for 500 realms (`Benchmarks/many.py`).
    private static let descriptorsPerRealm = 6
    /// Connections of users, the control socket, and files that are open for a moment.
    private static let ownDescriptors = 64

    /// A `sync` without an agent locks the data directory only briefly; another agent keeps it
    /// locked. A full disk is waited for: it would fill the journal with starts that fail.
    private func prepare(
        _ configuration: AgentConfiguration,
        _ log: AgentLog
    ) async throws -> AgentService {
        let turn = Turn(timeout: .seconds(60))
        var isWaiting = false
        var isShortOfSpace = false
        while true {
            do {
                return try AgentService.prepare(
                    configuration,
                    version: agentVersion,
                    log: log,
                    files: AgentConfigurationLoader(mainFile: files.config)
                )
            } catch DirectoryLock.Failure.held(let path) {
                guard await !isServed(configuration), await turn.wait() else {
                    let failure = DirectoryLock.Failure.held(path: path)
                    throw CommandFailure(status: .failed, message: failure.description)
                }
                if !isWaiting {
                    log.logger("Agent").notice("waiting for another command to end")
                    isWaiting = true
                }
            } catch let error as MetadataDatabase.Inaccessible where error.isDiskFull {
                if !isShortOfSpace {
                    log.logger("Agent").error(
                        "waiting for space on the disk",
                        metadata: ["code": "agent.disk_full", "reason": "\(error)"]
                    )
                    isShortOfSpace = true
                }
                ServiceManager().reportWaiting("waiting for space on the disk")
                try await Task.sleep(for: .seconds(1))
            } catch {
                throw CommandFailure(preparing: error)
            }
        }
    }

    private func isServed(_ configuration: AgentConfiguration) async -> Bool {
        let client = ControlClient(socketPath: configuration.daemon.controlSocket)
        do throws(ControlError) {
            _ = try await client.status()
            return true
        } catch {
            return error.code != "agent.not_running"
        }
    }
}

/// Reloads the configuration at each SIGHUP.
private struct ReloadOnSignal: Service {
    let agent: AgentService

    func run() async throws {
        await cancelWhenGracefulShutdown {
            for await _ in await UnixSignalsSequence(trapping: .sighup) {
                // The mistakes are in the log; the agent keeps its configuration.
                _ = try? await agent.reload()
            }
        }
    }
}
