import Agent
import ArgumentParser
import Config
import Control

struct SchemaCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema",
        abstract: "Print a realm's classes and properties.",
        discussion: """
            The YAML can be put under realms.NAME.schema of a configuration, or into a schema file. \
            Reads the realm's file without changing it; no agent need run.

            Exit status: 0 printed, 1 failed, 2 configuration, or the file is not a local realm.
            """
    )

    @OptionGroup var files: ConfigurationOptions

    @Argument(help: "The realm's name in the configuration.")
    var realm: String

    @Flag(help: "Print JSON of the same form.")
    var json = false

    @Flag(help: "Print the tables as SQL.")
    var sql = false

    func validate() throws {
        if json, sql { throw ValidationError("--json and --sql exclude each other") }
    }

    func run() async throws {
        let configuration = await (try files.load()).located()
        guard let configured = configuration.realms.first(where: { $0.name == realm }) else {
            throw CommandFailure(
                status: .configuration,
                message: ControlError.unknownRealm(realm).description
            )
        }
        let report: SchemaReport
        do throws(SchemaReport.Failure) {
            report = try SchemaReport(path: configured.path)
        } catch {
            throw CommandFailure(
                status: error.code == "realm.not_a_realm" ? .configuration : .failed,
                message: error.description
            )
        }
        print(sql ? report.sql : json ? report.json : report.yaml, terminator: "")
    }
}
