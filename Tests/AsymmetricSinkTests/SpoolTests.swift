import Changesets
import Dispatch
import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import AsymmetricSink

@Suite("Spool of asymmetric objects")
struct SpoolTests {
    private let temporary: TemporaryDirectory
    private let path: String

    init() throws {
        temporary = try TemporaryDirectory()
        path = temporary.file("spool")
    }

    private func line(_ number: Int) -> [UInt8] { Array("{\"n\":\(number)}".utf8) }

    private func text(_ batch: Spool.Batch?) -> String? {
        batch.map { String(decoding: $0.lines, as: UTF8.self) }
    }

    private func files() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: path).filter { $0 != "lock" }.sorted()
    }

    @Test("Lines come in order, and again until their batch is removed")
    func order() throws {
        let spool = try Spool(path)
        #expect(try spool.nextBatch() == nil)
        try spool.append([line(1), line(2)])
        try spool.append([])
        try spool.append([line(3)])
        let first = try #require(try spool.nextBatch())
        #expect(text(first) == "{\"n\":1}\n{\"n\":2}\n{\"n\":3}\n")
        #expect((first.count, first.tornBytes) == (3, 0))
        try spool.append([line(4)])
        #expect(text(try spool.nextBatch()) == text(first))
        try spool.remove(first)
        let second = try #require(try spool.nextBatch())
        #expect(text(second) == "{\"n\":4}\n")
        try spool.remove(second)
        #expect(try spool.nextBatch() == nil)
        #expect(spool.size == 0)
        #expect(try files() == [])
    }

    @Test("A segment of the batch size is a batch of its own")
    func batches() throws {
        let spool = try Spool(path, limits: Spool.Limits(batchSizeInBytes: 60))
        for number in 10..<16 { try spool.append([line(number)]) }
        var batches: [Int] = []
        while let batch = try spool.nextBatch() {
            batches.append(batch.count)
            try spool.remove(batch)
        }
        #expect(batches == [3, 3])
    }

    @Test("What was not removed is there after a restart, before what is new")
    func restart() throws {
        do {
            let spool = try Spool(path)
            try spool.append([line(1)])
            _ = try spool.nextBatch()
            try spool.append([line(2)])
        }
        let spool = try Spool(path)
        #expect(spool.size == 2 * (line(1).count + 18))
        try spool.append([line(3)])
        var lines = ""
        while let batch = try spool.nextBatch() {
            lines += text(batch) ?? ""
            try spool.remove(batch)
        }
        #expect(lines == "{\"n\":1}\n{\"n\":2}\n{\"n\":3}\n")
    }

    @Test(
        "A full spool refuses lines until a batch is removed; too large ones fit when it is empty"
    )
    func full() throws {
        let spool = try Spool(path, limits: Spool.Limits(sizeInBytes: 60))
        try spool.append([line(1), line(2)])
        let error = try #require(throws: SpoolError.self) { try spool.append([line(3)]) }
        #expect(error.kind == .full)
        #expect(error.code == "server.spool_full")
        #expect(error.description.contains("50 bytes"))
        let batch = try #require(try spool.nextBatch())
        #expect(batch.count == 2)
        try spool.remove(batch)
        try spool.append((0..<9).map(line))
        #expect(try spool.nextBatch()?.count == 9)
    }

    @Test("A second process, or a second spool, is kept out")
    func lock() throws {
        let spool = try Spool(path)
        let error = try #require(throws: SpoolError.self) { _ = try Spool(path) }
        #expect(error.kind == .locked)
        try spool.append([line(1)])
    }

    @Test("A directory that cannot be used is reported with its path")
    func unusable() throws {
        let missing = temporary.file("a/b")
        let error = try #require(throws: SpoolError.self) { _ = try Spool(missing) }
        #expect(error.kind == .inputOutput)
        #expect(error.description == "cannot create \(missing): no such file or directory")
    }

    // MARK: Torn and damaged lines

    @Test("Of a torn end, cut or overwritten anywhere, whole lines are left")
    func torn() throws {
        let whole = SpoolLine.encode(line(1)) + SpoolLine.encode(line(2))
        let first = SpoolLine.encode(line(1)).count
        for length in 0..<whole.count {
            let cut = SpoolLine.decode(Array(whole[..<length]))
            #expect(cut.count == (length >= first ? 1 : 0), "\(length)")
            #expect(cut.tornBytes == length - cut.count * first, "\(length)")
            var changed = whole
            changed[length] ^= 1
            let damaged = SpoolLine.decode(changed)
            #expect(damaged.count == (length < first ? 0 : 1), "\(length)")
            var zeroed = whole
            for index in length..<whole.count { zeroed[index] = 0 }
            #expect(SpoolLine.decode(zeroed).count == (length >= first ? 1 : 0), "\(length)")
        }
        #expect(SpoolLine.decode(whole).count == 2)
    }

    @Test("A torn line is left out, and a segment without whole lines is removed")
    func tornSegments() throws {
        do {
            let spool = try Spool(path)
            try spool.append([line(1)])
        }
        let segment = try #require(try files().first)
        let url = URL(filePath: "\(path)/\(segment)")
        let bytes = try Data(contentsOf: url)
        try (bytes + Data("0123456789abcdef {\"n\"".utf8)).write(to: url)
        try Data("torn".utf8).write(to: URL(filePath: "\(path)/00000000000000000007.jsonl"))
        let spool = try Spool(path)
        let batch = try #require(try spool.nextBatch())
        #expect((batch.count, batch.tornBytes) == (1, 21))
        try spool.remove(batch)
        try spool.append([line(2)])
        #expect(try files().last == "00000000000000000008.jsonl")
        #expect(text(try spool.nextBatch()) == "{\"n\":2}\n")
        #expect(try files().count == 1)
    }

    // MARK: Crashes

    @Test("A process that is killed at any moment loses no acknowledged line")
    func killed() async throws {
        for run in 0..<6 {
            let path = temporary.file("killed-\(run)")
            let acknowledged = temporary.file("acknowledged-\(run)")
            await #expect(processExitsWith: .signal(SIGKILL)) {
                [path = path as String, acknowledged = acknowledged as String, run = run as Int] in
                try KilledProcess.run(path, acknowledged, seed: UInt64(run))
            }
            let spool = try Spool(path)
            var delivered: [Int] = []
            while let batch = try spool.nextBatch() {
                delivered += try KilledProcess.numbers(batch.lines)
                try spool.remove(batch)
            }
            let known = try KilledProcess.numbers(
                Array(Data(contentsOf: URL(filePath: acknowledged)))
            )
            let removed = known.filter { $0 < 0 }.map { -$0 }.max() ?? 0
            let appended = known.filter { $0 > 0 }.max() ?? 0
            // Lines are numbered from 1. Those behind the last known removal are all there, in order;
            // the next batch may have been removed, and lines appended, without being known.
            #expect(appended > 0, "run \(run)")
            #expect(delivered == delivered.sorted(), "run \(run)")
            #expect(Set(delivered).count == delivered.count, "run \(run)")
            let first = delivered.first ?? appended + 1
            #expect(delivered == Array(first..<first + delivered.count), "run \(run)")
            #expect((delivered.last ?? removed) >= appended || delivered.isEmpty, "run \(run)")
            #expect(first <= removed + 1 + KilledProcess.batch, "run \(run)")
        }
    }
}

