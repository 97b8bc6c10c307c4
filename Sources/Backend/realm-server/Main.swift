import ArgumentParser
import Glibc
import Platform

@main
struct RealmServerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "realm-server",
        abstract: "The sync backend of Realm apps and realm-agent.",
        version: serverVersion,
        subcommands: [
            Serve.self, Check.self, Reload.self, Config.self, Apps.self, Users.self, APIKeys.self,
            Sync.self, Metrics.self, Rules.self, Realms.self, Processes.self, StoreCommand.self,
            Import.self, ExportCommand.self, Health.self, ConsoleCommand.self,
        ]
    )

    /// Ends with the documented exit codes, also for usage errors.
    static func main() async {
        do {
            var command = try parseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch  where exitCode(for: error) == .validationFailure {
            StandardError.print(fullMessage(for: error))
            Glibc.exit(ConfigurationFile.failure.rawValue)
        } catch {
            exit(withError: error)
        }
    }
}
