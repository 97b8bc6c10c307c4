import Logging
import Synchronization

/// Removes repetitions from the log without hiding the current state.
///
/// Lines that report a state go by the `StateLedger`: the last one about a subject is true. An
/// event that repeats with the same fields within a minute is counted instead, and the next line
/// after that gives the count. Debug messages pass unchanged.
package final class RepetitionFilter: LogSink {
    private struct Entry {
        var writtenAt: Duration
        var leftOut = 0
    }

    private let sink: any LogSink
    /// Since some fixed point; never decreases.
    private let uptime: @Sendable () -> Duration
    private let entries = Mutex<[String: Entry]>([:])
    /// Held while its lines are written: their order makes the last one true.
    private let ledger = Mutex(StateLedger())
    private let owedRecoveries = Atomic(0)
    private let heldLines: AsyncStream<Void>
    private let lineIsHeld: AsyncStream<Void>.Continuation
    private static let window = StateLedger.window
    /// Different messages remembered; with more, the oldest are forgotten.
    private static let capacity = 256

    package init(_ sink: any LogSink, uptime: @escaping @Sendable () -> Duration) {
        self.sink = sink
        self.uptime = uptime
        (heldLines, lineIsHeld) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    package var owesRecovery: Bool { owedRecoveries.load(ordering: .relaxed) > 0 }

    package func write(_ record: LogRecord) {
        if let line = StateLine(record), record.level > .debug {
            writeStates { ledger, now in ledger.take(record, line, at: now) }
        } else if !record.isBelowLevel {
            writeEvent(record)
        }
    }

    /// Writes lines that wait for the end of a minute, until the task is cancelled; then the rest.
    package func run(sleep: @Sendable (Duration) async throws -> Void) async {
        for await _ in heldLines {
            while let due = ledger.withLock(\.nextDue) {
                guard (try? await sleep(max(.zero, due - uptime()))) != nil else { break }
                writeStates { ledger, now in ledger.due(at: now) }
            }
        }
        flush()
    }

    /// Writes the waiting lines: nothing comes after them.
    package func flush() {
        writeStates { ledger, _ in ledger.flush() }
    }

    private func writeStates(_ decide: (inout StateLedger, Duration) -> [LogRecord]) {
        let now = uptime()
        let isHeld = ledger.withLock { ledger in
            for line in decide(&ledger, now) { sink.write(line) }
            owedRecoveries.store(ledger.owedRecoveries, ordering: .relaxed)
            return ledger.nextDue != nil
        }
        if isHeld { lineIsHeld.yield() }
    }

    private func writeEvent(_ record: LogRecord) {
        guard record.level > .debug else { return sink.write(record) }
        let now = uptime()
        let key = Self.key(of: record)
        let leftOut = entries.withLock { entries -> Int? in
            if let entry = entries[key], now - entry.writtenAt < Self.window {
                entries[key]?.leftOut += 1
                return nil
            }
            let leftOut = entries[key]?.leftOut ?? 0
            if entries.count >= Self.capacity {
                entries = entries.filter { now - $0.value.writtenAt < Self.window }
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
        // A new session number with each connection does not make it a new message.
        record.fields.filter { $0.name != "session" }
            .reduce("\(record.level) \(record.category) \(record.message)") {
                "\($0)\u{0}\($1.name)\u{0}\($1.value)"
            }
    }
}
