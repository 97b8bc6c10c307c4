internal import Glibc

/// Keeps other agents from opening a realm: an exclusive lock on the `.lock` file beside it.
///
/// The kernel releases it when the process ends, however it ends. Programs that only read and write
/// data ignore it. A symbolic link in its place is refused: members of the group write to the directory.
final class FileLock {
    private let descriptor: Int32

    enum Failure: Error {
        case held
        case system(String)
    }

    init(path: String) throws(Failure) {
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o660)
        guard descriptor >= 0 else { throw .system(String(cString: strerror(errno))) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let code = errno
            Glibc.close(descriptor)
            throw code == EWOULDBLOCK ? .held : .system(String(cString: strerror(code)))
        }
        self.descriptor = descriptor
    }

    /// Whether the locked file is the one at the path.
    func isStill(at path: String) -> Bool {
        var (locked, named) = (stat(), stat())
        return fstat(descriptor, &locked) == 0 && stat(path, &named) == 0
            && locked.st_dev == named.st_dev && locked.st_ino == named.st_ino
    }

    /// Nil if the file is larger, or cannot be read.
    func content(atMost limit: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: limit + 1)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        return count >= 0 && count <= limit ? Array(bytes[..<count]) : nil
    }

    /// False if the file has any part of it now.
    func replaceContent(_ bytes: [UInt8]) -> Bool {
        ftruncate(descriptor, 0) == 0 && pwrite(descriptor, bytes, bytes.count, 0) == bytes.count
    }

    deinit {
        // A child process that is just being started holds the lock, too, until it has closed the
        // descriptor; so closing ours would not be enough.
        flock(descriptor, LOCK_UN)
        Glibc.close(descriptor)
    }
}
