import ArgumentParser
import Control

struct ReconnectCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reconnect",
        abstract: "Make all realms retry now.",
        discussion: """
            Open connections are tested with a PING.
            Exit status: 0 done, 1 failed, 2 configuration, 3 no agent is running.
            """
    )

    @OptionGroup var files: ConfigurationOptions

    func run() async throws {
        let client = try files.controlClient()
        do throws(ControlError) {
            try await client.reconnect()
        } catch {
            throw CommandFailure(error)
        }
    }
}
