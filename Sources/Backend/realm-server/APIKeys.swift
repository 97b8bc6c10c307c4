import ArgumentParser
import ServerHTTP

struct APIKeys: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "api-keys",
        abstract: "Manage API keys for machines.",
        subcommands: [Create.self, List.self, Disable.self, Enable.self, Revoke.self]
    )

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Create a key, and show it, only this once."
        )

        @OptionGroup var options: AdminOptions
        @OptionGroup var app: AppOption

        @Argument(help: "A name for the key: letters, digits, \"_\" and \"-\".")
        var name: String

        @Option(help: "The id of the user it logs in as. Without it the key has a user of its own.")
        var user: String?

        private struct Body: Encodable {
            let name: String
            let user: String?
        }

        func run() async throws {
            let response = try await options.call(
                .post,
                try app.path("server_keys"),
                body: Body(name: name, user: user)
            )
            try options.print(response, as: KeyReport.self) { key in
                [
                    "id   \(key.id)", "name \(key.name)",
                    "key  \(key.key ?? "")   (keep it: it is not shown again)",
                ]
            }
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List the operator's keys.")

        @OptionGroup var options: AdminOptions
        @OptionGroup var app: AppOption

        func run() async throws {
            let response = try await options.call(.get, try app.path("server_keys"))
            try options.print(response, as: [KeyReport].self) { keys in
                keys.map { "\($0.id)  \($0.name)\($0.isDisabled ? "  disabled" : "")" }
            }
        }
    }

    struct Disable: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Block log-ins with a key until it is enabled. Existing sessions continue."
        )

        @OptionGroup var key: MemberOptions

        func run() async throws {
            let id = key.id
            try await key.change(.put, "server_keys/\(id)/disable", "key \(id) disabled")
        }
    }

    struct Enable: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Enable a disabled key.")

        @OptionGroup var key: MemberOptions

        func run() async throws {
            let id = key.id
            try await key.change(.put, "server_keys/\(id)/enable", "key \(id) enabled")
        }
    }

    struct Revoke: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Revoke a key of the operator or a user. Existing sessions continue."
        )

        @OptionGroup var key: MemberOptions

        func run() async throws {
            let id = key.id
            try await key.change(.delete, "server_keys/\(id)", "key \(id) revoked")
        }
    }
}
