import ArgumentParser
import ServerConsole
import ServerHTTP

struct Health: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print whether the running server can serve clients.",
        discussion: """
            For health checks of containers, and for people. Exit status: 0 if it can, 1 if it cannot, \
            3 if no server responds.
            """
    )

    @OptionGroup var options: AdminOptions

    func run() async throws {
        let response = try await options.call(.get, "health")
        let report = try AdminJSON.decode(ServerHealth.self, from: response)
        try options.print(response, as: ServerHealth.self) { report in
            [report.reason.map { "not ready: \($0)" } ?? "ready"]
        }
        guard report.isReady else { throw ExitCode.failure }
    }
}
