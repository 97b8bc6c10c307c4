import Glibc
import Synchronization

/// Held by the one process that works on a data directory; the kernel frees it when the process ends,
/// however it ends.
package struct DirectoryLock: ~Copyable {
    private let descriptor: Int32

    package enum Failure: Error, Equatable {
        /// Another agent holds the lock.
        case held(path: String)
        case unusable(path: String, reason: String)
    }

    package init(path: String) throws(Failure) {
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw .unusable(path: path, reason: String(cString: strerror(errno)))
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let code = errno
            close(descriptor)
            guard code == EWOULDBLOCK else {
                throw .unusable(path: path, reason: String(cString: strerror(code)))
            }
            throw .held(path: path)
        }
        self.descriptor = descriptor
    }

    deinit {
        // A program that was just being started may hold a copy of the descriptor for a moment.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }
}

extension DirectoryLock.Failure: CustomStringConvertible {
    package var description: String {
        switch self {
        case .held(let path):
            "another agent holds \(path); stop it, or set agent.data_directory to another directory"
        case .unusable(let path, let reason): "\(path) cannot be locked: \(reason)"
        }
    }
}

/// Keeps the lock until it is released; at the latest until nothing refers to it any more.
package final class HeldDirectoryLock: Sendable {
    private let lock: Mutex<DirectoryLock?>

    package init(_ lock: consuming DirectoryLock) {
        self.lock = Mutex(lock)
    }

    package func release() {
        lock.withLock { $0 = nil }
    }
}
