internal import CPostgres
internal import Glibc

/// A descriptor that one thread signals and another one polls.
final class EventDescriptor: Sendable {
    let descriptor: Int32

    init() throws(PostgreSQLError) {
        descriptor = cpostgres_event()
        guard descriptor >= 0 else {
            throw PostgreSQLError(.unavailable, "the process has no descriptor left (\(errno))")
        }
    }

    deinit {
        close(descriptor)
    }

    /// Makes the descriptor readable until it is drained.
    func signal() {
        var one: UInt64 = 1
        // A full counter is readable already.
        _ = write(descriptor, &one, MemoryLayout<UInt64>.size)
    }

    func drain() {
        var count: UInt64 = 0
        _ = read(descriptor, &count, MemoryLayout<UInt64>.size)
    }
}
