import ArgumentParser
import Control

struct EventsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "events",
        abstract: "Print events as JSON lines: states, errors, rejects, resets, changes.",
        discussion: """
            Every line has a sequence number; --after continues after one. A line with the event "gap" \
            marks missed events, since the agent keeps only the newest.
            Exit status: 0 printed, 2 configuration, 3 no agent is running, or it ended.
            """
    )

    @OptionGroup var files: ConfigurationOptions

    @Flag(help: "Continue with later events, until interrupted.")
    var follow = false

    @Option(help: "Only this realm.")
    var realm: String?

    @Option(help: "Only events after this sequence number.")
    var after: UInt64?

    func run() async throws {
        let client = try files.controlClient()
        do {
            try await client.events(after: after, follow: follow, realm: realm) { record in
                StandardOutput.print(try record.controlJSON())
            }
        } catch let error as ControlError {
            throw CommandFailure(error)
        }
        if follow {
            throw CommandFailure(status: .unavailable, message: "the agent has ended")
        }
    }
}
