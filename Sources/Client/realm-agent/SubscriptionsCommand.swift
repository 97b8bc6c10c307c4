import ArgumentParser
import Control

struct SubscriptionsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "subscriptions",
        abstract: "Show and change the subscriptions of a realm with flexible sync.",
        discussion: """
            A realm holds the objects that match any of its subscriptions: those that the \
            configuration declares, and those that users and programs add. The two parts are \
            independent, also where names are equal. The configuration alone decides on the declared \
            ones: these verbs do not change them, and each start and reload of the agent restores \
            them. What was added stays until it is removed.
            """,
        subcommands: [List.self, Add.self, Update.self, Remove.self]
    )

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show the active set, and the pending one with what it waits for.",
            discussion: "Exit status: 0 shown, 1 failed, 2 configuration, 3 no agent is running."
        )

        @OptionGroup var files: ConfigurationOptions

        @Argument(help: "The realm.")
        var realm: String

        @Flag(help: "Print JSON.")
        var json = false

        func run() async throws {
            let client = try files.controlClient()
            let report: SubscriptionsReport
            do throws(ControlError) {
                report = try await client.subscriptions(of: realm)
            } catch {
                throw CommandFailure(error)
            }
            guard !json else { return StandardOutput.print(try report.controlJSON()) }
            StandardOutput.print(SubscriptionsTable(report: report).description)
        }
    }

    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Add a subscription; one without a query selects all objects of the class.",
            discussion: SubscriptionChangeOptions.exitStatus
        )

        @OptionGroup var files: ConfigurationOptions
        @OptionGroup var change: SubscriptionChangeOptions

        @Argument(help: "The realm.")
        var realm: String

        @Argument(help: ArgumentHelp("The class.", valueName: "class"))
        var className: String

        @Argument(help: "The query, such as \"store == 'store-42'\".")
        var query: String?

        @Option(help: "A name, by which it can be updated and removed.")
        var name: String?

        @Flag(help: "Replace the subscription of the name, if there is one.")
        var replace = false

        func run() async throws {
            try await change.run(
                .init(replace ? .put : .add, name: name, className: className, query: query),
                realm,
                files
            )
        }
    }

    struct Update: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Give a subscription another query.",
            discussion: SubscriptionChangeOptions.exitStatus
        )

        @OptionGroup var files: ConfigurationOptions
        @OptionGroup var change: SubscriptionChangeOptions

        @Argument(help: "The realm.")
        var realm: String

        @Argument(help: "The new query.")
        var query: String

        @Option(help: "The name of the subscription.")
        var name: String?

        @Option(help: "Its id, as list shows it.")
        var id: String?

        func run() async throws {
            try await change.run(.init(.update, name: name, query: query, id: id), realm, files)
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove subscriptions that were added.",
            discussion: SubscriptionChangeOptions.exitStatus
        )

        @OptionGroup var files: ConfigurationOptions
        @OptionGroup var change: SubscriptionChangeOptions

        @Argument(help: "The realm.")
        var realm: String

        @Option(help: "The name of the subscription.")
        var name: String?

        @Option(help: "Its id, as list shows it.")
        var id: String?

        @Option(
            name: .customLong("class"),
            help: ArgumentHelp("All that were added for a class.", valueName: "class")
        )
        var className: String?

        @Flag(help: "All without a name.")
        var unnamed = false

        @Flag(help: "All that were added.")
        var all = false

        func validate() throws {
            let given = [name != nil, id != nil, className != nil, unnamed, all]
            guard given.count(where: { $0 }) == 1 else {
                throw ValidationError("give one of --name, --id, --class, --unnamed and --all")
            }
        }

        func run() async throws {
            try await change.run(
                .init(
                    .remove,
                    name: name,
                    className: className,
                    id: id,
                    unnamed: unnamed ? true : nil,
                    all: all ? true : nil
                ),
                realm,
                files
            )
        }
    }
}

/// The options of every verb that makes a new set.
struct SubscriptionChangeOptions: ParsableArguments {
    static let exitStatus = """
        Exit status: 0 done, 1 failed or rejected by the server, 2 configuration, 3 no agent is \
        running, 124 timed out.
        """

    @Flag(help: "Wait until the objects of the new set are in the file.")
    var wait = false

    @Option(help: "The limit on the wait, such as 30s or 5m.")
    var timeout: TimeoutArgument?

    @Flag(help: "Commit also an unchanged set: the server sends its objects again.")
    var force = false

    @Flag(help: "Print the result as JSON.")
    var json = false

    func run(
        _ operation: SubscriptionsRequest.Operation,
        _ realm: String,
        _ files: ConfigurationOptions
    ) async throws {
        let client = try files.controlClient()
        let result: SubscriptionsChange
        do throws(ControlError) {
            result = try await client.changeSubscriptions(
                of: realm,
                SubscriptionsRequest(
                    operations: [operation],
                    force: force ? true : nil,
                    wait: wait ? true : nil,
                    timeoutInSeconds: timeout.map { $0.duration / .seconds(1) }
                )
            )
        } catch {
            throw CommandFailure(error)
        }
        if json {
            StandardOutput.print(try result.controlJSON())
        } else {
            StandardOutput.print("\(realm): set \(result.version) \(Self.text(of: result))")
        }
        switch result.outcome {
        case .committed, .unchanged, .complete, .superseded: return
        case .rejected, .ended: throw CommandFailure(status: .failed, message: nil)
        case .timedOut: throw CommandFailure(status: .timedOut, message: nil)
        }
    }

    private static func text(of result: SubscriptionsChange) -> String {
        let detail = result.detail.map { ": \($0)" } ?? ""
        let rejected =
            result.rejected.isEmpty ? "" : " (\(result.rejected.joined(separator: ", ")))"
        switch result.outcome {
        case .committed: return "committed"
        case .unchanged: return "unchanged"
        case .complete: return "complete"
        case .rejected: return "rejected by the server\(rejected)\(detail)"
        case .superseded: return "replaced by a newer set"
        case .timedOut: return "not complete within the timeout; the agent continues"
        case .ended: return "not complete\(detail)"
        }
    }
}

/// The sets of a realm as tables for people.
struct SubscriptionsTable: CustomStringConvertible {
    let report: SubscriptionsReport

    var description: String {
        var lines = [title("active", report.active)] + table(report.active)
        if let pending = report.pending {
            lines.append(title("pending", pending) + wait)
            if let error = pending.error { lines.append("  \(error)") }
            lines += table(pending)
        } else if report.waitingFor != nil {
            lines[0] += wait
        }
        return lines.joined(separator: "\n")
    }

    private func title(_ word: String, _ set: SubscriptionSetReport) -> String {
        "\(word) set \(set.version): \(set.state)"
    }

    private var wait: String {
        guard let word = report.waitingFor else { return "" }
        let share = report.estimate.map { ", \(Int($0 * 100)) %" } ?? ""
        return ", waits for \(word)\(share)"
    }

    private func table(_ set: SubscriptionSetReport) -> [String] {
        guard !set.subscriptions.isEmpty else { return ["  no subscriptions"] }
        let rows = set.subscriptions.sorted { $0.declared && !$1.declared }.map { subscription in
            [
                (subscription.declared ? "configuration" : "added")
                    + (subscription.rejected ? ", rejected" : ""),
                subscription.name ?? "-", subscription.className, subscription.query,
                subscription.id,
            ]
        }
        return [TextTable(["FROM", "NAME", "CLASS", "QUERY", "ID"], rows).description]
    }
}
