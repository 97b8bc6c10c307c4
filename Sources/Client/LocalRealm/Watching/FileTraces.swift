internal import Glibc
internal import SQLite

/// The state of a realm's files by the file system, which costs no descriptor: a commit changes it, unless it
/// follows another write within the granularity of the file system's clock.
struct FileTraces: Equatable {
    private let database: FileTrace?
    /// The write-ahead log, which comes and goes.
    private let log: FileTrace?

    /// - Parameters:
    ///   - path: of the database file.
    ///   - logPath: of its write-ahead log.
    init(path: String, logPath: String) {
        self.database = FileTrace(path: path)
        self.log = FileTrace(path: logPath)
    }

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
private struct FileTrace: Equatable {
    let identity: FileIdentity
    private let size: off_t
    private let modified: Moment
    private let changed: Moment

    private struct Moment: Equatable {
        let seconds: Int
        let nanoseconds: Int

        init(_ time: timespec) {
            self.seconds = time.tv_sec
            self.nanoseconds = time.tv_nsec
        }
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
}
