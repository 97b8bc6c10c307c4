import FoundationEssentials
import Logging
import Synchronization
import Testing

@testable import Platform

@Suite("Messages that repeat")
struct RepetitionFilterTests {
    final class Clock: Sendable {
        let uptime = Mutex(Duration.seconds(1_000))

        var now: Duration { uptime.withLock(\.self) }

        func advance(_ by: Duration) {
            uptime.withLock { $0 += by }
        }
    }

    let recorder = LogTests.Recorder()
    let clock = Clock()

    var lines: [String] {
        recorder.records.withLock { records in
            records.map { record in
                record.fields.reduce(record.message) { "\($0) \($1.name)=\($1.value)" }
            }
        }
    }

    func record(_ message: String, _ value: String = "1") -> LogRecord {
        LogRecord(
            level: .warning,
            category: "A",
            message: message,
            fields: [(name: "x", value: value)]
        )
    }

    @Test("An equal message within a minute is counted, and the next one after that has the count")
    func counted() {
        let filter = RepetitionFilter(recorder) { [clock] in clock.now }
        for _ in 0..<4 {
            filter.write(record("a"))
            clock.advance(.seconds(10))
        }
        #expect(lines == ["a x=1"])
        clock.advance(.seconds(30))
        filter.write(record("a"))
        clock.advance(.seconds(60))
        filter.write(record("a"))
        #expect(lines == ["a x=1", "a x=1 repeated=3", "a x=1"])
    }

    @Test("Another message, other fields, and debug messages pass")
    func others() {
        let filter = RepetitionFilter(recorder) { [clock] in clock.now }
        filter.write(record("a"))
        filter.write(record("b"))
        filter.write(record("a", "2"))
        let trace = LogRecord(level: .debug, category: "A", message: "t", fields: [])
        filter.write(trace)
        filter.write(trace)
        #expect(lines == ["a x=1", "b x=1", "a x=2", "t", "t"])
    }

    @Test("With any number of different messages, memory stays bounded and nothing is lost")
    func many() {
        let filter = RepetitionFilter(recorder) { [clock] in clock.now }
        for number in 0..<2000 { filter.write(record("a", "\(number)")) }
        #expect(lines.count == 2000)
    }

    @Test("A state that waits for the end of the minute is written then, without another message")
    func held() async {
        let filter = RepetitionFilter(recorder) { [clock] in clock.now }
        for number in 0...StateLedger.linesPerWindow {
            filter.write(
                LogRecord(
                    level: .notice,
                    category: "A",
                    message: number.isMultiple(of: 2) ? "suspended" : "resumed",
                    fields: []
                )
            )
        }
        #expect(lines.last == "resumed")
        let (slept, hasSlept) = AsyncStream<Void>.makeStream()
        await withTaskGroup { group in
            group.addTask { [clock] in
                await filter.run { duration in
                    clock.advance(duration)
                    hasSlept.yield()
                }
            }
            for await _ in slept { break }
            group.cancelAll()
        }
        #expect(lines.last == "suspended")
    }

    @Test("A logger passes a recovery below its level, and nothing else")
    func recovery() {
        let filter = RepetitionFilter(recorder) { [clock] in clock.now }
        let settings = LogSettings(level: .warn)
        let logger = Logger(label: "A") {
            AgentLogHandler(category: $0, settings: settings, sink: filter)
        }
        logger.notice("connected")
        logger.warning("not connected")
        logger.notice("b")
        logger.info("connected")
        logger.info("disconnected")
        #expect(lines == ["not connected", "connected"])
    }

    @Test("Every message about a state occurs in the sources")
    func catalogue() throws {
        let sources = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Sources")
        var text = ""
        for module in ["Agent", "Backend/ServerCluster", "Client/RealmSync", "Client/SyncClient"] {
            let files = try FileManager.default.subpathsOfDirectory(
                atPath: sources.appending(path: module).path
            )
            for file in files where file.hasSuffix(".swift") {
                let url = sources.appending(path: module).appending(path: file)
                text += try String(contentsOf: url, encoding: .utf8)
            }
        }
        for message in StateLine.lines.keys {
            #expect(text.contains("\"\(message)\""), "\(message)")
        }
    }
}
