import ArgumentParser
import FoundationEssentials
import Server
import ServerConfig

struct Check: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Validate the configuration and the files that it names.",
        discussion: """
            Checks schemas, keys, certificates and programs, and prints every mistake with its \
            position and remedy. Exit status: 0 if it is good, 2 if it is not.
            """
    )

    @OptionGroup var file: ConfigurationFile

    func run() throws {
        let secrets = SecretReader(environment: ProcessInfo.processInfo.environment)
        let configuration = try file.read(NamedFiles(secrets))
        print("\(file.path): good")
        print("  listens on \(configuration.listen), store \(configuration.storage)")
        for app in configuration.apps { print("  app \(app.id)") }
        if configuration.apps.isEmpty { print("  no app: \(NoApp.remedy)") }
    }
}

/// The remedy for a server without apps.
enum NoApp {
    static let remedy = "add one under \"apps\", see etc/realm-server.yaml"
}
