import Logging
import Scheduling
import Synchronization
import Testing

@testable import Platform

@Suite("Log levels, categories and forms")
struct LogTests {
    final class Recorder: LogSink {
        let records = Mutex<[LogRecord]>([])

        func write(_ record: LogRecord) {
            records.withLock { $0.append(record) }
        }
    }

    func logger(_ category: String, _ settings: LogSettings, _ sink: Recorder) -> Logger {
        Logger(label: category) { AgentLogHandler(category: $0, settings: settings, sink: sink) }
    }

    @Test("A message passes only from its category's level up")
    func categories() {
        let sink = Recorder()
        let settings = LogSettings(level: .warn, categories: ["Sync.Client": .debug])
        logger("Sync.Client.Reset", settings, sink).debug("a")
        logger("Sync.ClientX", settings, sink).notice("b")
        logger("Sync", settings, sink).warning("c")
        settings.set(level: .off, categories: [:])
        logger("Sync", settings, sink).critical("d")
        #expect(sink.records.withLock { $0.map(\.message) } == ["a", "c"])
    }

    @Test("Every level of ours has a threshold of its own, but for trace and all")
    func thresholds() {
        let thresholds = LogLevel.allCases.map(\.threshold)
        #expect(thresholds.first == .some(nil))
        #expect(Set(thresholds.compactMap(\.self)).count == 7)
        #expect(LogLevel.info.threshold == .notice)
        #expect(LogLevel.detail.threshold == .info)
    }

    @Test("Fields come sorted, and an event's own field wins over the logger's")
    func fields() {
        let sink = Recorder()
        var logger = logger("A", LogSettings(level: .all), sink)
        logger[metadataKey: "realm"] = "stock"
        logger[metadataKey: "code"] = "1"
        logger.error("x", metadata: ["code": "2"])
        let fields = sink.records.withLock { $0.first?.fields.map { "\($0.name)=\($0.value)" } }
        #expect(fields == ["code=2", "realm=stock"])
    }

    @Test(
        "Values are quoted when they must be",
        arguments: [
            ("plain", "plain"), ("", "\"\""), ("two words", "\"two words\""),
            ("a\"b", "\"a\\\"b\""), ("line\nbreak", "\"line\\nbreak\""), ("ü", "ü"),
            ("\u{1b}[2J", "\"\\u{1b}[2J\""), ("\u{9b}x", "\"\\u{9b}x\""),
        ]
    )
    func quoting(value: String, quoted: String) {
        #expect(StandardErrorSink.quoted(value) == quoted)
    }

    @Test(
        "Field names are valid in journald",
        arguments: [
            ("realm", "REALM"), ("user-id", "USER_ID"), ("_x", "F_X"), ("1a", "F1A"),
            ("message", "F_MESSAGE"),
        ]
    )
    func fieldNames(name: String, field: String) {
        #expect(JournalSink.fieldName(name) == field)
    }

    @Test(
        "Wall time prints as ISO 8601",
        arguments: [
            (Int64(0), "1970-01-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"),
            (1_420_070_400_123, "2015-01-01T00:00:00.123Z"),
        ]
    )
    func wallTime(milliseconds: Int64, text: String) {
        #expect(WallTime(millisecondsSince1970: milliseconds).description == text)
    }
}
