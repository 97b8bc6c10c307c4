import CSystemd
import Glibc
import Scheduling

/// The destination of the log.
package enum LogOutput: String, Sendable, CaseIterable {
    case journald
    case stderr

    /// The journal if standard error is connected to it, as under systemd.
    package static func detected(environment: [String: String]) -> LogOutput {
        guard let stream = environment["JOURNAL_STREAM"] else { return .stderr }
        var status = stat()
        guard fstat(STDERR_FILENO, &status) == 0 else { return .stderr }
        return stream == "\(status.st_dev):\(status.st_ino)" ? .journald : .stderr
    }

    package func sink(identifier: String) -> any LogSink {
        switch self {
        case .journald: JournalSink(identifier: identifier)
        case .stderr: StandardErrorSink(clock: WallTime.now)
        }
    }
}
