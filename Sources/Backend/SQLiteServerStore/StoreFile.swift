import Glibc
import ServerStore

/// The store's file on disk: private to its owner, and used by one process at a time.
final class StoreFile: Sendable {
    /// Holds the lock while it is open; the kernel releases it when the process ends.
    private let lock: Int32

    /// Creates the file and its directory if they are missing.
    init(path: String) throws(StoreError) {
        let directory = path.split(separator: "/").dropLast().joined(separator: "/")
        try Self.makeDirectory("/\(directory)", for: path)
        let lockPath = "\(path).lock"
        let lock = open(lockPath, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard lock >= 0 else { throw Self.failure("cannot open", lockPath) }
        self.lock = lock
        guard flock(lock, LOCK_EX | LOCK_NB) == 0 else {
            let isHeld = errno == EWOULDBLOCK
            throw isHeld
                ? StoreError(.locked, "\(path): another realm-server uses this store")
                : Self.failure("cannot lock", lockPath)
        }
        // SQLite gives its log files the mode of the database.
        let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw Self.failure("cannot open", path) }
        defer { Glibc.close(file) }
        guard fchmod(file, 0o600) == 0 else { throw Self.failure("cannot protect", path) }
    }

    deinit {
        // A child process shares the lock between fork and exec.
        flock(lock, LOCK_UN)
        Glibc.close(lock)
    }

    private static func makeDirectory(
        _ directory: String,
        for path: String
    ) throws(StoreError) {
        guard mkdir(directory, 0o700) != 0, errno != EEXIST else { return }
        guard errno == ENOENT, let end = directory.lastIndex(of: "/"), end > directory.startIndex
        else { throw failure("cannot create the directory of", path) }
        try makeDirectory(String(directory[..<end]), for: path)
        guard mkdir(directory, 0o700) == 0 else {
            throw failure("cannot create the directory of", path)
        }
    }

    private static func failure(_ action: String, _ path: String) -> StoreError {
        let isFull = errno == ENOSPC || errno == EDQUOT
        let reason = String(cString: strerror(errno))
        return StoreError(isFull ? .diskFull : .failed, "\(path): \(action) the store: \(reason)")
    }
}
