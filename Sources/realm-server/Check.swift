import ArgumentParser
import FoundationEssentials
import Server

struct Check: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Validate the configuration and the files that it names.",
        discussion: """
            Schemas, keys, certificates and programs are looked at, and everything that is wrong is \
            said at once, with its place and what to do. Exit status: 0 if it is good, 2 if it is not.
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

/// What to say about a server that serves nothing.
enum NoApp {
    static let remedy = "add one under \"apps\", see etc/realm-server.yaml"
}
