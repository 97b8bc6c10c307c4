import ArgumentParser
import Server

struct Apps: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Apps that clients connect to.",
        discussion: """
            Apps of the configuration file are changed there. Others can be created while the \
            server runs; they are kept in its store.
            """,
        subcommands: [Create.self, List.self, Delete.self]
    )

    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Create an app in the store.")

        @OptionGroup var options: AdminOptions

        @Argument(help: "The app's id: letters, digits, \"_\" and \"-\".")
        var id: String

        @Option(
            help: ArgumentHelp(
                "A file that says what the app is, in the form of \"apps.APP\".",
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
            let answer = try await options.call(
                .post,
                "apps",
                body: Body(id: id, configuration: text)
            )
            try options.print(answer, as: AppReport.self) { ["app \($0.id) created"] }
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List the apps.")

        @OptionGroup var options: AdminOptions

        func run() async throws {
            let answer = try await options.call(.get, "apps")
            try options.print(answer, as: [AppReport].self) { apps in
                apps.map { app in
                    "\(app.id)  sync \(app.syncState.rawValue), from the \(app.origin), "
                        + "providers: \(app.providers.joined(separator: ", "))"
                }
            }
        }
    }

    struct Delete: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Delete an app of the store, with its users and everything they have synced."
        )

        @OptionGroup var options: AdminOptions
        @OptionGroup var confirmation: Confirmation

        @Argument(help: "The app's id.")
        var id: String

        func run() async throws {
            guard AppID(id) != nil else { throw ValidationError("\"\(id)\" is no app id") }
            try confirmation.ask("This deletes app \(id) with all of its users and data.")
            try await options.call(.delete, "apps/\(id)?confirm=\(id)")
            if !options.json { print("app \(id) deleted") }
        }
    }
}
