import ArgumentParser
import Migration
import Platform
import ServerMigration

struct ImportAppCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "app",
        abstract: "Make configuration, schema and map of an app's export.",
        discussion: """
            Writes APP.yaml, schemas/APP.yaml, hooks/APP/*, APP.map.yaml, report.txt and \
            report.json. Rules are never wider than they were; the report has a line for each thing \
            that is not carried over exactly.
            """
    )

    @Argument(help: "The directory of the export.")
    var export: String

    @Option(help: "An empty directory, or one that does not exist.")
    var output: String

    @Option(help: "The app id that the apps were built with.")
    var appID: String?

    @Option(help: "Take collections of this database only.")
    var database: String?

    @Option(
        name: .customLong("class"),
        help: "Name a class: DB.COLL=NAME, or Class.property=NAME for an embedded one."
    )
    var classes: [String] = []

    @Option(help: "Read custom user data from these dumps.")
    var data: [String] = []

    @Option(help: "Take the export as one of the other kind: partition or flexible.")
    var mode: String?

    @Option(help: "The field with the partition, for --mode partition.")
    var partitionKey: String?

    @Option(help: "Its type: string, objectId, uuid or long.")
    var partitionType: String?

    @Option(help: "The roles to take where an export has two kinds: unified or legacy.")
    var rules: String?

    @Flag(help: "Parts of rules that became narrower are warnings.")
    var acceptNarrower = false

    @Flag(help: "Print the report as JSON.")
    var json = false

    func run() async throws {
        let options = try options()
        let app = try await Import.reporting {
            try AppImportRun(export: export, output: output, options: options, data: data).run()
        }
        if json {
            print(
                String(decoding: ImportReportText.json(app.findings, app: app.appID), as: UTF8.self)
            )
        } else {
            for line in ImportReportText.lines(app.findings) { StandardError.print(line) }
            for file in app.files { print("\(output)/\(file.path)") }
        }
        guard app.findings.exitStatus == 0 else { throw ExitCode(app.findings.exitStatus) }
    }

    private func options() throws -> AppImportOptions {
        var options = AppImportOptions()
        options.appID = appID
        options.database = database
        for text in classes {
            let parts = text.split(separator: "=", omittingEmptySubsequences: false)
            guard parts.count == 2, parts.allSatisfy({ !$0.isEmpty }) else {
                throw ValidationError("--class \(text) has another form than PATH=NAME")
            }
            options.classNames[String(parts[0])] = String(parts[1])
        }
        if let mode {
            guard let kind = AppImportOptions.SyncKind(rawValue: mode) else {
                throw ValidationError("--mode is partition or flexible")
            }
            options.mode = kind
        }
        options.partitionKey = partitionKey
        options.partitionType = partitionType
        if let rules {
            guard let source = AppImportOptions.RuleSource(rawValue: rules) else {
                throw ValidationError("--rules is unified or legacy")
            }
            options.rules = source
        }
        options.acceptsNarrower = acceptNarrower
        return options
    }
}
