import ArgumentParser
import Control

struct DeleteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract:
            "Remove the local files of a realm, unless they hold pending uploads.",
        discussion: """
            The realm stays suspended; `realm-agent resume` downloads it again. Programs that have the \
            file open keep the old one.
            Exit status: 0 done, 1 failed or refused, 2 configuration, 3 no agent is running.
            """
    )

    @OptionGroup var files: ConfigurationOptions

    @Argument(help: "The realm.")
    var realm: String

    @Flag(help: "Also delete pending uploads.")
    var force = false

    @Flag(help: "Print the removed files as JSON.")
    var json = false

    func run() async throws {
        let client = try files.controlClient()
        let report: DeleteReport
        do throws(ControlError) {
            report = try await client.delete(realm, DeleteRequest(force: force))
        } catch {
            throw CommandFailure(error)
        }
        if json { print(try report.controlJSON()) }
    }
}
