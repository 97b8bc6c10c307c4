import ArgumentParser
import Platform
import ServerConfig
import ServerHTTP

struct Reload: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Reload the running server's configuration.",
        discussion: """
            A configuration with mistakes changes nothing, and the command prints them. Sessions \
            continue, except that those whose rules or schema have changed bind again. Exit \
            status: 0 if the server has applied the file, 2 if the file is wrong, 3 if no server \
            responds.
            """
    )

    @OptionGroup var options: AdminOptions

    func run() async throws {
        // The new file may name another socket, which needs a restart anyway.
        let client = AdminClient(socketPath: try options.file.read().adminSocketPath)
        let response: [UInt8]
        do throws(AdminClient.Failure) {
            response = try await client.call(.post, "reload")
        } catch {
            let isRefused = error.code == "server.refused"
            StandardError.print(isRefused ? error.message : "realm-server: \(error)")
            throw isRefused ? ConfigurationFile.failure : AdminOptions.unreachable
        }
        try options.print(response, as: ServerReloadReport.self) { report in
            for warning in report.warnings { StandardError.print(warning) }
            let lines =
                report.applied.map { "applied: \($0)" }
                + report.needsRestart.map { "needs a restart: \($0)" }
            return lines.isEmpty ? ["nothing has changed"] : lines
        }
    }
}
