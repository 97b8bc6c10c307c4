import ArgumentParser
import Platform
import ServerMigration

/// Brings an app of the hosted service to this server.
struct Import: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Bring an app of the hosted service here.",
        discussion: """
            In this order: "import app" makes configuration and schema of an export, "import data" \
            loads the documents, "import users" the users, and "import verify" compares. Exit \
            status: 0 if all was carried over, perhaps with warnings, 1 if something does not work \
            as before, 2 if nothing was written, 3 if the server runs and must not.
            """,
        subcommands: [
            ImportAppCommand.self, ImportDataCommand.self, ImportUsersCommand.self,
            ImportVerifyCommand.self,
        ]
    )

    /// Runs a command; prints its failure, and ends with its exit status.
    static func reporting<Outcome>(_ body: () async throws -> Outcome) async throws -> Outcome {
        do {
            return try await body()
        } catch let failure as MigrationFailure {
            StandardError.print("realm-server: \(failure)")
            throw ExitCode(failure.exitStatus)
        }
    }
}
