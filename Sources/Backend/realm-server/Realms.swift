import ArgumentParser
import Scopes
import ServerHTTP

struct Realms: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show synced realms: one for each partition.",
        subcommands: [List.self, Inspect.self]
    )

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List the realms of an app.")

        @OptionGroup var options: AdminOptions
        @OptionGroup var app: AppOption

        func run() async throws {
            let response = try await options.call(.get, try app.path("realms"))
            try options.print(response, as: [RealmReport].self) { $0.map(\.line) }
        }
    }

    struct Inspect: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show the classes and the client files of a realm."
        )

        @OptionGroup var options: AdminOptions
        @OptionGroup var app: AppOption

        @OptionGroup var partition: PartitionArgument

        private struct Body: Encodable {
            let partition: String
        }

        func run() async throws {
            let response = try await options.call(
                .post,
                try app.path("realms/inspect"),
                body: Body(partition: partition.canonicalText)
            )
            try options.print(response, as: RealmInspection.self) { inspection in
                let classes = inspection.classes.map { "  class \($0.name): \($0.objects) objects" }
                let clients = inspection.clients.map(\.line)
                return [inspection.realm.line] + classes + clients
            }
        }
    }
}

/// Names the realm of a command.
struct PartitionArgument: ParsableArguments {
    @Argument(help: "The partition: canonical Extended JSON, or the text of a string partition.")
    var partition: String

    var canonicalText: String {
        Partition(operatorText: partition).canonicalText
    }
}

extension RealmReport {
    fileprivate var line: String {
        "\(partition)  version \(currentVersion), history from \(baseVersion), "
            + "\(historyBytes) bytes"
    }
}

extension RealmInspection.Client {
    fileprivate var line: String {
        let state = isVoid ? ", void" : isExpired ? ", expired" : ""
        return "  client \(ident) of user \(user): uploaded \(clientVersion), "
            + "has \(max(serverVersion, lockedServerVersion))\(state)"
    }
}
