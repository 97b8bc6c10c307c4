import Glibc

/// Held by the one agent that works on a data directory; the kernel frees it when the process ends,
/// however it ends.
package struct AgentLock: ~Copyable {
    private let descriptor: Int32

    package enum Failure: Error, Equatable {
        /// Another agent has it.
        case held
        case unusable(path: String, reason: String)
    }

    package init(path: String) throws(Failure) {
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw .unusable(path: path, reason: String(cString: strerror(errno)))
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            throw .held
        }
        self.descriptor = descriptor
    }

    deinit {
        close(descriptor)
    }
}
