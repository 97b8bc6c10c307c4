import Agent
import ArgumentParser
import Config
import Control
import Glibc
import Platform
import WorkDisplay

struct IngestCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ingest",
        abstract: "Write objects from JSON lines into a realm.",
        discussion: """
            Reads standard input, one JSON object per line, and inserts it as any program would: into \
            the file, whose checks apply. The agent uploads it, and need not run now. Members that \
            are left out get their defaults. Objects of asymmetric classes are removed once captured.
            Every batch is one transaction, and is written when it is full or the input pauses. The \
            first invalid line ends the command, with a message that says where and why; no line of \
            its batch is written.
            With --recovered the lines are a file that a client reset has written to recovered/: its \
            changes are reapplied to the rows as they are now. Additions to counters, lists, sets \
            and dictionaries are added again, and deleted rows are recreated whole. --dry-run shows \
            each change and every conflict; a real run prints conflicts on standard error. Use a \
            file once: a second run would add to counters twice.
            Exit status: 0 done, 1 a line was refused, 2 usage or configuration.
            """
    )

    @OptionGroup var files: ConfigurationOptions

    @Argument(help: "The realm.")
    var realm: String

    @Argument(help: "The class of the objects.")
    var className: String?

    @Flag(help: "Read a file of recovered/, and reapply its changes.")
    var recovered = false

    @Option(help: "Write so many lines in one transaction.")
    var batch = 1000

    @Flag(help: "Write everything in one transaction, or nothing.")
    var atomic = false

    @Flag(help: "Check every line, show what --recovered would change, and write nothing.")
    var dryRun = false

    @Flag(help: "Print the number of lines, and with --recovered each change, as JSON.")
    var json = false

    func validate() throws {
        guard recovered != (className != nil) else {
            throw ValidationError("give a class, or --recovered")
        }
        guard (1...100_000).contains(batch) else { throw ValidationError("--batch is 1 to 100000") }
    }

    func run() async throws {
        let configuration = await (try files.load()).located()
        guard let configured = configuration.realms.first(where: { $0.name == realm }) else {
            throw CommandFailure(
                status: .configuration,
                message: ControlError.unknownRealm(realm).description
            )
        }
        // The file's group may write it, and the imported objects.
        umask(0o007)
        var written = 0
        var report = RecoveredReport()
        do throws(RealmIngest.Failure) {
            var ingest = try RealmIngest(
                into: configured,
                className: className,
                batchSize: atomic ? nil : batch,
                isRehearsal: dryRun
            )
            defer { (written, report) = (ingest.writtenCount, ingest.report) }
            try read(into: &ingest)
        } catch {
            show(report, written)
            let before =
                written > 0 && !dryRun ? "; \(Counted(written, "line")) before it written" : ""
            throw CommandFailure(
                status: error.isOfConfiguration ? .configuration : .failed,
                message: "standard input\(error.description)\(before)"
            )
        }
        show(report, written)
    }

    private func show(_ report: RecoveredReport, _ written: Int) {
        if json {
            let changes = recovered ? #""changes":\#(report.json),"# : ""
            print(#"{\#(changes)"dry_run":\#(dryRun),"lines":\#(written),"realm":"\#(realm)"}"#)
        } else if recovered, dryRun {
            print(TextTable(RecoveredReport.header, report.rows))
            for line in report.meanings { print(line) }
        } else {
            for line in report.conflicts { StandardError.print(line) }
        }
    }

    private func read(into ingest: inout RealmIngest) throws(RealmIngest.Failure) {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        let display = ProgressDisplay()
        defer { display.end() }
        while true {
            var descriptor = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
            if poll(&descriptor, 1, 0) == 0 { try ingest.pause() }
            let count = buffer.withUnsafeMutableBytes {
                Glibc.read(STDIN_FILENO, $0.baseAddress, $0.count)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            try ingest.take(buffer[..<count])
            let written = ingest.writtenCount
            display.show(WorkProgress(share: nil, text: display.rate(written, "line")))
        }
        try ingest.finish()
    }
}
