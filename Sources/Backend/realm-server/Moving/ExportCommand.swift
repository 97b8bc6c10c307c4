import ArgumentParser
import Changesets
import Migration
import Platform
import Scopes
import ServerConfig
import ServerMigration
import WorkDisplay

/// Writes an app's objects as documents.
struct ExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write an app's objects as Extended JSON, for mongoimport or another server.",
        discussion: """
            Writes DB.COLL.json (without a map Class.json), a line for each object. Exit status: 0, \
            or 1 if values lost digits or form. The server may run.
            """
    )

    @OptionGroup var options: MovedAppOptions

    @Option(help: "The realm of this partition, as in \"realms list\".")
    var partition: String?

    @Flag(help: "All realms.")
    var all = false

    @Option(name: .customLong("class"), help: "Objects of this class only.")
    var className: String?

    @Option(help: "The map that \"import app\" wrote.")
    var map: String?

    @Flag(help: "Write relaxed Extended JSON.")
    var relaxed = false

    @Flag(help: "Also write users.json, without passwords and keys.")
    var users = false

    @Option(help: "An empty directory, or one that does not exist.")
    var output: String

    func run() async throws {
        guard all != (partition != nil) else {
            throw ValidationError("give --partition or --all")
        }
        let (app, storage) = try options.configuration()
        var known: CollectionMap?
        if let map { known = try await options.target(app, map: map).map }
        let status = try await Import.reporting {
            let directory = try OutputDirectory(output)
            let display = ProgressDisplay()
            return try await options.withStore(storage) { store, _ -> Int32 in
                let export = DataExport(store, app.id, map: known, isRelaxed: relaxed)
                let report = try await export.run(
                    partition: partition.map { Partition(operatorText: $0) },
                    className: className.map { Text($0) },
                    to: directory
                ) { count in
                    let text = display.rate(count, "object")
                    display.show(WorkProgress(share: nil, text: text))
                }
                display.end()
                for (name, count) in report.files.sorted(by: { $0.key < $1.key }) {
                    print("\(output)/\(name): \(count)")
                }
                if !report.losses.isEmpty {
                    StandardError.print(
                        "warning: \(report.losses.digits) timestamps lost digits, "
                            + "\(report.losses.dates) are out of range, \(report.losses.texts) "
                            + "texts are not UTF-8"
                    )
                }
                if users {
                    let count = try await export.exportUsers(to: directory)
                    print("\(output)/users.json: \(count)")
                }
                return report.exitStatus
            }
        }
        guard status == 0 else { throw ExitCode(status) }
    }
}
