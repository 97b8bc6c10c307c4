import Glibc

/// The files of a spool in a directory of their own, which one process uses at a time.
final class SpoolDirectory: Sendable {
    let path: String
    /// Holds the lock while it is open; the kernel releases it when the process ends.
    private let lock: Int32
    private let directory: Int32

    /// Creates the directory if it is missing; its parent must exist.
    init(_ path: String) throws(SpoolError) {
        self.path = path
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
            throw Self.failure("cannot create", path)
        }
        let lockPath = "\(path)/lock"
        let lock = open(lockPath, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard lock >= 0 else { throw Self.failure("cannot open", lockPath) }
        guard flock(lock, LOCK_EX | LOCK_NB) == 0 else {
            let isHeld = errno == EWOULDBLOCK
            let problem =
                isHeld
                ? SpoolError(.locked, "\(path): another process uses this spool")
                : Self.failure("cannot lock", lockPath)
            close(lock)
            throw problem
        }
        let directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else {
            let problem = Self.failure("cannot open", path)
            close(lock)
            throw problem
        }
        self.lock = lock
        self.directory = directory
    }

    deinit {
        flock(lock, LOCK_UN)
        close(lock)
        close(directory)
    }

    // MARK: Segments

    /// The numbers and sizes of all segments, in order.
    func segments() throws(SpoolError) -> [(number: UInt64, size: Int)] {
        guard let stream = opendir(path) else { throw Self.failure("cannot read", path) }
        defer { closedir(stream) }
        var segments: [(number: UInt64, size: Int)] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            guard name.hasSuffix(".jsonl"), let number = UInt64(name.dropLast(6)) else { continue }
            var status = stat()
            guard stat(file(number), &status) == 0 else {
                throw Self.failure("cannot read", file(number))
            }
            segments.append((number, Int(status.st_size)))
        }
        return segments.sorted { $0.number < $1.number }
    }

    /// Creates a segment, and makes its name durable.
    func create(_ number: UInt64) throws(SpoolError) -> Int32 {
        let path = file(number)
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Self.failure("cannot create", path) }
        guard fsync(directory) == 0 else {
            let problem = Self.failure("cannot sync", self.path)
            close(descriptor)
            unlink(path)
            throw problem
        }
        return descriptor
    }

    func read(_ number: UInt64) throws(SpoolError) -> [UInt8] {
        let path = file(number)
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Self.failure("cannot open", path) }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 256 << 10)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw Self.failure("cannot read", path) }
            if count == 0 { return bytes }
            bytes += buffer[..<count]
        }
    }

    /// Ends a segment. If the removal is not durable, its lines are delivered again.
    func remove(_ number: UInt64) throws(SpoolError) {
        guard unlink(file(number)) == 0 || errno == ENOENT, fsync(directory) == 0 else {
            throw Self.failure("cannot remove", file(number))
        }
    }

    func file(_ number: UInt64) -> String {
        let digits = "\(number)"
        return "\(path)/\(String(repeating: "0", count: max(0, 20 - digits.count)))\(digits).jsonl"
    }

    static func failure(_ action: String, _ path: String) -> SpoolError {
        SpoolError(
            .inputOutput,
            "\(action) \(path): \(String(cString: strerror(errno)).lowercased())"
        )
    }
}
