import Logging
import Synchronization

/// Counts a message that comes again and again instead of repeating it.
///
/// The first is written at once. Equal ones within a minute are counted, and the next after that says
/// how many were left out. Messages for debugging pass as they are.
package final class RepetitionFilter: LogSink {
    private struct Entry {
        var writtenAt: Int64
        var leftOut = 0
    }

    private let sink: any LogSink
    private let clock: @Sendable () -> WallTime
    private let entries = Mutex<[String: Entry]>([:])
    private static let windowInMilliseconds: Int64 = 60_000
    /// Different messages remembered; with more, the oldest are forgotten.
    private static let capacity = 256

    package init(_ sink: any LogSink, clock: @escaping @Sendable () -> WallTime) {
        self.sink = sink
        self.clock = clock
    }

    package func write(_ record: LogRecord) {
        guard record.level > .debug else { return sink.write(record) }
        let now = clock().millisecondsSince1970
        let key = Self.key(of: record)
        let leftOut = entries.withLock { entries -> Int? in
            if let entry = entries[key],
                // A clock that was set back ends the window, too.
                (0..<Self.windowInMilliseconds).contains(now - entry.writtenAt)
            {
                entries[key]?.leftOut += 1
                return nil
            }
            let leftOut = entries[key]?.leftOut ?? 0
            if entries.count >= Self.capacity {
                entries = entries.filter { now - $0.value.writtenAt < Self.windowInMilliseconds }
                if entries.count >= Self.capacity { entries = [:] }
            }
            entries[key] = Entry(writtenAt: now)
            return leftOut
        }
        switch leftOut {
        case nil: break
        case 0: sink.write(record)
        case .some(let count): sink.write(record.adding("repeated", "\(count)"))
        }
    }

    private static func key(of record: LogRecord) -> String {
        // A new session with each connection does not make an old story new.
        record.fields.filter { $0.name != "session" }
            .reduce("\(record.level) \(record.category) \(record.message)") {
                "\($0)\u{0}\($1.name)\u{0}\($1.value)"
            }
    }
}

extension LogRecord {
    fileprivate func adding(_ name: String, _ value: String) -> LogRecord {
        LogRecord(
            level: level,
            category: category,
            message: message,
            fields: fields + [(name: name, value: value)]
        )
    }
}
