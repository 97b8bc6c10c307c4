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
        "Keys and values of objects are in the log only if its settings say so",
        arguments: [false, true]
    )
    func values(areShown: Bool) {
        let sink = Recorder()
        let settings = LogSettings(level: .all, showsValues: areShown)
        logger("A", settings, sink).trace(
            "x",
            metadata: ["class": "Item", "key": "7", "content": "y"]
        )
        let names = sink.records.withLock { $0.first?.fields.map(\.name) }
        #expect(names == (areShown ? ["class", "content", "key"] : ["class"]))
    }

    @Test("A warning with a code has its remedy, with the names of the realm and the user")
    func remedy() {
        let sink = Recorder()
        var logger = logger("A", LogSettings(level: .all), sink)
        logger[metadataKey: "realm"] = "stock"
        logger[metadataKey: "user"] = "till"
        logger.warning("x", metadata: ["code": "sync.permission_denied"])
        logger.warning("x", metadata: ["code": "auth.logged_out"])
        logger.warning("x", metadata: ["code": "no.such_code"])
        logger.info("x", metadata: ["code": "auth.logged_out"])
        let remedies = sink.records.withLock { records in
            records.map { record in record.fields.first { $0.name == "remedy" }?.value }
        }
        #expect(
            remedies == [
                "let the server's operator grant access, then `realm-agent restart stock`",
                "`realm-agent users login till`", nil, nil,
            ]
        )
    }

    @Test(
        "An instant is read with and without fractions of a second, and nothing else is",
        arguments: [
            ("2026-11-20T22:30:00Z", Int64(1_795_213_800_000)),
            ("2026-11-20T22:30:00.250Z", 1_795_213_800_250), ("tomorrow", nil),
            ("22:30", nil), ("1969-12-31T23:59:59Z", nil),
        ]
    )
    func instants(text: String, milliseconds: Int64?) {
        #expect(WallTime(iso8601: text)?.millisecondsSince1970 == milliseconds)
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
