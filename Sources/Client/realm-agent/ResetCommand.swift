import ArgumentParser
import Control

struct ResetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reset",
        abstract: "Reset a realm to the server's state, with its unsynced changes.",
        discussion: """
            Works through the running agent, which downloads the server's state beside the realm \
            and then changes the realm in one transaction. --dry-run shows the result for every \
            object with unsynced changes. The mode manual keeps a copy of the realm and starts \
            over with an empty one, and so does --token with the token of a reset that the agent \
            has left to you.
            """
    )

    @OptionGroup var files: ConfigurationOptions

    @Argument(help: "The realm to reset.")
    var realm: String

    @Option(
        help: """
            recover-unsynced-changes, recover-or-discard-unsynced-changes, \
            discard-unsynced-changes or manual; as configured if left out.
            """
    )
    var mode: String?

    @Option(help: "Start over, with the token of a reset event or a handler's request.")
    var token: String?

    @Flag(help: "Show the effect, and change nothing.")
    var dryRun = false

    @Flag(help: "Print the response as JSON.")
    var json = false

    func run() async throws {
        let client = try files.controlClient()
        let answer: ResetResponse
        do throws(ControlError) {
            let request = ResetRequest(mode: mode, dryRun: dryRun, token: token)
            answer = try await client.reset(realm: realm, request)
        } catch {
            throw CommandFailure(error)
        }
        guard !json else {
            print(try answer.controlJSON())
            return
        }
        for line in Self.text(of: answer) { print(line) }
    }

    static func text(of answer: ResetResponse) -> [String] {
        var lines: [String] = []
        switch answer.outcome {
        case .done: lines.append("\(answer.realm) was reset")
        case .rehearsed: lines.append("a reset of \(answer.realm) would do this")
        case .startedOver: lines.append("\(answer.realm) starts over")
        case .wouldStartOver: lines.append("\(answer.realm) would start over")
        }
        if let reason = answer.reason { lines.append("  \(reason)") }
        let verb = answer.didRecover ? "recover" : "discard"
        for change in answer.unsynced { lines.append("  \(verb)  \(describe(change))") }
        for change in answer.discarded { lines.append("  drop     \(describe(change))") }
        if answer.outcome == .done || answer.outcome == .rehearsed {
            lines.append(
                "  rows: \(answer.createdRows) created, \(answer.updatedRows) updated, "
                    + "\(answer.erasedRows) deleted"
            )
        }
        if let path = answer.keptPath { lines.append("  kept in \(path)") }
        return lines
    }

    private static func describe(_ change: ResetResponse.Change) -> String {
        let properties = change.properties.joined(separator: ", ")
        let parts = ["\(change.className) \(change.key)", properties, change.note ?? ""]
        return parts.filter { !$0.isEmpty }.joined(separator: ": ")
    }
}

struct RestartCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restart",
        abstract: "Open a realm again, with a new session."
    )

    @OptionGroup var files: ConfigurationOptions

    @Argument(help: "The realm to open again.")
    var realm: String

    func run() async throws {
        let client = try files.controlClient()
        do throws(ControlError) {
            _ = try await client.restart(realm: realm)
        } catch {
            throw CommandFailure(error)
        }
    }
}
