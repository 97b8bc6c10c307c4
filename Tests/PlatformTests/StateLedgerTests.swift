import Logging
import TestSupport
import Testing

@testable import Platform

@Suite("Lines about states")
struct StateLedgerTests {
    static func record(
        _ message: String,
        _ fields: [String: String] = ["realm": "stock"],
        level: Logger.Level = .notice,
        isBelowLevel: Bool = false
    ) -> LogRecord {
        LogRecord(
            level: level,
            category: "A",
            message: message,
            fields: fields.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) },
            isBelowLevel: isBelowLevel
        )
    }

    /// Lines that a ledger wrote, with their times.
    struct Journal {
        var ledger = StateLedger()
        var now = Duration.zero
        var lines: [(at: Duration, record: LogRecord)] = []

        mutating func tell(_ record: LogRecord) throws {
            let line = try #require(StateLine(record))
            lines += ledger.take(record, line, at: now).map { (now, $0) }
        }

        /// Time passes, and due lines are written in between.
        mutating func pass(_ duration: Duration) {
            let end = now + duration
            while let due = ledger.nextDue, due <= end {
                now = max(now, due)
                lines += ledger.due(at: now).map { (now, $0) }
            }
            now = end
        }

        var texts: [String] {
            lines.map { line in
                line.record.fields.filter { $0.name != "realm" }
                    .reduce(line.record.message) { "\($0) \($1.name)=\($1.value)" }
            }
        }
    }

    @Test("Each bad state has a message that takes it back")
    func recoveries() {
        for (message, line) in StateLine.lines where !line.isWell {
            let related = StateLine.lines.values.filter { $0.subject == line.subject }
            #expect(related.contains { $0.isWell }, "\(message)")
        }
    }

    @Test("Each change of state within a minute is written, and repetitions are counted")
    func transitions() throws {
        var journal = Journal()
        for _ in 0..<2 {
            for message in ["suspended", "suspended", "resumed"] {
                try journal.tell(Self.record(message))
                journal.pass(.seconds(3))
            }
        }
        #expect(
            journal.texts == [
                "suspended", "resumed repeated=1", "suspended", "resumed repeated=1",
            ]
        )
    }

    @Test("The same state after a minute is written again, with the number of repetitions")
    func stillSo() throws {
        var journal = Journal()
        for _ in 0..<3 {
            try journal.tell(Self.record("connected"))
            journal.pass(.seconds(30))
        }
        #expect(journal.texts == ["connected", "connected repeated=1"])
    }

    @Test("A flapping subject gets one line a minute, with its state and the number of changes")
    func flapping() throws {
        var journal = Journal()
        // 60 changes a minute, for three minutes; the last one says that all is well.
        for second in 0..<180 {
            let message = second.isMultiple(of: 2) ? "not connected" : "connected"
            try journal.tell(Self.record(message, ["user": "a"], level: .warning))
            journal.pass(.seconds(1))
        }
        journal.pass(.seconds(600))
        #expect(journal.lines.count == StateLedger.linesPerWindow + 3, "\(journal.texts)")
        #expect(
            journal.texts.suffix(3) == [
                "connected user=a changes=52", "connected user=a changes=60",
                "connected user=a changes=60",
            ]
        )
    }

    @Test("Once it is quiet for a minute, changes are written at once again")
    func calm() throws {
        var journal = Journal()
        for number in 0..<20 {
            try journal.tell(Self.record(number.isMultiple(of: 2) ? "suspended" : "resumed"))
        }
        journal.pass(.seconds(121))
        let count = journal.lines.count
        try journal.tell(Self.record("suspended"))
        #expect(journal.lines.count == count + 1)
    }

    @Test("Below the level of its category, a state is written only if it takes back a written one")
    func recoveriesBelowTheLevel() throws {
        var journal = Journal()
        try journal.tell(Self.record("connected", isBelowLevel: true))
        #expect(journal.ledger.owedRecoveries == 0)
        try journal.tell(Self.record("not connected", level: .warning))
        #expect(journal.ledger.owedRecoveries == 1)
        try journal.tell(Self.record("connected", level: .info, isBelowLevel: true))
        try journal.tell(Self.record("disconnected", level: .info, isBelowLevel: true))
        #expect(journal.texts == ["not connected", "connected"])
        #expect(journal.lines.last?.record.level == .notice)
        #expect(journal.ledger.owedRecoveries == 0)
    }

    @Test("Realms and users are subjects of their own")
    func subjects() throws {
        var journal = Journal()
        for realm in ["a", "b"] {
            for message in ["suspended", "resumed"] {
                try journal.tell(Self.record(message, ["realm": realm]))
            }
        }
        try journal.tell(Self.record("log-in changed", ["user": "a", "change": "logged-out"]))
        try journal.tell(Self.record("log-in changed", ["user": "a", "change": "logged-in"]))
        #expect(journal.lines.count == 6)
        let refreshed = Self.record("log-in changed", ["user": "a", "change": "token-refreshed"])
        #expect(StateLine(refreshed) == nil)
    }

    @Test("After a quiet minute the last line of each subject is its state")
    func truth() throws {
        let subjects = [
            ["connected", "not connected"], ["suspended", "resumed"],
            ["realm is not open", "realm is open"],
            ["session suspended", "session stopped by server error", "session accepted"],
        ]
        for seed in UInt64(0)..<2_000 {
            var random = SplitMix64(seed: seed)
            var journal = Journal()
            var states: [StateLine.Key: String] = [:]
            let longestPause = [10, 1_000, 20_000, 90_000].randomElement(using: &random) ?? 10
            for _ in 0..<Int.random(in: 1...120, using: &random) {
                let messages = try #require(subjects.randomElement(using: &random))
                let message = try #require(messages.randomElement(using: &random))
                let realm = Bool.random(using: &random) ? "a" : "b"
                let cause = Bool.random(using: &random) ? "x" : "y"
                let record = Self.record(message, ["realm": realm, "cause": cause])
                let line = try #require(StateLine(record))
                states[line.key(of: record)] = line.statement(of: record)
                try journal.tell(record)
                let pause = Int.random(in: 0...longestPause, using: &random)
                journal.pass(.milliseconds(pause))
            }
            journal.pass(.seconds(61))
            try check(journal, states, seed)
        }
    }

    private func check(
        _ journal: Journal,
        _ states: [StateLine.Key: String],
        _ seed: UInt64
    ) throws {
        var written: [StateLine.Key: [(at: Duration, record: LogRecord)]] = [:]
        for line in journal.lines {
            let key = try #require(StateLine(line.record)).key(of: line.record)
            written[key, default: []].append(line)
        }
        for (key, state) in states {
            let lines = try #require(written[key], "seed \(seed)")
            let last = try #require(lines.last).record
            let plain = Self.record(
                last.message,
                Dictionary(uniqueKeysWithValues: last.fields.map { ($0.name, $0.value) })
                    .filter { $0.key == "realm" || $0.key == "cause" }
            )
            let line = try #require(StateLine(plain))
            #expect(line.statement(of: plain) == state, "seed \(seed)")
            // Two windows meet in any minute, and the second begins with a line that waited.
            for first in lines {
                let count = lines.count { (first.at..<first.at + .seconds(60)).contains($0.at) }
                #expect(count <= 2 * StateLedger.linesPerWindow, "seed \(seed)")
            }
        }
    }
}
