import ArgumentParser
import Control
import Platform
import Scheduling

struct SuspendCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "suspend",
        abstract: "Stop the sync of realms, in both directions, until they are resumed.",
        discussion: """
            Programs can still write; the agent uploads that later. A suspension survives restarts of \
            the agent.
            Exit status: 0 done, 1 failed, 2 configuration, 3 no agent is running.
            """
    )

    @OptionGroup var selection: RealmSelection

    @Option(
        name: .customLong("for"),
        help: ArgumentHelp(
            "Resume automatically after this time, such as 2h.",
            valueName: "duration"
        )
    )
    var duration: TimeoutArgument?

    @Option(
        help: ArgumentHelp(
            "Resume automatically at this time, such as 2026-11-20T22:30:00Z.",
            valueName: "time"
        )
    )
    var until: String?

    func validate() throws {
        guard duration == nil || until == nil else {
            throw ValidationError("give one of --for and --until")
        }
        guard let until else { return }
        guard let end = WallTime(iso8601: until) else {
            throw ValidationError("--until is a time such as 2026-11-20T22:30:00Z")
        }
        guard end > .now() else { throw ValidationError("--until \(end) is over") }
    }

    func run() async throws {
        let request = SuspendRequest(
            seconds: duration.map { $0.duration / .seconds(1) },
            until: until
        )
        try await selection.perform { client, realm throws(ControlError) in
            try await client.suspend(realm, request)
        }
    }
}

/// Which realms a command is for: some by name, or all.
struct RealmSelection: ParsableArguments {
    @OptionGroup var files: ConfigurationOptions

    @Argument(help: "The realms.")
    var realms: [String] = []

    @Flag(help: "All enabled realms.")
    var all = false

    func validate() throws {
        guard realms.isEmpty == all else {
            throw ValidationError("name one realm or several, or give --all")
        }
    }

    /// Does the same to each, and stops at the first that refuses.
    func perform(
        _ body: (ControlClient, String) async throws(ControlError) -> Void
    ) async throws {
        let client = try files.controlClient()
        do throws(ControlError) {
            let names = all ? try await Self.enabledRealms(client) : realms
            for name in names { try await body(client, name) }
        } catch {
            throw CommandFailure(error)
        }
    }

    private static func enabledRealms(_ client: ControlClient) async throws(ControlError)
        -> [String]
    {
        try await client.status().realms.filter { $0.state != .disabled }.map(\.name)
    }
}
