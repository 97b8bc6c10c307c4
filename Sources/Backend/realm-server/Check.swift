import ArgumentParser
import FoundationEssentials
import Platform
import Scheduling
import Server
import ServerConfig
import ServerStorage

struct Check: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Validate the configuration and the files that it names.",
        discussion: """
            Checks schemas, keys, certificates and programs, and prints every mistake with its \
            position and remedy. Exit status: 0 if it is good, 2 if it is not; with --connect 1 if \
            the server could not use its database.
            """
    )

    @OptionGroup var file: ConfigurationFile

    @Flag(
        help: ArgumentHelp(
            "Also connect to the database of a store on PostgreSQL.",
            discussion: "Tells what it lacks: rights, encoding, connections, standbys, TLS."
        )
    )
    var connect = false

    func run() throws {
        let secrets = SecretReader(environment: ProcessInfo.processInfo.environment)
        let configuration = try file.read(NamedFiles(secrets))
        print("\(file.path): good")
        print("  listens on \(configuration.listen), store \(configuration.storage)")
        for app in configuration.apps { print("  app \(app.id)") }
        if configuration.apps.isEmpty { print("  no app: \(NoApp.remedy)") }
        if connect { try checkDatabase(configuration.storage, secrets) }
    }

    private func checkDatabase(_ storage: StorageLocation, _ secrets: SecretReader) throws {
        guard case .postgreSQL(let location) = storage else {
            return print("  the embedded store needs no connection")
        }
        let findings = DatabaseCheck.run(location, secrets) {
            WallTime.now().millisecondsSince1970
        }
        for finding in findings { print(finding) }
        guard findings.allSatisfy({ $0.level != .problem }) else { throw ExitCode.failure }
    }
}

/// The remedy for a server without apps.
enum NoApp {
    static let remedy = "add one under \"apps\", see etc/realm-server.yaml"
}
