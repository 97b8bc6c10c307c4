import ArgumentParser
import Control

struct ResumeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume",
        abstract: "End the suspension of realms.",
        discussion: "Exit status: 0 done, 1 failed, 2 configuration, 3 no agent is running."
    )

    @OptionGroup var selection: RealmSelection

    func run() async throws {
        try await selection.perform { client, realm throws(ControlError) in
            try await client.resume(realm)
        }
    }
}
