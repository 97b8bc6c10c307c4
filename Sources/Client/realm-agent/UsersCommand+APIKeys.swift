import ArgumentParser
import Control
import Platform

/// A user's own API keys: other machines log in with them as the same user.
extension UsersCommand {
    struct APIKeys: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "api-keys",
            abstract: "Manage a user's own API keys, with which other machines log in as the user.",
            subcommands: [
                Create.self, List.self, Enable.self, Disable.self, Delete.self,
            ]
        )
    }
}

extension UsersCommand.APIKeys {
    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "create",
            abstract: "Create a key, and print it: the server does not show it again.",
            discussion: "Not for anonymous users."
        )

        @OptionGroup var user: KeyUser

        @Argument(help: "A name for the key: letters, digits, \"_\" and \"-\".")
        var name: String

        func run() async throws {
            let report = try await user.perform(.create(name: name))
            guard !user.json, let key = report.apiKeys.first else {
                return try user.printJSON(report)
            }
            print("id   \(key.id)\nname \(key.name)\nkey  \(key.key ?? "")")
            StandardError.print("keep the key now: it is not shown again")
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List the user's keys."
        )

        @OptionGroup var user: KeyUser

        func run() async throws {
            let report = try await user.perform(.list)
            guard !user.json else { return try user.printJSON(report) }
            guard !report.apiKeys.isEmpty else { return print("no API keys") }
            print(
                TextTable(
                    ["ID", "NAME", "STATE"],
                    report.apiKeys.map { [$0.id, $0.name, $0.disabled ? "disabled" : "enabled"] }
                )
            )
        }
    }

    struct Enable: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "enable",
            abstract: "Enable a disabled key."
        )

        @OptionGroup var key: KeyOfUser

        func run() async throws {
            try await key.perform { .enable(id: $0) }
        }
    }

    struct Disable: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "disable",
            abstract: "Refuse log-ins with a key until it is enabled. Existing sessions continue."
        )

        @OptionGroup var key: KeyOfUser

        func run() async throws {
            try await key.perform { .disable(id: $0) }
        }
    }

    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "delete",
            abstract: "Delete a key. Existing sessions continue."
        )

        @OptionGroup var key: KeyOfUser

        func run() async throws {
            try await key.perform { .delete(id: $0) }
        }
    }
}

/// The user whose keys a command is about.
struct KeyUser: ParsableArguments {
    @OptionGroup var files: ConfigurationOptions

    @Argument(help: "The user's name in the configuration.")
    var user: String

    @Flag(help: "Print JSON.")
    var json = false

    func perform(_ request: UserKeyRequest) async throws -> UserKeysReport {
        let client = try files.controlClient()
        do throws(ControlError) {
            return try await client.apiKeys(of: user, request)
        } catch {
            throw CommandFailure(error)
        }
    }

    func printJSON(_ report: UserKeysReport) throws {
        print(try report.controlJSON())
    }
}

/// One key of a user.
struct KeyOfUser: ParsableArguments {
    @OptionGroup var user: KeyUser

    @Argument(help: "The id of the key, as `list` prints it.")
    var id: String

    func perform(_ request: (String) -> UserKeyRequest) async throws {
        let report = try await user.perform(request(id))
        if user.json { try user.printJSON(report) }
    }
}
