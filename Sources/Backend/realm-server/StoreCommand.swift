import ArgumentParser
import FoundationEssentials
import Platform
import PostgreSQLServerStore
import ServerConfig
import ServerStorage
import WorkDisplay

struct StoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "store",
        abstract: "Copy, prepare or upgrade the store of a stopped server.",
        subcommands: [Copy.self, SQL.self, Upgrade.self]
    )

    /// The environment may have passwords and credentials.
    static var secrets: SecretReader {
        SecretReader(environment: ProcessInfo.processInfo.environment)
    }

    /// Prints the error of a store; exit status 1.
    static func reporting<Outcome>(_ body: () throws -> Outcome) throws -> Outcome {
        do {
            return try body()
        } catch {
            StandardError.print("realm-server: \(error)")
            throw ExitCode.failure
        }
    }
}

extension StoreCommand {
    struct Copy: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Copy a store into an empty one, and mark the first as moved.",
            discussion: """
                A store is sqlite:/PATH, or postgresql://USER@HOST/DATABASE with parameters such as \
                passfile, or the word "configured". No server may use either. Versions and idents stay \
                as they are, so that no client starts over. Every row of both is compared; then \
                "serve" refuses the first.
                """
        )

        @OptionGroup var file: ConfigurationFile

        @Argument(help: "The store to copy.")
        var from: String

        @Argument(help: "An empty store.")
        var to: String

        func run() throws {
            let (source, target) = (try location(from), try location(to))
            let display = ProgressDisplay()
            let tables = try StoreCommand.reporting {
                defer { display.end() }
                return try StoreCopy.run(from: source, to: target, StoreCommand.secrets) {
                    rows,
                    total,
                    table in
                    display.show(
                        WorkProgress(
                            UInt64(rows),
                            of: UInt64(total),
                            text: "\(display.rate(rows, "row")), table \(table)"
                        )
                    )
                }
            }
            for table in tables { print("\(table.table)  \(table.rows)") }
            print("copied; \(source) is marked as moved to \(target)")
        }

        /// A URL has no room for every key: "configured" means `server.storage`.
        private func location(_ text: String) throws -> StorageLocation {
            if text == "configured" { return try file.read().storage }
            do throws(BadStorageText) {
                return try StorageLocation(text: text)
            } catch {
                throw ValidationError("\(error.problem); \(error.remedy)")
            }
        }
    }

    struct SQL: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "sql",
            abstract: "Print the statements that make tables, and schemas of views, on PostgreSQL.",
            discussion: """
                For administrators who do not give the server's role the right to make them: \
                "realm-server store sql | psql DATABASE", in an empty database. Schemas and role \
                are those of the configuration; apps of the admin socket are not in it.
                """
        )

        @OptionGroup var file: ConfigurationFile

        func run() throws {
            let configuration = try file.read()
            guard case .postgreSQL(let location) = configuration.storage else {
                throw ValidationError("server.storage is not on PostgreSQL")
            }
            let views = AppViews.administratorSQL(
                role: location.user,
                apps: configuration.apps.compactMap(\.viewSchema).sorted()
            )
            print(
                PostgreSQLLayout.sql(schema: location.schema, role: location.user) + views,
                terminator: ""
            )
        }
    }

    struct Upgrade: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Bring the configured store to the layout of this version."
        )

        @OptionGroup var file: ConfigurationFile

        func run() throws {
            let storage = try file.read().storage
            print(
                try StoreCommand.reporting {
                    try StoreUpgrading.run(storage, StoreCommand.secrets)
                }
            )
        }
    }
}
