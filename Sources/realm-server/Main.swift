import ArgumentParser
import Glibc

@main
struct RealmServerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "realm-server",
        abstract: "The backend that Realm apps and realm-agent sync with.",
        version: serverVersion,
        subcommands: [
            Serve.self, Check.self, Reload.self, Config.self, Apps.self, Users.self, APIKeys.self,
            Sync.self, Rules.self, Realms.self,
        ]
    )

    /// Ends with the exit codes that are documented, usage errors included.
    static func main() async {
        do {
            var command = try parseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch  where exitCode(for: error) == .validationFailure {
            StandardError.write(fullMessage(for: error))
            Glibc.exit(ConfigurationFile.failure.rawValue)
        } catch {
            exit(withError: error)
        }
    }
}
