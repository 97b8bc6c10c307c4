import CLinux
import Glibc
import Synchronization

/// Wakes a thread that blocks in `poll`.
final class WakePipe: Sendable {
    /// Readable once `raise` was called; -1 where the process is out of descriptors.
    let reader: Int32
    private let writer: Int32

    init() {
        var ends: [Int32] = [-1, -1]
        _ = linux_pipe(&ends)
        (reader, writer) = (ends[0], ends[1])
    }

    deinit {
        if reader >= 0 { close(reader) }
        if writer >= 0 { close(writer) }
    }

    func raise() {
        var byte: UInt8 = 1
        _ = write(writer, &byte, 1)
    }
}
