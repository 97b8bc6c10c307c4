internal import Glibc
internal import SQLite

/// The state of a realm's files by the file system, which costs no descriptor: a commit changes it, unless it
/// follows another write within the granularity of the file system's clock.
struct FileTraces: Equatable, Sendable {
    let database: FileTrace?
    /// The write-ahead log, which comes and goes.
    private let log: FileTrace?

    /// - Parameters:
    ///   - path: of the database file.
    ///   - logPath: of its write-ahead log.
    init(path: String, logPath: String) {
        self.database = FileTrace(path: path)
        self.log = FileTrace(path: logPath)
    }

    /// Whether there is a log that is not empty.
    var hasLog: Bool { log.map { $0.size > 0 } ?? false }

    /// False if the database file was removed or replaced since. Costs half of new traces.
    func areOfFile(at path: String) -> Bool {
        database?.identity == FileIdentity(path: path)
    }

    /// False if the database file was removed or replaced.
    func isOfSameFile(as other: FileTraces) -> Bool {
        database?.identity == other.database?.identity
    }
}

/// One file. A restored copy may have the size and the modification time of the file before, but never the time of
/// its last change.
struct FileTrace: Equatable, Sendable {
    let identity: FileIdentity
    fileprivate let size: off_t
    private let modified: Moment
    private let changed: Moment

    private struct Moment: Equatable, Sendable {
        let seconds: Int
        let nanoseconds: Int

        init(_ time: timespec) {
            self.seconds = time.tv_sec
            self.nanoseconds = time.tv_nsec
        }

        var time: Duration { .seconds(seconds) + .nanoseconds(nanoseconds) }
    }

    /// Nil if there is no such file.
    init?(path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.identity = FileIdentity(status)
        self.size = status.st_size
        self.modified = Moment(status.st_mtim)
        self.changed = Moment(status.st_ctim)
    }

    /// One line, different for each state of the file.
    var text: String {
        let times = [modified, changed].map { "\($0.seconds).\($0.nanoseconds)" }
        return "\(identity.inodeText) \(size) \(times.joined(separator: " "))"
    }

    /// Whether every later change would give the file other times.
    ///
    /// The file system takes them from the kernel's coarse clock, which advances every few milliseconds; one that stores
    /// whole seconds, or even ones, cuts off the rest.
    var isSettled: Bool {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME_COARSE, &now)
        return Self.isSettled(
            lastChange: max(modified.time, changed.time),
            isCoarse: modified.nanoseconds == 0 && changed.nanoseconds == 0,
            now: Moment(now).time
        )
    }

    static func isSettled(lastChange: Duration, isCoarse: Bool, now: Duration) -> Bool {
        now - lastChange > (isCoarse ? longestTick : .zero)
    }

    private static let longestTick = Duration.seconds(2)
}
