import Agent
import ArgumentParser
import Config
import Control
import Glibc
import Platform
import RealmSync
import Settings

struct SyncCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync",
        abstract: "Sync now, until everything is uploaded and downloaded.",
        discussion: """
            Works through the running agent, or without one if none runs.
            Exit status: 0 done, 1 failed, 2 configuration, 3 no network or no server, 4 log-in, \
            5 client reset required, 124 timed out.
            """
    )

    @OptionGroup var files: ConfigurationOptions

    @Argument(help: "The realms to sync; without one, all enabled realms.")
    var realms: [String] = []

    @Flag(inversion: .prefixedNo, help: "Wait for the end, or only start the sync.")
    var wait = true

    @Option(help: "The limit on the wait, such as 30s or 5m.")
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
                let remedy = report.remedy.map { "; \($0)" } ?? ""
                StandardError.print(
                    "\(report.realm): \(report.outcome.rawValue): \(detail)\(remedy)"
                )
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
        guard !realms.isEmpty else { return enabled }
        for realm in realms where !enabled.contains(realm) {
            throw CommandFailure(
                status: .configuration,
                message: ControlError.disabledRealm(realm).description
            )
        }
        return Array(Set(realms)).sorted()
    }

    /// Uses the running agent, which its lock reveals; else runs an agent of its own.
    ///
    /// If the lock is held and no agent responds, another command like this one runs, or the agent
    /// is just starting: their turn ends soon.
    private func reports(
        for names: [String],
        _ configuration: AgentConfiguration
    ) async throws -> [SyncReport] {
        let turn = Turn(timeout: timeout?.duration ?? .seconds(60))
        while true {
            do {
                return try await alone(names, configuration, turn.rest(of: timeout?.duration))
            } catch DirectoryLock.Failure.held(let path) {
                do throws(ControlError) {
                    return try await throughAgent(names, configuration)
                } catch {
                    guard error.code == "agent.not_running" else { throw CommandFailure(error) }
                    guard await turn.wait() else {
                        throw CommandFailure(
                            status: timeout == nil ? .unavailable : .timedOut,
                            message: DirectoryLock.Failure.held(path: path).description
                        )
                    }
                }
            } catch {
                throw CommandFailure(preparing: error)
            }
        }
    }

    private func alone(
        _ names: [String],
        _ configuration: AgentConfiguration,
        _ timeout: Duration?
    ) async throws -> [SyncReport] {
        DescriptorLimit.raise()
        let service = try AgentService.prepare(
            configuration,
            version: agentVersion,
            log: AgentLog(configuration.daemon.log, atLeast: .error),
            servesControl: false
        )
        guard !json else { return await service.syncOnce(realms: names, timeout: timeout) }
        return await TransferDisplay.showing(
            names,
            from: { realm, note in
                for await report in try await service.progress(TransferDisplay.request, of: realm) {
                    await note(report)
                }
            },
            { await service.syncOnce(realms: names, timeout: timeout) }
        )
    }

    private func throughAgent(
        _ names: [String],
        _ configuration: AgentConfiguration
    ) async throws(ControlError) -> [SyncReport] {
        let client = ControlClient(socketPath: configuration.daemon.controlSocket)
        // Without a wait the timeout is zero: the agent continues the sync.
        let limit = wait ? timeout?.duration : .zero
        let results = await TransferDisplay.showing(
            wait && !json ? names : [],
            from: { realm, note in
                try await client.progress(TransferDisplay.request, of: realm) { await note($0) }
            },
            {
                await withTaskGroup { group in
                    for name in names {
                        group.addTask { () -> Result<SyncReport, ControlError> in
                            do throws(ControlError) {
                                return .success(try await client.sync(realm: name, timeout: limit))
                            } catch {
                                return .failure(error)
                            }
                        }
                    }
                    return await group.reduce(into: []) { $0.append($1) }
                }
            }
        )
        var reports: [SyncReport] = []
        for result in results { reports.append(try result.get()) }
        return wait ? reports.sorted { $0.realm < $1.realm } : []
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

extension CommandFailure {
    init(_ error: ControlError) {
        let status: ExitStatus =
            switch error.code {
            case "agent.not_running", "agent.no_answer", "agent.forbidden": .unavailable
            case "realm.unknown", "realm.disabled", "auth.unknown_user": .configuration
            case "auth.unavailable", "connection.failed", "connection.tls_failed": .unavailable
            case "auth.refused", "auth.unknown_app", "auth.logged_out": .loginRequired
            default: .failed
            }
        self.init(status: status, message: error.description)
    }
}
