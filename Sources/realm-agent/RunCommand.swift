import Agent
import ArgumentParser
import Config
import Glibc
import Logging
import Platform
import ServiceLifecycle
import UnixSignals

struct RunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Runs the agent in the foreground until SIGTERM or SIGINT.",
        discussion: "Exit status: 0 stopped, 1 failed, 2 configuration."
    )

    @OptionGroup var files: ConfigurationOptions

    func run() async throws {
        let configuration = try files.load()
        // What is created belongs to the group too, and to nobody else (interfaces, 1).
        umask(0o007)
        let log = AgentLog(configuration.daemon.log)
        let service: AgentService
        do {
            service = try AgentService.prepare(configuration, version: agentVersion, log: log)
        } catch {
            throw CommandFailure(status: .failed, message: "\(error)")
        }
        let group = ServiceGroup(
            configuration: .init(
                services: [.init(service: service)],
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
}
