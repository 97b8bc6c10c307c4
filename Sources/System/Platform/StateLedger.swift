import Logging

/// Decides which lines about states are written, so that the last line about a subject is true.
///
/// - A state is written when it begins, up to `linesPerWindow` times in a window of a minute.
/// - With more changes than that, the latest state waits for the end of the window and is written
///   with the number of changes since the line before. While the subject keeps changing, each
///   further minute gets one line.
/// - The same state again is counted, and written after a minute at the earliest.
/// - A record below its category's level is written only if it takes back a written state that is
///   not well.
///
/// A pure rule: time comes with each call, and lines are returned.
struct StateLedger {
    private struct Entry {
        /// The content of the last record, written or not.
        var statement: String
        /// Whether the last *written* line says that all is well.
        var isWell: Bool
        var windowEnd: Duration
        var linesInWindow = 1
        /// Changes and repetitions since the last written line.
        var changes = 0
        var repetitions = 0
        /// The current state, if its line waits for the end of the window.
        var held: (record: LogRecord, isWell: Bool)?

        var owesRecovery: Bool { !isWell || held != nil }
    }

    static let window = Duration.seconds(60)
    static let linesPerWindow = 8
    /// Remembered subjects that are well and quiet. Subjects that are not well are bounded by the
    /// configured realms and users.
    private static let capacity = 256

    private var entries: [StateLine.Key: Entry] = [:]

    /// Subjects whose last written line has to be taken back once it is no longer true.
    private(set) var owedRecoveries = 0

    /// Returns the lines to write now, in order, for one more record.
    mutating func take(_ record: LogRecord, _ line: StateLine, at now: Duration) -> [LogRecord] {
        let key = line.key(of: record)
        let statement = line.statement(of: record)
        guard var entry = entries[key] else {
            guard !record.isBelowLevel else { return [] }
            makeRoom(at: now)
            set(
                Entry(statement: statement, isWell: line.isWell, windowEnd: now + Self.window),
                for: key
            )
            return [record]
        }
        if record.isBelowLevel, entry.isWell, entry.held == nil { return [] }
        var lines = writeHeld(&entry, at: now)
        let isChange = statement != entry.statement || line.subject == .configuration
        if isChange {
            entry.statement = statement
            entry.changes += 1
        } else if entry.held == nil, now >= entry.windowEnd {
            // Still so, after a minute.
        } else {
            entry.repetitions += 1
            set(entry, for: key)
            return lines
        }
        if now >= entry.windowEnd {
            entry.windowEnd = now + Self.window
            entry.linesInWindow = 0
        }
        if entry.linesInWindow < Self.linesPerWindow {
            entry.linesInWindow += 1
            lines.append(write(record, line.isWell, &entry))
        } else {
            entry.held = (record, line.isWell)
        }
        set(entry, for: key)
        return lines
    }

    /// The waiting lines that are due.
    mutating func due(at now: Duration) -> [LogRecord] {
        var lines: [LogRecord] = []
        for (key, var entry) in entries where entry.held != nil {
            lines += writeHeld(&entry, at: now)
            set(entry, for: key)
        }
        return lines
    }

    /// All waiting lines, due or not: nothing comes after them.
    mutating func flush() -> [LogRecord] {
        for key in entries.keys where entries[key]?.held != nil {
            entries[key]?.windowEnd = .zero
        }
        return due(at: .zero)
    }

    /// When a waiting line is due; nil if none waits.
    var nextDue: Duration? {
        entries.values.lazy.filter { $0.held != nil }.map(\.windowEnd).min()
    }

    private func writeHeld(_ entry: inout Entry, at now: Duration) -> [LogRecord] {
        guard let (record, isWell) = entry.held, now >= entry.windowEnd else { return [] }
        entry.held = nil
        // Until it has been quiet for a window, one line a minute is enough.
        entry.windowEnd = now + Self.window
        entry.linesInWindow = Self.linesPerWindow
        return [write(record, isWell, &entry)]
    }

    private func write(_ record: LogRecord, _ isWell: Bool, _ entry: inout Entry) -> LogRecord {
        defer {
            entry.isWell = isWell
            entry.changes = 0
            entry.repetitions = 0
        }
        var record = record
        if record.isBelowLevel { record = record.raised(to: .notice) }
        if entry.changes > 1 { record = record.adding("changes", "\(entry.changes)") }
        if entry.repetitions > 0 { record = record.adding("repeated", "\(entry.repetitions)") }
        return record
    }

    private mutating func set(_ entry: Entry, for key: StateLine.Key) {
        let old = entries.updateValue(entry, forKey: key)
        owedRecoveries += (entry.owesRecovery ? 1 : 0) - (old?.owesRecovery == true ? 1 : 0)
    }

    private mutating func makeRoom(at now: Duration) {
        guard entries.count >= Self.capacity else { return }
        entries = entries.filter { $0.value.owesRecovery || now < $0.value.windowEnd }
    }
}

extension LogRecord {
    func adding(_ name: String, _ value: String) -> LogRecord {
        LogRecord(
            level: level,
            category: category,
            message: message,
            fields: fields + [(name: name, value: value)],
            isBelowLevel: isBelowLevel
        )
    }

    fileprivate func raised(to level: Logger.Level) -> LogRecord {
        LogRecord(
            level: max(level, self.level),
            category: category,
            message: message,
            fields: fields
        )
    }
}
