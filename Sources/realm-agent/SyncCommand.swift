import Agent
import ArgumentParser
import Config
import Control
import Glibc
import Platform
import Settings

struct SyncCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync",
        abstract: "Syncs now, and ends when everything is uploaded and downloaded.",
        discussion: """
            Works through the running agent, or by itself where none runs.
            Exit status: 0 done, 1 failed, 2 configuration, 3 no network or no server, 4 log-in, \
            5 client reset required, 124 timed out.
            """
    )

    @OptionGroup var files: ConfigurationOptions

    @Argument(help: "The realms to sync; all that are enabled if none is named.")
    var realms: [String] = []

    @Flag(inversion: .prefixedNo, help: "Wait for the end; without it the sync only starts.")
    var wait = true

    @Option(help: "Give up after this long, such as 30s or 5m.")
    var timeout: TimeoutArgument?

    @Flag(help: "Print a summary as JSON lines.")
    var json = false

    func run() async throws {
        let configuration = try files.load()
        let names = try selected(from: configuration)
        umask(0o007)
        let reports = try await reports(for: names, configuration)
        for report in reports {
            if json {
                print(try report.controlJSON())
            } else if let detail = report.detail {
                StandardError.print("\(report.realm): \(report.outcome.rawValue): \(detail)")
            }
        }
        // The first realm that is not done decides.
        guard let failed = reports.first(where: { $0.outcome != .done }) else { return }
        throw CommandFailure(status: ExitStatus(failed.outcome), message: nil)
    }

    private func selected(from configuration: AgentConfiguration) throws -> [String] {
        for realm in realms where !configuration.realms.contains(where: { $0.name == realm }) {
            throw CommandFailure(
                status: .configuration,
                message: ControlError.unknownRealm(realm).description
            )
        }
        let enabled = configuration.realms.filter(\.isEnabled).map(\.name)
        return realms.isEmpty ? enabled : realms
    }

    /// Through the running agent, whose lock says that it runs; else with an agent of our own.
    private func reports(
        for names: [String],
        _ configuration: AgentConfiguration
    ) async throws -> [SyncReport] {
        do {
            let log = AgentLog(configuration.daemon.log, atLeast: .error)
            let service = try AgentService.prepare(
                configuration,
                version: agentVersion,
                log: log,
                servesControl: false
            )
            return try await service.syncOnce(realms: names, timeout: timeout?.duration)
        } catch AgentLock.Failure.held {
            return try await throughAgent(names, configuration)
        } catch {
            throw CommandFailure(status: .failed, message: "\(error)")
        }
    }

    private func throughAgent(
        _ names: [String],
        _ configuration: AgentConfiguration
    ) async throws -> [SyncReport] {
        let client = ControlClient(socketPath: configuration.daemon.controlSocket)
        // Not to wait is to wait for no time at all: the agent goes on by itself.
        let limit = wait ? timeout?.duration : .zero
        do throws(ControlError) {
            var reports: [SyncReport] = []
            for name in names {
                reports.append(try await client.sync(realm: name, timeout: limit))
            }
            return wait ? reports : []
        } catch {
            throw CommandFailure(
                status: error.code == "agent.not_running" ? .unavailable : .failed,
                message: error.description
            )
        }
    }
}

/// A duration as configurations write it.
struct TimeoutArgument: ExpressibleByArgument {
    let duration: Duration

    init?(argument: String) {
        guard let duration = DurationText.parse(argument), duration > .zero else { return nil }
        self.duration = duration
    }
}

extension ExitStatus {
    init(_ outcome: SyncReport.Outcome) {
        self =
            switch outcome {
            case .done: .done
            case .failed: .failed
            case .configuration: .configuration
            case .offline: .unavailable
            case .loginRequired: .loginRequired
            case .resetRequired: .resetRequired
            case .timedOut: .timedOut
            }
    }
}
