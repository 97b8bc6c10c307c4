import ArgumentParser
import Server

struct Reload: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Let the running server read its configuration again.",
        discussion: """
            A configuration with mistakes changes nothing, and they are shown. Sessions go on but \
            for those whose rules or schema have changed: these bind again. Exit status: 0 if the \
            server follows the file now, 2 if the file is wrong, 3 if no server answers.
            """
    )

    @OptionGroup var options: AdminOptions

    func run() async throws {
        // The socket may be another one in the new file, which needs a restart anyway.
        let client = AdminClient(socketPath: try options.file.read().adminSocketPath)
        let answer: [UInt8]
        do throws(AdminClient.Failure) {
            answer = try await client.call(.post, "reload")
        } catch {
            let isRefused = error.code == "server.refused"
            StandardError.write(isRefused ? error.message : "realm-server: \(error)")
            throw isRefused ? ConfigurationFile.failure : AdminOptions.unreachable
        }
        try options.print(answer, as: ReloadReport.self) { report in
            for warning in report.warnings { StandardError.write(warning) }
            let lines =
                report.applied.map { "applied: \($0)" }
                + report.needsRestart.map { "needs a restart: \($0)" }
            return lines.isEmpty ? ["nothing has changed"] : lines
        }
    }
}
