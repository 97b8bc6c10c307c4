import Logging
import Synchronization
import Testing

@testable import Platform

@Suite("Messages that repeat")
struct RepetitionFilterTests {
    final class Clock: Sendable {
        let milliseconds = Mutex<Int64>(1_000_000)

        var now: WallTime {
            WallTime(millisecondsSince1970: milliseconds.withLock(\.self))
        }

        func advance(_ by: Int64) {
            milliseconds.withLock { $0 += by }
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

    @Test("An equal message within a minute is counted, and the next after that tells the count")
    func counted() {
        let filter = RepetitionFilter(recorder) { [clock] in clock.now }
        for _ in 0..<4 {
            filter.write(record("a"))
            clock.advance(10_000)
        }
        #expect(lines == ["a x=1"])
        clock.advance(30_000)
        filter.write(record("a"))
        clock.advance(60_000)
        filter.write(record("a"))
        #expect(lines == ["a x=1", "a x=1 repeated=3", "a x=1"])
    }

    @Test("Another message, other fields, and what is for debugging pass")
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

    @Test("However many different messages come, memory stays bounded and nothing is lost")
    func many() {
        let filter = RepetitionFilter(recorder) { [clock] in clock.now }
        for number in 0..<2000 { filter.write(record("a", "\(number)")) }
        #expect(lines.count == 2000)
    }
}
