import ArgumentParser
import FoundationEssentials
import JSON
import Migration
import Platform
import Scheduling
import ServerMigration

struct ImportDataCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "data",
        abstract: "Load documents as objects of an app.",
        discussion: """
            Sources are files of Extended JSON (lines or one array), BSON files, directories and \
            archives of mongodump, each also with gzip, or "-" for standard input. Best is \
            "mongodump --archive --gzip" with writers stopped. Running it again without changes \
            writes nothing; objects that clients changed since stay as they are. The server may run: \
            its clients then get the objects as they are loaded.
            """
    )

    @OptionGroup var options: MovedAppOptions

    @Option(help: "The map that \"import app\" wrote.")
    var map: String

    @Argument(help: "Files and directories, or DB.COLL=FILE.")
    var sources: [String]

    @Flag(help: "Write only the report.")
    var dryRun = false

    @Option(help: "An empty directory for report.json and unsynced.json.")
    var report: String?

    @Flag(help: "Convert no value to another type.")
    var strict = false

    @Flag(help: "Write over what clients have changed.")
    var overwrite = false

    @Flag(help: "Remove imported objects that the sources do not have.")
    var deleteMissing = false

    @Flag(help: "Print the report as JSON.")
    var json = false

    func run() async throws {
        let (app, storage) = try options.configuration()
        let target = try await options.target(app, map: map, isStrict: strict)
        let files = try await Import.reporting { try sources.flatMap { try SourceFiles.find($0) } }
        let output = try await Import.reporting { try report.map { try OutputDirectory($0) } }
        let unsynced = try await Import.reporting {
            try output.map { try LineFile("\($0.path)/unsynced.json") }
        }
        let progress = SourceProgress(files)
        var settings = DataImport.Options()
        settings.isDryRun = dryRun
        settings.overwrites = overwrite
        settings.deletesMissing = deleteMissing
        let result = try await Import.reporting {
            try await options.withStore(storage) { store, server in
                try await DataImport(
                    into: store,
                    target,
                    settings,
                    now: { WallTime.now().millisecondsSince1970 },
                    unsynced: { try unsynced?.append($0) },
                    progress: progress.note,
                    written: { try await server?.note($0) }
                ).run(files)
            }
        }
        progress.end()
        try await Import.reporting {
            try unsynced?.flush()
            try output?.write(try result.json.json(), to: "report.json")
        }
        for finding in result.findings { StandardError.print(finding) }
        if json {
            print(String(decoding: try result.json.json(), as: UTF8.self))
        } else {
            printLines(result)
        }
        guard result.exitStatus == 0 else { throw ExitCode(result.exitStatus) }
    }

    private func printLines(_ report: DataReport) {
        for (name, counts) in report.classes.sorted(by: { $0.key < $1.key }) {
            var parts = ["read \(counts.read)", "stored \(counts.stored)"]
            let others: [(String, Int)] = [
                ("unsynced", counts.unsynced), ("ignored", counts.ignored),
                ("repeated", counts.repeated), ("created", counts.created),
                ("updated", counts.updated), ("moved", counts.moved), ("kept", counts.kept),
                ("removed", counts.removed), ("converted", counts.counts.converted),
                ("rounded", counts.counts.rounded), ("default", counts.counts.defaulted),
                ("collapsed", counts.counts.collapsed), ("dropped", counts.counts.dropped),
                ("dangling", counts.dangling),
                ("collections in mixed", counts.counts.nestedCollections),
            ]
            parts += others.filter { $0.1 > 0 }.map { "\($0.0) \($0.1)" }
            print("\(name): \(parts.joined(separator: ", "))")
            for (path, count) in counts.droppedPaths.sorted(by: { $0.key < $1.key }) {
                print("  dropped \(path): \(count)")
            }
        }
    }
}

struct ImportVerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Read the sources again, and compare them with the store.",
        discussion: """
            Exit status: 0 if each document is equal, or was changed by clients since it was \
            imported; 1 if one differs, is missing, or is extra. The server may run.
            """
    )

    @OptionGroup var options: MovedAppOptions

    @Option(help: "The map that \"import app\" wrote.")
    var map: String

    @Argument(help: "The sources of \"import data\".")
    var sources: [String]

    @Flag(help: "Print the report as JSON.")
    var json = false

    func run() async throws {
        let (app, storage) = try options.configuration()
        let target = try await options.target(app, map: map)
        let files = try await Import.reporting { try sources.flatMap { try SourceFiles.find($0) } }
        let progress = SourceProgress(files)
        let report = try await Import.reporting {
            try await options.withStore(storage) { store, _ in
                try await ImportVerify(store, target).run(files, progress: progress.note)
            }
        }
        progress.end()
        if json {
            print(String(decoding: try report.json.json(), as: UTF8.self))
        } else {
            for (name, counts) in report.classes.sorted(by: { $0.key < $1.key }) {
                print(
                    "\(name): equal \(counts.equal), differ \(counts.differ), missing "
                        + "\(counts.missing), extra \(counts.extra), changed since "
                        + "\(counts.changedSince), unsynced \(counts.unsynced), repeated "
                        + "\(counts.repeated)"
                )
            }
            for difference in report.differences {
                print("  \(difference.className) \(difference.id): \(difference.place)")
            }
        }
        guard report.exitStatus == 0 else { throw ExitCode(report.exitStatus) }
    }
}