/// A process that appends and removes, while a thread of it waits for a moment to kill it.
private enum KilledProcess {
    /// The most lines of one batch.
    static let batch = 40

    static func run(_ path: String, _ acknowledged: String, seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let limits = Spool.Limits(batchSizeInBytes: 700)
        let spool = try Spool(path, limits: limits)
        let log = open(acknowledged, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        func note(_ number: Int) {
            let text = Array("\(number)\n".utf8)
            _ = write(log, text, text.count)
        }
        let delay = Int.random(in: 20_000..<150_000, using: &random)
        var number = 0
        var removed = 0
        while true {
            let count = Int.random(in: 1...3, using: &random)
            try spool.append((1...count).map { Array("\(number + $0)".utf8) })
            number += count
            note(number)
            if number == count {
                // Only now, or a slow machine would end it before it has begun.
                DispatchQueue(label: "end").async {
                    usleep(UInt32(delay))
                    kill(getpid(), SIGKILL)
                }
            }
            guard Int.random(in: 0..<20, using: &random) == 0, let batch = try spool.nextBatch()
            else { continue }
            try spool.remove(batch)
            removed += batch.count
            note(-removed)
        }
    }

    static func numbers(_ lines: [UInt8]) throws -> [Int] {
        try String(decoding: lines, as: UTF8.self).split(separator: "\n").map {
            try #require(Int($0))
        }
    }
}
