import ArgumentParser
import Control

struct UsersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "users",
        abstract: "Shows the configured users, and logs them in and out.",
        subcommands: [
            List.self, LogIn.self, LogOut.self, Remove.self, Register.self, Confirm.self,
            ResetPassword.self, Delete.self,
        ],
        defaultSubcommand: List.self
    )

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "Shows each user's state."
        )

        @OptionGroup var files: ConfigurationOptions

        @Flag(help: "Print JSON.")
        var json = false

        func run() async throws {
            let client = try files.controlClient()
            let report: UsersReport
            do throws(ControlError) {
                report = try await client.users()
            } catch {
                throw CommandFailure(error)
            }
            guard !json else { return print(try report.controlJSON()) }
            for user in report.users {
                let id = user.userId.map { " \($0)" } ?? ""
                print("\(user.name) (\(user.app), \(user.provider)): \(user.state)\(id)")
            }
        }
    }

    struct LogIn: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "login",
            abstract: "Logs a user in, also after a log-out here."
        )

        @OptionGroup var user: UserArgument

        func run() async throws {
            try await user.perform(.login)
        }
    }

    struct LogOut: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "logout",
            abstract:
                "Logs a user out until somebody logs it in; files of anonymous users are put aside."
        )

        @OptionGroup var user: UserArgument

        @Flag(help: "Also while realms hold writes that the server does not have.")
        var force = false

        func run() async throws {
            try await user.perform(.logout, UserRequest(force: force))
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "remove",
            abstract: "Logs a user out and removes its realm files here."
        )

        @OptionGroup var user: UserArgument

        @Flag(help: "Also while realms hold writes that the server does not have.")
        var force = false

        func run() async throws {
            try await user.perform(.remove, UserRequest(force: force))
        }
    }

    struct Register: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "register",
            abstract: "Creates the configured e-mail/password account."
        )

        @OptionGroup var user: UserArgument

        func run() async throws {
            try await user.perform(.register)
        }
    }

    struct Confirm: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "confirm",
            abstract: "Confirms an account with what its owner was sent."
        )

        @OptionGroup var user: UserArgument

        @Option(help: "The token.")
        var token: String

        @Option(help: "The id of the token.")
        var tokenID: String

        func run() async throws {
            try await user.perform(.confirm, UserRequest(token: token, tokenId: tokenID))
        }
    }

    struct ResetPassword: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "reset-password",
            abstract: "Sets the configured password with what the owner of the account was sent.",
            discussion: "Without a token it asks the server to send one."
        )

        @OptionGroup var user: UserArgument

        @Option(help: "The token.")
        var token: String?

        @Option(help: "The id of the token.")
        var tokenID: String?

        func run() async throws {
            try await user.perform(.resetPassword, UserRequest(token: token, tokenId: tokenID))
        }
    }

    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "delete",
            abstract: "Deletes a user at the server, and its realm files here."
        )

        @OptionGroup var user: UserArgument

        @Flag(help: "Also while realms hold writes that the server does not have.")
        var force = false

        @Flag(help: "Really delete.")
        var yes = false

        func validate() throws {
            guard yes else { throw ValidationError("this cannot be undone; add --yes") }
        }

        func run() async throws {
            try await user.perform(.delete, UserRequest(force: force))
        }
    }
}

/// The user that a command is about.
struct UserArgument: ParsableArguments {
    @OptionGroup var files: ConfigurationOptions

    @Argument(help: "The user's name in the configuration.")
    var user: String

    @Flag(help: "Print the user as JSON afterwards.")
    var json = false

    func perform(_ operation: UserOperation, _ request: UserRequest = UserRequest()) async throws {
        let client = try files.controlClient()
        let report: UserReport
        do throws(ControlError) {
            report = try await client.perform(operation, on: user, request)
        } catch {
            throw CommandFailure(error)
        }
        if json { print(try report.controlJSON()) }
    }
}
