import Changesets
import Coordination
import FoundationEssentials
import Logging
import Programs
import Synchronization
import TestSupport
import Testing

@testable import AsymmetricSink

@Suite("Delivery to the sink of asymmetric classes")
struct SinkDeliveryTests {
    private let temporary: TemporaryDirectory
    private let spool: Spool

    init() throws {
        temporary = try TemporaryDirectory()
        spool = try Spool(temporary.file("spool"), limits: Spool.Limits(batchSizeInBytes: 1))
    }

    /// The batches that a program was given.
    private final class Calls: Sendable {
        private let calls = Mutex<[String]>([])

        func add(_ lines: [UInt8]) -> Int {
            calls.withLock { calls in
                calls.append(String(decoding: lines, as: UTF8.self))
                return calls.count
            }
        }

        var all: [String] { calls.withLock { $0 } }
    }

    private let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    private func append(_ texts: String...) throws {
        for text in texts { try spool.append([Array(text.utf8)]) }
    }

    @Test("Lines that wait, and new ones, are delivered in order")
    func delivers() async throws {
        let calls = Calls()
        try append("1", "2")
        let delivery = SinkDelivery(spool, clock: SteppedClock(), logger: logger) { lines in
            _ = calls.add(lines)
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await delivery.run() }
            try await until { calls.all == ["1\n", "2\n"] }
            try append("3")
            try await until { calls.all == ["1\n", "2\n", "3\n"] && spool.size == 0 }
            group.cancelAll()
        }
    }

    @Test("A failed delivery is repeated with growing delays, and nothing overtakes it")
    func repeats() async throws {
        let calls = Calls()
        let clock = SteppedClock()
        try append("1", "2")
        let delivery = SinkDelivery(spool, clock: clock, logger: logger) {
            lines throws(ProgramFailure) in
            guard calls.add(lines) > 3 else { throw .exitStatus(1, errors: "not yet") }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await delivery.run() }
            for (attempt, delay) in [1, 2, 4].enumerated() {
                let rest = try await clock.sleeper(.zero ... .seconds(600))
                #expect(rest == .seconds(delay))
                #expect(calls.all.count == attempt + 1)
                clock.advance(by: rest)
            }
            try await until { spool.size == 0 }
            #expect(calls.all == ["1\n", "1\n", "1\n", "1\n", "2\n"])
            group.cancelAll()
        }
    }

    @Test("What does not fit waits for room, which a delivery makes")
    func room() async throws {
        let spool = try Spool(temporary.file("small"), limits: Spool.Limits(sizeInBytes: 20))
        let calls = Calls()
        let delivery = SinkDelivery(spool, clock: SteppedClock(), logger: logger) { lines in
            _ = calls.add(lines)
        }
        try spool.append([Array("1".utf8)])
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for number in 2...5 {
                    let line = Array("\(number)".utf8)
                    while true {
                        do throws(SpoolError) {
                            try spool.append([line])
                            break
                        } catch {
                            guard error.kind == .full else { throw error }
                            guard await spool.room.wait() else { return }
                        }
                    }
                }
            }
            group.addTask { await delivery.run() }
            try await until { calls.all == (1...5).map { "\($0)\n" } }
            group.cancelAll()
        }
    }

    @Test("A program reads the lines on its standard input; status 0 means that it has them")
    func program() async throws {
        let output = temporary.file("output")
        let flag = temporary.file("flag")
        let script = "cat >> \(output); test -e \(flag)"
        let program = Program(command: ["/bin/sh", "-c", script], timeout: .seconds(60))
        let clock = SteppedClock()
        let delivery = SinkDelivery(spool, to: program, clock: clock, logger: logger)
        let line = SinkLine.object(of: "Reading", by: "u\"1", Array("{\"a\":\n1}".utf8))
        try spool.append([line])
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await delivery.run() }
            try await clock.settle()
            try Data().write(to: URL(filePath: flag))
            clock.advance(by: .seconds(1))
            try await until { spool.size == 0 }
            group.cancelAll()
        }
        let text = "{\"class\":\"Reading\",\"user\":\"u\\\"1\",\"document\":{\"a\": 1}}\n"
        #expect(try String(contentsOfFile: output, encoding: .utf8) == text + text)
    }

    @Test("A delivery that is cancelled leaves its lines in the spool")
    func cancelled() async throws {
        let calls = Calls()
        try append("1")
        let delivery = SinkDelivery(spool, clock: SteppedClock(), logger: logger) {
            lines throws(ProgramFailure) in
            _ = calls.add(lines)
            try? await Task.sleep(for: .seconds(3600))
            throw .cancelled
        }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await delivery.run() }
            _ = await eventually { calls.all.count == 1 }
            group.cancelAll()
        }
        #expect(try spool.nextBatch()?.count == 1)
    }
}
