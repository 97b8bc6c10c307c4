internal import Glibc
internal import SQLite
internal import Schemas
import Scopes

/// Reads and writes the `RestRecord` of one realm file, which is in its lock file.
///
/// A record is believed if the file has the home, size and times that it had when nothing of other programs waited in
/// it, and no log. It is only written once any later write would give the file other times (`FileTrace.isSettled`).
final class RestRecords {
    private let lock: FileLock
    private let path: String
    private let owner: RealmOwner
    private let program: FileTrace
    private let opening: UInt64
    /// As in the lock file, if this process has read or written it.
    private var current: [UInt8]?

    private static let largestSize = 4096
    /// Several ticks of the kernel's coarse clock.
    private static let pauseInMicroseconds: UInt32 = 20_000

    /// Nil if changes of the file may have no traces: on file systems of other machines, or of which a power cut takes
    /// the times back; if the log is elsewhere, beside the target of a link; and behind the file layer of tests.
    init?(_ configuration: LocalRealmConfiguration, _ lock: FileLock) {
        guard configuration.vfs == nil, FileSystem.notifiesOfAllWrites(to: configuration.path),
            !FileSystem.delaysTimes, !FileHome.isLink(path: configuration.path),
            let program = FileTrace(path: "/proc/self/exe")
        else { return nil }
        self.lock = lock
        self.path = configuration.path
        self.owner = configuration.owner
        self.program = program
        self.opening = StableHash.value(of: configuration.identity.utf8)
    }

    private var logPath: String { path + "-wal" }

    private func head(_ file: FileTrace, _ home: String) -> String {
        RestRecord.head(program: program, opening: opening, file: file, home: home)
    }

    /// The state of the file, and its traces; nil unless it is as it was at its last rest.
    func read(machineID: String) -> (row: RealmStateRow, traces: FileTraces)? {
        let traces = FileTraces(path: path, logPath: logPath)
        guard let file = traces.database, !traces.hasLog,
            let home = FileHome.describe(path: path, machineID: machineID),
            let bytes = lock.content(atMost: Self.largestSize),
            let record = RestRecord(bytes, head: head(file, home), home: home, owner: owner)
        else { return nil }
        current = bytes
        return (record.row, traces)
    }

    /// The traces of the file from which on no write goes unnoticed; nil if the last one is too fresh.
    ///
    /// Waits for some milliseconds if the file was just written.
    func settledTrace() -> FileTrace? {
        for isLast in [false, true] {
            guard let trace = FileTrace(path: path) else { return nil }
            if trace.isSettled { return trace }
            if !isLast { usleep(Self.pauseInMicroseconds) }
        }
        return nil
    }

    /// The same without waiting, and only of a file without a log.
    func traceIfSettled() -> FileTrace? {
        let traces = FileTraces(path: path, logPath: logPath)
        guard !traces.hasLog, let file = traces.database, file.isSettled else { return nil }
        return file
    }

    /// Makes the record worthless, so that the next opening reads the file.
    func forget() {
        current = nil
        _ = lock.replaceContent([])
    }

    /// Call it once the file is closed, with its traces and state of a moment before at which nothing waited in it.
    ///
    /// Without a record the next opening only takes longer, so an error is ignored.
    func write(_ row: RealmStateRow, ifStill trace: FileTrace) {
        let traces = FileTraces(path: path, logPath: logPath)
        guard traces.database == trace, !traces.hasLog else { return }
        let bytes = RestRecord(row: row).bytes(head: head(trace, row.home))
        guard bytes != current, bytes.count <= Self.largestSize else { return }
        current = lock.replaceContent(bytes) ? bytes : nil
    }
}

extension LocalRealmConfiguration {
    /// Differs between settings that an opening applies differently to the file.
    fileprivate var identity: String {
        var text = "\(Layout.version) \(owner) \(isReadOnly) \(requiresLinkTargets)\n"
        for schema in schema?.classes ?? [] {
            text += "\(schema.name) \(schema.kind)\n"
            for property in schema.properties {
                text +=
                    "\(property.name) \(property.type) \(property.collection) \(property.isNullable)\n"
            }
        }
        if schema == nil { text += "learned\n" }
        text += options.map { "\($0.key) \($0.value)\n" }.sorted().joined()
        text += learnedCounters.map { "\($0)\n" }.sorted().joined()
        return text + remoteTriggers.map { "\($0)\n" }.joined()
    }
}
