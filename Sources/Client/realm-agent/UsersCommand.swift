import ArgumentParser
import Control

struct UsersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "users",
        abstract: "Show and manage the configured users.",
        subcommands: [
            List.self, LogIn.self, LogOut.self, Refresh.self, CustomData.self, Link.self,
            Remove.self, Register.self, Confirm.self, ResendConfirmation.self,
            ResetPassword.self, Delete.self, APIKeys.self,
        ],
        defaultSubcommand: List.self
    )

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List the users with their states."
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
            abstract: "Log a user in, also after a log-out here.",
            discussion: """
                If the server has ended the session of an anonymous user for good, this creates a new \
                user, and moves the realm files of the old one to recovered/.
                """
        )

        @OptionGroup var user: UserArgument

        @Flag(help: "Also if files to be moved hold pending uploads.")
        var force = false

        func run() async throws {
            try await user.perform(.login, UserRequest(force: force))
        }
    }

    struct LogOut: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "logout",
            abstract:
                "Log a user out until its next log-in; files of anonymous users are set aside."
        )

        @OptionGroup var user: UserArgument

        @Flag(help: "Also while realms hold writes that the server does not have.")
        var force = false

        func run() async throws {
            try await user.perform(.logout, UserRequest(force: force))
        }
    }

    struct Refresh: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "refresh",
            abstract: "Get a new access token, and with it newer custom data."
        )

        @OptionGroup var user: UserArgument

        func run() async throws {
            try await user.perform(.refresh)
        }
    }

    struct CustomData: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "custom-data",
            abstract: "Print the user's custom data as JSON."
        )

        @OptionGroup var files: ConfigurationOptions

        @Argument(help: "The user's name in the configuration.")
        var user: String

        @Flag(help: "Refresh it first; otherwise it is as old as the access token.")
        var refresh = false

        func run() async throws {
            let client = try files.controlClient()
            do throws(ControlError) {
                if refresh { _ = try await client.perform(.refresh, on: user, UserRequest()) }
                print(try await client.customData(of: user))
            } catch {
                throw CommandFailure(error)
            }
        }
    }

    struct Link: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "link",
            abstract: "Add the configured credential to the logged-in user.",
            discussion: """
                For an anonymous user: configure its new provider, reload, and link. It keeps its id and \
                its data.
                """
        )

        @OptionGroup var user: UserArgument

        func run() async throws {
            try await user.perform(.link)
        }
    }

    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "remove",
            abstract: "Log a user out, and remove its realm files here."
        )

        @OptionGroup var user: UserArgument

        @Flag(help: "Also while realms hold writes that the server does not have.")
        var force = false

        func run() async throws {
            try await user.perform(.remove, UserRequest(force: force))
        }
    }

    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "delete",
            abstract: "Delete a user at the server, and its realm files here."
        )

        @OptionGroup var user: UserArgument

        @Flag(help: "Also while realms hold writes that the server does not have.")
        var force = false

        @Flag(help: "Confirm the deletion.")
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
