import PostgreSQLServerStore
import TestSupport
import Testing

@Suite("Bodies of one file that share transactions")
struct FileQueueTests {
    private func queue(
        _ sizes: [Int],
        limits: BatchLimits = .init()
    ) -> FileQueue<Int> {
        var queue = FileQueue<Int>(limits: limits)
        for (number, size) in sizes.enumerated() { queue.append(number, sizeInBytes: size) }
        return queue
    }

    @Test("Waiting bodies share a transaction, in order, one transaction at a time")
    func sharing() {
        var queue = queue([1, 1, 1])
        #expect(queue.next() == [0, 1, 2])
        #expect(queue.isRunning)
        queue.append(3, sizeInBytes: 1)
        #expect(queue.next() == nil)
        #expect(queue.count == 4)
        #expect(queue.finish(.finished) == true)
        #expect(queue.next() == [3])
        #expect(queue.finish(.finished) == false)
        #expect(queue.next() == nil)
        #expect(queue.count == 0)
    }

    @Test("64 bodies at most")
    func bodies() {
        var queue = queue([Int](repeating: 0, count: 150))
        var counts: [Int] = []
        while let batch = queue.next() {
            counts.append(batch.count)
            _ = queue.finish(.finished)
        }
        #expect(counts == [64, 64, 22])
    }

    @Test("4 MiB of changesets at most; a larger body has a transaction to itself")
    func sizes() {
        let mebi = 1 << 20
        var queue = queue([3 * mebi, mebi, 1, 9 * mebi, 0, .max, .max, -5])
        var batches: [[Int]] = []
        while let batch = queue.next() {
            batches.append(batch)
            _ = queue.finish(.finished)
        }
        #expect(batches == [[0, 1], [2], [3], [4], [5], [6], [7]])
    }

    @Test("A failed flush runs each body again alone, before those that came later")
    func failedFlush() {
        var queue = queue([1, 1, 1], limits: .init(bodies: 3))
        queue.append(3, sizeInBytes: 1)
        #expect(queue.next() == [0, 1, 2])
        #expect(queue.finish(.flushFailed) == true)
        for number in 0..<3 {
            #expect(queue.next() == [number])
            #expect(queue.finish(.finished) == true)
        }
        #expect(queue.next() == [3])
    }

    @Test("A body that needs a transaction of its own gets one; the others keep theirs")
    func ownTransaction() {
        var queue = queue([1, 1, 1, 1])
        #expect(queue.next() == [0, 1, 2, 3])
        #expect(queue.finish(.needsOwnTransaction(at: 1)) == true)
        #expect(queue.next() == [1])
        #expect(queue.finish(.finished) == true)
        #expect(queue.next() == [2, 3])
        #expect(queue.finish(.finished) == false)
        queue.append(4, sizeInBytes: 1)
        queue.append(5, sizeInBytes: 1, isAlone: true)
        queue.append(6, sizeInBytes: 1)
        for number in 4...6 {
            #expect(queue.next() == [number])
            _ = queue.finish(.finished)
        }
    }

    @Test("After a lost connection the same bodies share a transaction again")
    func again() {
        var queue = queue([1, 1])
        #expect(queue.next() == [0, 1])
        queue.append(2, sizeInBytes: 1)
        #expect(queue.finish(.runAgain) == true)
        #expect(queue.next() == [0, 1, 2])
    }

    @Test("When the server ends, those that wait are handed back, and the one that runs ends")
    func end() {
        var queue = queue([1, 1, 1], limits: .init(bodies: 2))
        #expect(queue.next() == [0, 1])
        #expect(queue.removeAll() == [2])
        #expect(queue.count == 2)
        #expect(queue.finish(.finished) == false)
    }

    @Test("With any outcomes each body gets one result, in the order of arrival")
    func order() {
        for seed in UInt64(0)..<500 {
            var random = SplitMix64(seed: seed)
            var queue = FileQueue<Int>(limits: .init(bodies: 5, sizeInBytes: 100))
            var results: [Int] = []
            var alone: Set<Int> = []
            var arrived = 0
            for _ in 0..<400 {
                if arrived < 60, Bool.random(using: &random) {
                    queue.append(arrived, sizeInBytes: Int.random(in: 0...60, using: &random))
                    arrived += 1
                }
                guard let batch = queue.next() else { continue }
                #expect(batch.count <= 5)
                if batch.count > 1 { #expect(alone.isDisjoint(with: batch)) }
                switch Int.random(in: 0..<5, using: &random) {
                case 0:
                    _ = queue.finish(.runAgain)
                case 1 where batch.count > 1:
                    alone.formUnion(batch)
                    _ = queue.finish(.flushFailed)
                case 2 where batch.count > 1:
                    let position = Int.random(in: 0..<batch.count, using: &random)
                    alone.insert(batch[position])
                    results += batch[..<position]
                    _ = queue.finish(.needsOwnTransaction(at: position))
                default:
                    results += batch
                    _ = queue.finish(.finished)
                }
            }
            while let batch = queue.next() {
                results += batch
                _ = queue.finish(.finished)
            }
            #expect(results == Array(0..<arrived), "seed \(seed)")
        }
    }
}
