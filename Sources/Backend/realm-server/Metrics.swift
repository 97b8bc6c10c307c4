import ArgumentParser
import ServerHTTP

struct Metrics: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print the metrics of a running server, in the text form of OpenMetrics."
    )

    @OptionGroup var file: ConfigurationFile

    func run() async throws {
        let response = try await file.call(.get, "metrics")
        print(String(decoding: response, as: UTF8.self), terminator: "")
    }
}
