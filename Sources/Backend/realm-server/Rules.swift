import ArgumentParser
import ServerHTTP

struct Rules: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show or set who may read and write the partitions of an app.",
        subcommands: [Show.self, Set.self]
    )

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Show the rules.")

        @OptionGroup var options: AdminOptions
        @OptionGroup var app: AppOption

        func run() async throws {
            try options.printRules(try await options.call(.get, try app.path("rules/access")))
        }
    }

    struct Set: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Replace the rules of an app of the store. Without a rule all users may.",
            discussion: """
                A rule is a condition such as "partition == user.id OR user.data.role == \
                'manager'". Change the rules of an app of the configuration file there.
                """
        )

        @OptionGroup var options: AdminOptions
        @OptionGroup var app: AppOption

        @Option(help: "Who may read.")
        var read: String?

        @Option(help: "Who may write.")
        var write: String?

        private struct Body: Encodable {
            let read: String?
            let write: String?
        }

        func run() async throws {
            try options.printRules(
                try await options.call(
                    .put,
                    try app.path("rules/access"),
                    body: Body(read: read, write: write)
                )
            )
        }
    }
}

extension AdminOptions {
    fileprivate func printRules(_ response: [UInt8]) throws {
        try print(response, as: RulesReport.self) { rules in
            if let program = rules.program { return ["decided by \(program)"] }
            return ["read: \(rules.read ?? "all users")", "write: \(rules.write ?? "all users")"]
        }
    }
}
