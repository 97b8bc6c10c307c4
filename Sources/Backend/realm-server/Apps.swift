import ArgumentParser
import ServerHTTP
import ServerStore

struct Apps: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Manage the apps that clients connect to.",
        discussion: """
            Change apps of the configuration file there. Others can be created while the server \
            runs; they are kept in its store.
            """,
        subcommands: [Create.self, Update.self, List.self, Delete.self]
    )

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Create an app in the store.")

        @OptionGroup var options: AdminOptions

        @Argument(help: "The app's id: letters, digits, \"_\" and \"-\".")
        var id: String

        @Option(
            help: ArgumentHelp(
                "A file with the app's configuration, in the form of \"apps.APP\".",
                discussion: "Without it: development mode, anonymous and e-mail/password log-in.",
                valueName: "file"
            ),
            completion: .file()
        )
        var declaration: String?

        private struct Body: Encodable {
            let id: String
            let configuration: String
        }

        private static let usual = """
            {"development_mode": true, "providers": \
            {"anonymous": true, "email_password": {"auto_confirm": true}}}
            """

        func run() async throws {
            let text = try declaration.map { try TextFile.read($0) } ?? Self.usual
            let response = try await options.call(
                .post,
                "apps",
                body: Body(id: id, configuration: text)
            )
            try options.print(response, as: AppReport.self) { ["app \($0.id) created"] }
        }
    }

    struct Update: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Replace the configuration of an app of the store, as its roles."
        )

        @OptionGroup var options: AdminOptions

        @Argument(help: "The app's id.")
        var id: String

        @Option(
            help: "A file with the app's whole configuration, in the form of \"apps.APP\".",
            completion: .file()
        )
        var declaration: String

        private struct Body: Encodable {
            let configuration: String
        }

        func run() async throws {
            guard AppID(id) != nil else { throw ValidationError("\"\(id)\" is not an app id") }
            let body = Body(configuration: try TextFile.read(declaration))
            let response = try await options.call(.put, "apps/\(id)", body: body)
            try options.print(response, as: AppReport.self) { ["app \($0.id) updated"] }
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List the apps.")

        @OptionGroup var options: AdminOptions

        func run() async throws {
            let response = try await options.call(.get, "apps")
            try options.print(response, as: [AppReport].self) { apps in
                apps.map { app in
                    "\(app.id)  sync \(app.syncState.rawValue), from the \(app.origin), "
                        + "providers: \(app.providers.joined(separator: ", "))"
                }
            }
        }
    }

    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Delete an app of the store, with its users and all their synced data."
        )

        @OptionGroup var options: AdminOptions
        @OptionGroup var confirmation: Confirmation

        @Argument(help: "The app's id.")
        var id: String

        func run() async throws {
            guard AppID(id) != nil else { throw ValidationError("\"\(id)\" is not an app id") }
            try confirmation.ask("This deletes app \(id) with all of its users and data.")
            try await options.call(.delete, "apps/\(id)?confirm=\(id)")
            if !options.json { print("app \(id) deleted") }
        }
    }
}
