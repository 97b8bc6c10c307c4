import ArgumentParser
import Server

struct Check: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Validate the configuration, and say everything that is wrong with it.",
        discussion: "Exit status: 0 if it is good, 2 if it is not."
    )

    @OptionGroup var file: ConfigurationFile

    func run() throws {
        let configuration = try file.read()
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
