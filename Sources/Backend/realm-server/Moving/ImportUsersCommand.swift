import ArgumentParser
import JSON
import Platform
import Scheduling
import ServerConfig
import ServerMigration
import ServerStore

struct ImportUsersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "users",
        abstract: "Load users of the hosted service with the ids that they had.",
        discussion: """
            Reads listings of the hosted Admin API (arrays, several files, or lines), and lines \
            {"_id","email"}. Accounts have no password: their owners reset it by mail or by \
            reset_function, or the operator passes on the token that "users pending" shows. The \
            server may run.
            """
    )

    @OptionGroup var options: MovedAppOptions

    @Argument(help: "Files with users.")
    var files: [String]

    @Flag(help: "Print the report as JSON.")
    var json = false

    func run() async throws {
        let (app, storage) = try options.configuration()
        let report = try await Import.reporting {
            try await options.withStore(storage) { store, _ in
                try await UserImport(into: store, app.id) {
                    WallTime.now().millisecondsSince1970
                }.run(files)
            }
        }
        if json {
            print(String(decoding: try report.json.json(), as: UTF8.self))
        } else {
            printLines(report)
        }
        guard report.exitStatus == 0 else { throw ExitCode(report.exitStatus) }
    }

    private func printLines(_ report: UserReport) {
        print(
            "read \(report.read), stored \(report.stored), repeated \(report.repeated), anonymous "
                + "skipped \(report.anonymousSkipped), pending \(report.pendingNotImported)"
        )
        print("accounts without password: \(report.accountsWithoutPassword.count)")
        for (id, code) in report.refused { StandardError.print("error: \(code): user \(id)") }
        for (id, reason) in report.withoutWayIn.sorted(by: { $0.key < $1.key }) {
            StandardError.print("error: user \(id) cannot log in: \(reason)")
        }
    }
}
