import ArgumentParser
import ServerHTTP

struct Users: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Manage the users of an app.",
        subcommands: [
            Create.self, List.self, Disable.self, Enable.self, Pending.self, Confirm.self,
        ]
    )

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Create an e-mail/password account; the first log-in creates its user."
        )

        @OptionGroup var options: AdminOptions
        @OptionGroup var app: AppOption

        @Argument(help: "The e-mail address.")
        var email: String

        @Option(
            help: ArgumentHelp(
                "The file whose first line is the password.",
                discussion: "Without it the password is read from standard input.",
                valueName: "file"
            ),
            completion: .file()
        )
        var passwordFile: String?

        private struct Body: Encodable {
            let email: String
            let password: String
        }

        func run() async throws {
            let response = try await options.call(
                .post,
                try app.path("users"),
                body: Body(email: email, password: try password())
            )
            try options.print(response, as: AccountReport.self) { ["account \($0.email) created"] }
        }

        private func password() throws -> String {
            let text = try passwordFile.map { try TextFile.read($0) } ?? readLine() ?? ""
            return String(text.prefix { !$0.isNewline })
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List the users.")

        @OptionGroup var options: AdminOptions
        @OptionGroup var app: AppOption

        @Option(help: "Begin after the user with this id.")
        var after: String?

        func run() async throws {
            let page = after.map { "?after=\($0)" } ?? ""
            let response = try await options.call(.get, try app.path("users") + page)
            try options.print(response, as: [AppUserReport].self) { users in
                users.map { user in
                    let identities = user.identities.map { identity in
                        identity.email.map { "\(identity.provider) \($0)" } ?? identity.provider
                    }
                    let state = user.isDisabled ? "  disabled" : ""
                    return "\(user.id)  \(identities.joined(separator: ", "))\(state)"
                }
            }
        }
    }

    struct Disable: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Lock a user out, and end its connections at once."
        )

        @OptionGroup var user: MemberOptions

        func run() async throws {
            let id = user.id
            try await user.change(.put, "users/\(id)/disable", "user \(id) disabled")
        }
    }

    struct Pending: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show the tokens that confirm accounts and reset passwords, to deliver them."
        )

        @OptionGroup var options: AdminOptions
        @OptionGroup var app: AppOption

        func run() async throws {
            let response = try await options.call(.get, try app.path("pending"))
            try options.print(response, as: [PendingReport].self) { tokens in
                tokens.map { "\($0.email)  \($0.purpose)  tokenId=\($0.tokenId)&token=\($0.token)" }
            }
        }
    }

    struct Confirm: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Confirm an account whose owner you know."
        )

        @OptionGroup var options: AdminOptions
        @OptionGroup var app: AppOption

        @Argument(help: "The e-mail address.")
        var email: String

        func run() async throws {
            let path = try app.path("pending/confirm")
            try await options.call(.post, path, body: ["email": email])
            if !options.json { print("account \(email) confirmed") }
        }
    }

    struct Enable: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Enable a disabled user.")

        @OptionGroup var user: MemberOptions

        func run() async throws {
            let id = user.id
            try await user.change(.put, "users/\(id)/enable", "user \(id) enabled")
        }
    }
}
