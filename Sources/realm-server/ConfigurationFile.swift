import ArgumentParser
import FoundationEssentials
import Platform
import Server
import Settings

/// The option that names the configuration, and what every command does with it.
struct ConfigurationFile: ParsableArguments {
    @Option(name: .customLong("config"), help: "The configuration file.")
    var path = "/etc/realm-server.yaml"

    /// What is wrong with the configuration itself ends a command with this status.
    static let failure = ExitCode(2)

    /// The configuration; what is wrong with it goes to standard error, all at once.
    func read() throws -> ServerConfiguration {
        let bytes: [UInt8]
        do {
            bytes = try Array(Data(contentsOf: URL(filePath: path)))
        } catch {
            StandardError.write("\(path): error: cannot be read: \(reason(error))")
            throw Self.failure
        }
        let (configuration, diagnostics) = ServerConfigurationReader.read(bytes, file: path)
        for diagnostic in diagnostics { StandardError.write(diagnostic.description) }
        guard let configuration else { throw Self.failure }
        return configuration
    }

    private func reason(_ error: any Error) -> String {
        switch (error as? CocoaError)?.code {
        case .fileReadNoSuchFile?: "there is no such file; name one with --config"
        case .fileReadNoPermission?: "permission denied"
        default: "\(error)"
        }
    }
}
