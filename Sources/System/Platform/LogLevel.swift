package import Logging

/// The levels of the log, in the configuration's words.
package enum LogLevel: String, Sendable, CaseIterable {
    case off, fatal, error, warn, info, detail, debug, trace, all

    /// The lowest level of the logging library that passes; nil if none passes.
    ///
    /// The library's seven levels map to our seven: its `notice` is our `info`, its `info` our
    /// `detail`.
    package var threshold: Logger.Level? {
        switch self {
        case .off: nil
        case .fatal: .critical
        case .error: .error
        case .warn: .warning
        case .info: .notice
        case .detail: .info
        case .debug: .debug
        case .trace, .all: .trace
        }
    }
}

extension Logger.Level {
    /// Our word for the level.
    package var word: String {
        switch self {
        case .critical: "fatal"
        case .error: "error"
        case .warning: "warn"
        case .notice: "info"
        case .info: "detail"
        case .debug: "debug"
        case .trace: "trace"
        }
    }

    /// The priority of syslog and journald, 2 (critical) ... 7 (debug).
    var priority: Int {
        switch self {
        case .critical: 2
        case .error: 3
        case .warning: 4
        case .notice, .info: 6
        case .debug, .trace: 7
        }
    }
}
