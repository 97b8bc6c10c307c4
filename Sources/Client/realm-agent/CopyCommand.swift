import Agent
import ArgumentParser
import Config
import Control
import Glibc
import Platform
import Scopes
import WorkDisplay

struct CopyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "copy",
        abstract: "Copy a realm to a new file: a seed, a non-synced file or an archive.",
        discussion: """
            Without an option the copy continues from the realm's progress, under a file ident of its \
            own: for another machine, or as the seed of its realms. The realm must have no pending \
            uploads; a running agent uploads them first. With --to-local the copy is a non-synced \
            file; with --to-partition its first upload is its whole content.
            With --merge the destination is an existing realm file: it gets every object of the \
            source in one transaction, which replaces those with the same primary key; if it is \
            synced, its agent uploads the changes. With --stdout the copy is written to standard \
            output.
            The source is a realm of the configuration, or the path of a realm file. Except with \
            --merge the destination must not exist, and appears whole or not at all. Its progress is \
            on standard error: a bar on a terminal, else lines.
            Exit status: 0 done, 1 failed, 2 usage or configuration, 3 no agent or network to upload \
            with, 4 log-in, 5 client reset required, 124 timed out.
            """
    )

    @OptionGroup var files: ConfigurationOptions

    @Argument(help: "A realm, or the path of a realm file.")
    var source: String

    @Argument(help: "The file to create; none with --stdout.")
    var destination: String?

    @Flag(help: "Create a non-synced file.")
    var toLocal = false

    @Option(
        help: ArgumentHelp(
            "Create a file for this partition: string:…, int:…, object_id:…, uuid:… or null.",
            valueName: "partition"
        )
    )
    var toPartition: String?

    @Option(
        help: ArgumentHelp("Create a file for this user of the configuration.", valueName: "user")
    )
    var asUser: String?

    @Flag(help: "Write the objects into an existing realm file.")
    var merge = false

    @Flag(help: "Write the copy to standard output.")
    var stdout = false

    @Option(help: "The limit on the wait for uploads, such as 30s or 5m.")
    var timeout: TimeoutArgument?

    @Flag(help: "Print the result as JSON.")
    var json = false

    func validate() throws {
        if stdout {
            guard destination == nil, !merge, !json else {
                throw ValidationError("--stdout goes with no destination, --merge or --json")
            }
        } else if destination == nil {
            throw ValidationError("name the file to make, or write to --stdout")
        }
        if merge, toLocal || toPartition != nil || asUser != nil {
            throw ValidationError(
                "--merge goes with none of --to-local, --to-partition and --as-user"
            )
        }
        if toLocal, toPartition != nil || asUser != nil {
            throw ValidationError("--to-local goes with neither --to-partition nor --as-user")
        }
        if let toPartition, Partition(argument: toPartition) == nil {
            throw ValidationError(
                "\(toPartition) is not a partition; write string:…, int:…, object_id:…, uuid:… or null"
            )
        }
    }

    func run() async throws {
        let configuration = await (try files.load()).located()
        let report: CopyReport
        do {
            guard let destination else { return try await printCopy(configuration) }
            let path =
                destination.hasPrefix("/")
                ? destination : "\(Self.workingDirectory)/\(destination)"
            report =
                merge
                ? try await OfflineRealmCopier(configuration).merge(source, into: path)
                : try await copy(request(path), configuration)
        } catch let error as ControlError {
            throw CommandFailure(error)
        }
        if json {
            print(try report.controlJSON())
        } else if report.rejected > 0 {
            StandardError.print(
                "\(report.path): \(Counted(report.rejected, "value")) that cannot be synced became "
                    + "defaults; `_realm_issue` in the file lists them"
            )
        }
    }

    private func request(_ path: String) -> CopyRequest {
        CopyRequest(
            path: path,
            toLocal: toLocal ? true : nil,
            partition: toPartition,
            user: asUser
        )
    }

    /// Copies to a file in a private temporary directory, and prints that.
    private func printCopy(_ configuration: AgentConfiguration) async throws {
        let scratch = try ScratchDirectory()
        defer { scratch.remove() }
        let path = "\(scratch.path)/copy.sqlite"
        _ = try await copy(request(path), configuration, isPrivate: true)
        try StandardOutput.write(contentsOf: path)
    }

    /// Copies through the running agent, which can upload first; else in this process.
    ///
    /// - Parameter isPrivate: the agent may have no access to the place of the copy, and only uploads.
    private func copy(
        _ request: CopyRequest,
        _ configuration: AgentConfiguration,
        isPrivate: Bool = false
    ) async throws -> CopyReport {
        let copier = OfflineRealmCopier(configuration)
        let display = ProgressDisplay()
        defer { display.end() }
        guard !source.contains("/") else {
            return try await copier.copy(source, request) { display.show(WorkProgress($0)) }
        }
        let client = ControlClient(socketPath: configuration.daemon.controlSocket)
        let turn = Turn(timeout: timeout?.duration ?? .seconds(3_600))
        // Programs may write at the same time, which requires another wait.
        while true {
            do {
                guard !isPrivate else {
                    return try await copier.copy(source, request) { display.show(WorkProgress($0)) }
                }
                return try await client.copy(source, request) { display.show(WorkProgress($0)) }
            } catch let error as ControlError {
                switch error.code {
                case "agent.not_running":
                    return try await copier.copy(source, request) { display.show(WorkProgress($0)) }
                case "realm.pending_uploads": try await upload(client, turn, else: error)
                default: throw error
                }
            }
        }
    }

    /// Uploads first, then downloads: the copy must not receive its own writes.
    private func upload(
        _ client: ControlClient,
        _ turn: Turn,
        else pending: ControlError
    ) async throws {
        for direction in [WaitRequest.Direction.upload, .download] {
            let rest = turn.rest(of: timeout?.duration).map { $0 / .seconds(1) }
            let request = WaitRequest(directions: [direction], timeoutInSeconds: rest)
            let report: SyncReport
            do throws(ControlError) {
                report = try await client.wait(request, for: source)
            } catch {
                throw error.code == "agent.not_running" ? pending : error
            }
            guard report.outcome != .done else { continue }
            throw CommandFailure(
                status: ExitStatus(report.outcome),
                message: "\(source) cannot be uploaded: "
                    + "\(report.detail ?? report.outcome.rawValue); copy it with --to-local, or "
                    + "when everything is uploaded"
            )
        }
    }

    private static var workingDirectory: String {
        guard let path = getcwd(nil, 0) else { return "" }
        defer { free(path) }
        return String(cString: path)
    }
}

extension WorkProgress {
    fileprivate init(_ copy: CopyProgress) {
        self.init(
            copy.writtenBytes,
            of: copy.sourceBytes,
            text: "\(copy.writtenBytes >> 20) of \(copy.sourceBytes >> 20) MiB copied"
        )
    }
}
