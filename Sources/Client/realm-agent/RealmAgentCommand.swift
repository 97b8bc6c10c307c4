import ArgumentParser
import Glibc
import Platform

@main
struct RealmAgentCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "realm-agent",
        abstract: "Keep local realms, plain SQLite files, in sync with an app's backend.",
        version: agentVersion,
        subcommands: [
            RunCommand.self, StatusCommand.self, SyncCommand.self, WaitCommand.self,
            ProgressCommand.self, SuspendCommand.self, ResumeCommand.self,
            ReconnectCommand.self, UsersCommand.self, CopyCommand.self, DeleteCommand.self,
            SubscriptionsCommand.self, RejectsCommand.self, IngestCommand.self, SchemaCommand.self,
            CheckCommand.self, DoctorCommand.self, SupportBundleCommand.self,
            ConfigCommand.self, ReloadCommand.self,
            EventsCommand.self, LogLevelCommand.self, PluginsCommand.self,
            ResetCommand.self,
            VerifyCommand.self, RestartCommand.self,
        ]
    )

    /// Ends with the documented exit codes, also for usage errors (interfaces, 5).
    static func main() async {
        do {
            var command = try parseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch let failure as CommandFailure {
            if let message = failure.message { StandardError.print("realm-agent: \(message)") }
            Glibc.exit(failure.status.rawValue)
        } catch  where exitCode(for: error) == .validationFailure {
            StandardError.print(fullMessage(for: error))
            Glibc.exit(ExitStatus.configuration.rawValue)
        } catch {
            exit(withError: error)
        }
    }
}
